"""Whether what was built from cells (figures, summary, report) is still what the cells and this package would build."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

from ..base.files import read_table, whole_file
from ..studies.store import Store

PACKAGE = Path(__file__).resolve().parents[1]
NOTE = "products.json"


def made_from(stores: Iterable[Store]) -> str:
    """A hash of all that products depend on: which cells are done, this package's sources, and what draws."""
    digest = hashlib.sha256(version("matplotlib").encode())
    for source in sorted(PACKAGE.rglob("*.py")):
        digest.update(source.relative_to(PACKAGE).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    for store in stores:
        digest.update(f"{store.folder} {dict(store.study.labels)} {dict(store.study.figure)}".encode())
        for cell in store.study.cells():
            digest.update(f"{cell.id} {store.state(cell)} {store.provenance(cell)}".encode())
    return digest.hexdigest()


def is_current(store: Store, origin: str) -> bool:
    """Whether the products were made from the same hash and are all there."""
    try:
        note = read_table(store.folder / NOTE)
        return note["made_from"] == origin and all((store.folder / name).is_file() for name in note["files"])
    except (OSError, KeyError, TypeError):
        return False


def mark_current(store: Store, origin: str, files: Sequence[Path]) -> None:
    """Note what the products were made from."""
    note = {"made_from": origin, "files": [str(path.relative_to(store.folder)) for path in files]}
    with whole_file(store.folder / NOTE) as file:
        file.write(json.dumps(note, indent=1).encode())
