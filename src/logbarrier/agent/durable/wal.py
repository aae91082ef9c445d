"""SQLite's write-ahead log after a crash: was more written than SQLite will read?

SQLite reads the log up to the first frame whose checksum is wrong and ignores the rest in silence, since a crash may leave such
a tail. But every commit is on disk before the next one begins. So a crash can only spoil the last commit: a wrong frame before
a whole later one means damage. Format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
"""

from __future__ import annotations

import struct
from pathlib import Path

from .checksums import damaged

MAGIC = 0x377F0682  # the last bit: whether the words of checksums are big-endian
HEADER, FRAME_HEADER = 32, 24


def wal_of(path: Path) -> Path:
    """The write-ahead log of a database."""
    return path.with_name(path.name + "-wal")


def is_wal_empty(path: Path) -> bool:
    """Whether all of a database is in its main file."""
    wal = wal_of(path)
    return not wal.exists() or wal.stat().st_size == 0


def check_wal(path: Path) -> None:
    """Raise DamagedError where SQLite would drop commits of the write-ahead log that no crash can have spoilt."""
    try:
        log = memoryview(wal_of(path).read_bytes())
    except OSError:
        return
    if len(log) < HEADER or not any(log[:HEADER]):
        return
    magic, _, page_size, _, *salt, first, second = struct.unpack(">8I", log[:HEADER])
    order = ">" if magic & 1 else "<"
    state = _checksum(order, log[: HEADER - 8], (0, 0))
    if magic & ~1 != MAGIC or state != (first, second):
        raise damaged(path, f"the header of {wal_of(path).name} is not what was written")
    wrong_at, is_commit_later = 0, False
    for number, at in enumerate(range(HEADER, len(log) - FRAME_HEADER - page_size + 1, FRAME_HEADER + page_size), 1):
        frame = log[at : at + FRAME_HEADER + page_size]
        _, commit, salt_1, salt_2, first, second = struct.unpack(">6I", frame[:FRAME_HEADER])
        is_current = [salt_1, salt_2] == salt  # else it is left over from before the log was last reset
        if is_commit_later and is_current:
            raise damaged(path, f"frame {wrong_at} of {wal_of(path).name} is not what was written, and whole commits follow it")
        if not wrong_at:
            state = _checksum(order, frame[FRAME_HEADER:], _checksum(order, frame[:8], state))
            wrong_at = 0 if is_current and state == (first, second) else number
        is_commit_later |= bool(wrong_at and is_current and commit)


def _checksum(order: str, content: memoryview, state: tuple[int, int]) -> tuple[int, int]:
    """SQLite's running checksum over pairs of 32-bit words."""
    one, two = state
    for x, y in struct.iter_unpack(f"{order}II", content):
        one = (one + x + two) & 0xFFFFFFFF
        two = (two + y + one) & 0xFFFFFFFF
    return one, two
