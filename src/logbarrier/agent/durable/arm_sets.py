"""The arms at each decision: one arm set per change of the arms, named by the number of the event that changed them."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from pathlib import Path
from typing import Any

from .checksums import damaged, row_checksum


class ArmSets:
    """The arm sets of an experiment, read as they are needed; suffix: that of its tables."""

    def __init__(self, path: Path, suffix: str = "") -> None:
        self._path, self._table = path, f"arm_sets{suffix}"
        self._since: list[int] = []  # event numbers, ascending
        self._arms: list[list[Any]] = []
        self._reconstructed_to = -1

    def read(self, connection: sqlite3.Connection) -> None:
        """Add those that were written since the last call."""
        last = self._since[-1] if self._since else -1
        query = f"SELECT * FROM {self._table} WHERE number > ? ORDER BY number"
        for number, arms, checksum in connection.execute(query, (last,)):
            if row_checksum((number, arms)) != checksum:
                raise damaged(self._path, f"row {number} of {self._table} is not what was written")
            self._add(number, json.loads(arms))

    def reconstruct(self, connection: sqlite3.Connection) -> None:
        """The same for a file of an earlier version: from its events, as far back as none has been dropped."""
        last = connection.execute("SELECT coalesce(max(number), 0) FROM events").fetchone()[0]
        if last == self._reconstructed_to:
            return
        self._since, self._arms, self._reconstructed_to = [], [], last
        for number, arms in reconstructed(connection, self._path):
            self._add(number, arms)

    def _add(self, number: int, arms: list[Any]) -> None:
        self._since.append(number)
        self._arms.append(arms)

    def at(self, number: int) -> tuple[int | None, list[Any] | None]:
        """The arm set in force at an event: its number and the names; None where they are not known any more."""
        place = bisect_right(self._since, number) - 1
        return (None, None) if place < 0 else (self._since[place], self._arms[place])


def arm_set_row(number: int, arms: Any) -> tuple[int, str, int]:
    """A row of `arm_sets`: these arms since this event."""
    text = json.dumps(list(arms))
    return number, text, row_checksum((number, text))


def reconstructed(connection: sqlite3.Connection, path: Path) -> list[tuple[int, list[Any]]]:
    """The arm sets of a file that has no record of them."""
    first = "SELECT max(number) FROM events e WHERE NOT EXISTS (SELECT 1 FROM events WHERE number = e.number - 1)"
    at, text = connection.execute("SELECT number, state FROM snapshots ORDER BY number LIMIT 1").fetchone()
    start = connection.execute(first).fetchone()[0] or at + 1  # events before it may have been dropped
    changes = connection.execute(
        "SELECT number, kind, arm FROM events WHERE number >= ? AND kind IN ('add_arm', 'remove_arm') ORDER BY number", (start,)
    ).fetchall()
    try:
        arms = list(json.loads(text)["agent"]["arms"])
    except (ValueError, KeyError, TypeError):
        raise damaged(path, f"row {at} of snapshots is not the state of an agent") from None
    for number, kind, arm in reversed(changes):
        if number <= at:
            arms = _changed(arms, json.loads(arm), kind == "remove_arm")
    sets = [(start - 1, arms)]
    for number, kind, arm in changes:
        arms = _changed(arms, json.loads(arm), kind == "add_arm")
        sets.append((number, arms))
    return sets


def _changed(arms: list[Any], arm: Any, is_added: bool) -> list[Any]:
    return [*arms, arm] if is_added else [name for name in arms if name != arm]
