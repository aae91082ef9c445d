"""Reading what can still be read of a damaged file."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

from .arm_sets import ArmSets
from .checksums import DamagedError
from .database import DEFAULT, UNCHECKED, Event, checked_event, is_early, reading, settings_of
from .log import log_row, open_file, suffix_of

MOST_UNREADABLE = 100_000  # event numbers in succession: more than a damaged page of SQLite's tree can hide


class Salvaged(NamedTuple):
    """rows: as of `read_log`; changed: how many events are not what was written; is_whole: whether all pages could be read."""

    rows: list[dict[str, Any]]
    changed: int
    is_whole: bool


def salvaged_log(path: str | Path, *, experiment: str = DEFAULT) -> Salvaged:
    """The decisions of an experiment that can still be read.

    `available` is None where the record of the arms is damaged.

    A decision without outcome may have had one, in a row that could not be read.
    """
    file = Path(path)
    with contextlib.closing(open_file(file)) as connection:
        with reading(file):
            early, suffix = is_early(connection), suffix_of(connection, file, experiment)
        events, changed, is_whole = _readable(connection, file, early, suffix)
        arm_sets = ArmSets(file, suffix)
        with contextlib.suppress(sqlite3.Error, ValueError):
            arm_sets.reconstruct(connection) if early else arm_sets.read(connection)
    decisions: dict[int, list[Event]] = {}
    for event in events:
        if event.decision is not None:
            decisions.setdefault(event.decision, []).append(event)
    rows = []
    for _, of_one in sorted(decisions.items()):
        with contextlib.suppress(DamagedError):  # its `ask` cannot be read
            rows.append(log_row(file, of_one, arm_sets))
    return Salvaged(rows, changed, is_whole)


def _readable(connection: sqlite3.Connection, path: Path, early: bool, suffix: str) -> tuple[list[Event], int, bool]:
    """The events that are what was written, how many are not, and whether SQLite could read all pages."""
    unchecked = 1 << 62 if early else 0
    with contextlib.suppress(sqlite3.Error, ValueError):
        unchecked = unchecked or settings_of(connection, path, suffix).get(UNCHECKED, 0)
    query = f"SELECT {'*, NULL' if early else '*'} FROM events{suffix} WHERE number > ? ORDER BY number"
    events: list[Event] = []
    changed: set[int] = set()
    last, unreadable, is_whole = 0, 0, True
    while unreadable < MOST_UNREADABLE:
        try:
            for row in connection.execute(query, (last + unreadable,)):
                try:
                    event = checked_event(path, row, unchecked)
                except DamagedError:
                    changed.add(row[0])
                    continue
                events.append(event)
                last, unreadable = event.number, 0
            break
        except sqlite3.Error:
            unreadable, is_whole = unreadable + 1, False
    return events, len(changed), is_whole
