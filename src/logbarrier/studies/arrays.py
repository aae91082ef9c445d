"""Long lists of numbers, such as the transitions of an MDP: written once per study and referred to by hash everywhere else.

A table holds `array 200x2 sha256:<64 hexadecimal digits>` in place of the list. The hash is that of the file
`arrays/<hash>.npy` in the study's folder. The content counts in a cell's id through it, and damage to the file is noticed.
Arrays that were made or read stay in the memory of the process: the same hash is the same content, whatever the study.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = "arrays"
LONGEST_LIST = 100  # numbers; longer lists become arrays
REFERENCE = re.compile(r"array ([0-9x]+) sha256:([0-9a-f]{64})")

_known: dict[str, np.ndarray] = {}  # by hash


def with_references(plain: Any, within: Container[str] | None = None) -> Any:
    """Plain JSON values with references for long lists of numbers; only for hashes in `within` where that is given."""
    if isinstance(plain, dict):
        return {key: with_references(value, within) for key, value in plain.items()}
    array = _long_array(plain) if isinstance(plain, list) else None
    if array is None:
        return plain
    digest = hashlib.sha256(_as_npy(array)).hexdigest()
    if within is not None and digest not in within:
        return plain
    _known[digest] = array
    return f"array {'x'.join(map(str, array.shape))} sha256:{digest}"


def with_values(plain: Any) -> Any:
    """The plain JSON values that `with_references` was given."""
    if isinstance(plain, dict):
        return {key: with_values(value) for key, value in plain.items()}
    digest = _digest_in(plain)
    if digest is None:
        return plain
    if digest not in _known:
        raise ValueError(f"array {digest[:12]}: must be in the folder {FOLDER} next to the study file, got no such file")
    return _known[digest].tolist()


def arrays_in(plain: Any) -> dict[str, np.ndarray]:
    """Every array that plain JSON values refer to, by hash."""
    return {digest: _known[digest] for digest in _digests_in(plain)}


def add_arrays(arrays: Mapping[str, np.ndarray]) -> None:
    """Make the arrays of another process, by hash, known to this one."""
    _known.update(arrays)


def shown(reference: str) -> str:
    """A word as tables show it: of a reference, its shape and the first digits of its hash.

    >>> shown(with_references([0.5] * 200)), shown("linear")
    ('200@4db8312c8213', 'linear')
    """
    found = REFERENCE.fullmatch(reference)
    return reference if found is None else f"{found[1]}@{found[2][:12]}"


def array_files(plain: Any) -> dict[str, bytes]:
    """Name and content of the file of every array that plain JSON values refer to."""
    return {f"{digest}.npy": _as_npy(array) for digest, array in arrays_in(plain).items()}


def read_arrays(folder: Path, plain: Any) -> None:
    """Read the arrays that plain JSON values refer to from the study's folder, and check them."""
    for digest in _digests_in(plain):
        path = folder / FOLDER / f"{digest}.npy"
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ValueError(f"{path}: cannot be read: {error.strerror}; restore it, or run the study again") from None
        if hashlib.sha256(content).hexdigest() != digest:
            raise ValueError(f"{path}: is damaged, its checksum must be its name; restore it, or run the study again")
        _known[digest] = np.load(io.BytesIO(content), allow_pickle=False)


def _long_array(values: list[Any]) -> np.ndarray | None:
    """The list as an array if it is long, rectangular and of numbers."""
    try:
        array = np.array(values)
    except ValueError:
        return None
    return array if array.size > LONGEST_LIST and array.dtype in (np.int64, np.float64) else None


def _as_npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array.astype(array.dtype.newbyteorder("<")), version=(1, 0), allow_pickle=False)
    return file.getvalue()


def _digest_in(plain: Any) -> str | None:
    found = REFERENCE.fullmatch(plain) if isinstance(plain, str) else None
    return None if found is None else found[2]


def _digests_in(plain: Any) -> set[str]:
    if isinstance(plain, dict):
        return set().union(*map(_digests_in, plain.values()))
    if isinstance(plain, list):
        return set().union(*map(_digests_in, plain))
    digest = _digest_in(plain)
    return set() if digest is None else {digest}
