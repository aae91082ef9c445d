"""Checksums: of every row of a journal, and of the whole file as it was last closed.

A row's checksum is verified whenever the row is read. The checksum of the file lets the next opening skip reading every row:
while it holds, no bit has changed. It is in the four bytes that SQLite leaves to applications (`user_version`), which it does
not cover itself.
"""

from __future__ import annotations

import math
import os
import struct
import zlib
from pathlib import Path
from typing import Any

SEAL_AT, SEAL_SIZE = 60, 4  # where SQLite's header has user_version
CHUNK = 2**20

_pack_numbers = struct.Struct("<qdqdd").pack


class DamagedError(ValueError):
    """A file of an agent is not what was written."""


def damaged(path: Path, what: str) -> DamagedError:
    """The sentence for it: what is wrong, and what can still be done."""
    return DamagedError(
        f"DurableAgent: {path} is damaged: {what}; restore a backup, or write out the decisions that can still be read "
        f"with 'logbarrier log {path} --salvage'"
    )


def event_checksum(event: tuple[Any, ...]) -> int:
    """Of a row of `events`, without its last column; -1, which no checksum is, where the values have the wrong types."""
    number, time, kind, decision, arm, reward, probability, detail = event
    try:
        numbers = _pack_numbers(
            number,
            time,
            -1 if decision is None else decision,
            math.nan if reward is None else reward,
            math.nan if probability is None else probability,
        )
    except (struct.error, TypeError):
        return -1
    return zlib.crc32(f"{kind}|{arm}|{detail}".encode(errors="replace"), zlib.crc32(numbers))


def row_checksum(row: tuple[Any, ...]) -> int:
    """Of a row of another table, without its last column."""
    return zlib.crc32(repr(row).encode(errors="replace"))


def seal(path: Path) -> None:
    """Write the checksum of a closed file into it; an interrupted write does no harm."""
    file = os.open(path, os.O_RDWR)
    try:
        os.pwrite(file, _file_checksum(file).to_bytes(SEAL_SIZE), SEAL_AT)
    finally:
        os.close(file)


def is_as_sealed(path: Path) -> bool | None:
    """Whether no bit of a closed file has changed since it was sealed; None where it never was."""
    if not path.is_file():
        return None
    file = os.open(path, os.O_RDONLY)
    try:
        sealed = os.pread(file, SEAL_SIZE, SEAL_AT)
        return sealed == _file_checksum(file).to_bytes(SEAL_SIZE) if any(sealed) else None
    finally:
        os.close(file)


def _file_checksum(file: int) -> int:
    head = bytearray(os.pread(file, CHUNK, 0))
    head[SEAL_AT : SEAL_AT + SEAL_SIZE] = bytes(SEAL_SIZE)
    checksum, at = zlib.crc32(head), len(head)
    while chunk := os.pread(file, CHUNK, at):
        checksum, at = zlib.crc32(chunk, checksum), at + len(chunk)
    return checksum
