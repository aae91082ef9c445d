"""A cell as bytes: an .npz that NumPy reads, with a SHA-256 of itself as the archive's comment.

The bytes are a pure function of the cell: no clock, host or thread count goes in. Any bit that changes and any byte
that is missing shows in the checksum.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import numpy as np

from ..record import Record
from .arrays import arrays_in, with_references, with_values
from .cell import Cell

FORMAT = 1
CHECKSUM_SIZE = 64  # hexadecimal digits of SHA-256


class DamagedCellError(ValueError):
    """The bytes are not what was written."""


def pack(cell: Cell, record: Record) -> bytes:
    """The bytes of a finished cell."""
    buffer = io.BytesIO()
    stored_once = arrays_in([cell.case.problem, cell.case.rule])
    settings = with_references(record.settings, stored_once) if stored_once else record.settings
    header = {"format": FORMAT, "identity": cell.identity, "settings": settings}
    arrays: dict[str, Any] = {"header": np.array(json.dumps(header, sort_keys=True)), "steps": record.steps, **record.values}
    np.savez(buffer, **arrays)
    content = buffer.getvalue()
    body = content[:-2] + CHECKSUM_SIZE.to_bytes(2, "little")  # a zip ends with the length of its comment
    return body + hashlib.sha256(body).hexdigest().encode()


def unpack(cell: Cell, content: bytes) -> Record:
    """The record in the bytes of `cell`, or DamagedCellError."""
    body, checksum = content[:-CHECKSUM_SIZE], content[-CHECKSUM_SIZE:]
    if hashlib.sha256(body).hexdigest().encode() != checksum:
        raise DamagedCellError(f"cell {cell.id}: its checksum does not match its content")
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(str(arrays.pop("header")))
    if header["format"] != FORMAT or header["identity"] != cell.identity:
        raise DamagedCellError(f"cell {cell.id}: the file holds another cell or another format")
    return Record(arrays.pop("steps"), arrays, with_values(header["settings"]), {})
