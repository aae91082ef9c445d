"""The journal: what happened to an agent, in order, in one SQLite file.

Write-ahead log, synchronous FULL: a commit has reached the disk when it returns. Every row that is read is verified.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .arm_sets import arm_set_row
from .checksums import damaged, event_checksum, is_as_sealed, row_checksum, seal
from .database import (
    APPLICATION,
    SCHEMA,
    UNCHECKED,
    Event,
    check_application,
    check_rows,
    check_structure,
    checked,
    checked_event,
    connect,
    is_early,
    reading,
    settings_of,
    upgrade,
)
from .wal import check_wal, is_wal_empty

SYNCHRONOUS = "FULL"
PAGES_IN_WAL = 500  # then they are folded into the file: what damage to the write-ahead log could lose stays short


class Mark(NamedTuple):
    """A row of `history`."""

    number: int
    time: float
    told: int
    reward_sum: float
    policy: str


class Old(NamedTuple):
    """Events to drop: those of these decisions, and others by their numbers."""

    decisions: list[int]
    numbers: list[int]


class Journal:
    """The file, open for writing. Not for several threads at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        check_wal(path)
        as_sealed = is_as_sealed(path) if is_wal_empty(path) else None
        with reading(path):
            self._connection = self._connect()
        try:
            with reading(path):
                if as_sealed is False:
                    check_rows(self._connection, path)  # names the row
                if not as_sealed:
                    check_structure(self._connection, path)
                if is_early(self._connection):
                    upgrade(self._connection, path)
                self._unchecked = self.settings().get(UNCHECKED, 0)
        except BaseException:
            self._connection.close()
            raise

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever written."""
        filled = "SELECT 1 FROM snapshots UNION ALL SELECT 1 FROM settings UNION ALL SELECT 1 FROM events LIMIT 1"
        return self._connection.execute(filled).fetchone() is None

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self.path, "rwc")
        try:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # for new files: what is dropped makes the file smaller
            if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                raise OSError(f"DurableAgent: {self.path} is in a place where SQLite cannot keep a write-ahead log")
            connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
            connection.execute(f"PRAGMA wal_autocheckpoint = {PAGES_IN_WAL}")
            if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
                connection.executescript(f"BEGIN; PRAGMA application_id = {APPLICATION}; {SCHEMA} COMMIT;")
                _sync_folder(self.path.parent)
            check_application(connection, self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    def commit(
        self,
        events: Sequence[Event],
        *,
        snapshot: tuple[int, str] | None = None,
        mark: Mark | None = None,
        settings: dict[str, Any] | None = None,
        arm_sets: Sequence[tuple[int, Sequence[Any]]] = (),
        drop: Old | None = None,
    ) -> None:
        """All of it, or nothing; on disk when this returns. Raises sqlite3.Error.

        drop: needs a snapshot, which takes the place of the first one too: from now on a whole replay starts there.
        """
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            rows = [(*event, event_checksum(event)) for event in events]
            connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            if snapshot is not None:
                first = "(SELECT min(number) FROM snapshots)" if drop is None else "-1"
                connection.execute(f"DELETE FROM snapshots WHERE number > {first}")
                connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (*snapshot, row_checksum(snapshot)))
            if mark is not None:
                row = (*mark, row_checksum(tuple(mark)))
                connection.execute("INSERT OR REPLACE INTO history VALUES (?, ?, ?, ?, ?, ?)", row)
            for name, value in (settings or {}).items():
                setting = name, json.dumps(value)
                connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?, ?)", (*setting, row_checksum(setting)))
            for number, arms in arm_sets:
                connection.execute("INSERT INTO arm_sets VALUES (?, ?, ?)", arm_set_row(number, arms))
            if drop is not None:
                self._drop(drop)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _drop(self, old: Old) -> None:
        """Delete events, the arm sets that no event is left of, and the space they took."""
        connection = self._connection
        connection.executemany("DELETE FROM events WHERE decision = ?", ((decision,) for decision in old.decisions))
        connection.executemany("DELETE FROM events WHERE number = ?", ((number,) for number in old.numbers))
        oldest = "SELECT coalesce(min(number), 1 << 62) FROM events"
        connection.execute(f"DELETE FROM arm_sets WHERE number < (SELECT max(number) FROM arm_sets WHERE number <= ({oldest}))")
        for _ in range(connection.execute("PRAGMA freelist_count").fetchone()[0]):
            connection.execute("PRAGMA incremental_vacuum")  # frees one page each time it is stepped, as it is here

    def reopen(self) -> None:
        """After a failed commit: what the file now holds is for SQLite's own recovery to say."""
        self._connection.close()
        self._connection = self._connect()

    def settings(self) -> dict[str, Any]:
        """name -> value."""
        return settings_of(self._connection, self.path)

    def snapshot(self, *, first: bool = False) -> tuple[int, str]:
        """The last one, or the first: the number of the last event in it, and the state."""
        number, state = self._last("snapshots", "ASC" if first else "DESC")
        return int(number), str(state)

    def last_mark(self) -> Mark:
        """The last row of `history`; an agent has one from its creation."""
        return Mark(*self._last("history", "DESC"))

    def _last(self, table: str, order: str) -> tuple[Any, ...]:
        row = self._connection.execute(f"SELECT * FROM {table} ORDER BY number {order} LIMIT 1").fetchone()
        if row is None:
            raise damaged(self.path, f"{table} has no rows")
        return checked(self.path, table, row)

    def events(self, after: int) -> Iterator[Event]:
        """Those after event number `after`, in order."""
        rows = self._connection.execute("SELECT * FROM events WHERE number > ? ORDER BY number", (after,))
        return (checked_event(self.path, row, self._unchecked) for row in rows)

    def settled(self, decision: int) -> Event | None:
        """What became of a decision: its tell, forget or expire."""
        rows = self._connection.execute("SELECT * FROM events WHERE decision = ? AND kind <> 'ask'", (decision,))
        row = rows.fetchone()
        return None if row is None else checked_event(self.path, row, self._unchecked)

    def old(self, until: float, most: int) -> Old:
        """The first `most` decisions closed, and other events, at time `until` or before."""
        found = Old([], [])
        with contextlib.closing(
            self._connection.execute("SELECT number, time, kind, decision FROM events ORDER BY number")
        ) as rows:
            for number, time, kind, decision in rows:
                if time > until or len(found.decisions) + len(found.numbers) == most:
                    break
                if decision is None:
                    found.numbers.append(number)
                elif kind != "ask":
                    found.decisions.append(decision)
        return found

    def close(self) -> None:
        """Fold the write-ahead log into the file, and seal it with its checksum."""
        self._connection.close()
        if is_wal_empty(self.path):
            with contextlib.suppress(OSError):  # without a seal the next opening checks more
                seal(self.path)


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
