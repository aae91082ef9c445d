"""The journal: what happened to an agent, in order, in one SQLite file.

    events     number, time, kind, and what the kind needs of: decision, arm (JSON), reward, probability, detail (JSON)
    snapshots  number of the last event in it, state (JSON): the first, from which a whole replay starts, and the last
    history    number, time, rewards told so far, their sum, the most likely arms with their probabilities (JSON)
    settings   name, value (JSON)

Write-ahead log, synchronous FULL: a commit has reached the disk when it returns.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

APPLICATION = 0x6C6F6762
SYNCHRONOUS = "FULL"
SCHEMA = """
CREATE TABLE events (number INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, decision INTEGER, arm TEXT,
                     reward REAL, probability REAL, detail TEXT);
CREATE INDEX by_decision ON events (decision);
CREATE TABLE snapshots (number INTEGER PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE history (number INTEGER PRIMARY KEY, time REAL NOT NULL, told INTEGER, reward_sum REAL, policy TEXT);
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class Event(NamedTuple):
    """A row of `events`; None where the kind has no such thing."""

    number: int
    time: float
    kind: str
    decision: int | None = None
    arm: str | None = None
    reward: float | None = None
    probability: float | None = None
    detail: str | None = None


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
        self._connection = self._connect()

    @property
    def is_new(self) -> bool:
        """Whether no agent was ever written."""
        return self._connection.execute("SELECT 1 FROM snapshots LIMIT 1").fetchone() is None

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self.path, "rwc")
        try:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # for new files: what is dropped makes the file smaller
            if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                raise OSError(f"DurableAgent: {self.path} is in a place where SQLite cannot keep a write-ahead log")
            connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
            if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
                connection.executescript(f"BEGIN; PRAGMA application_id = {APPLICATION}; {SCHEMA} COMMIT;")
                _sync_folder(self.path.parent)
            check_application(connection, self.path)
        except sqlite3.Error as error:
            connection.close()
            raise OSError(f"DurableAgent: {self.path} cannot be opened: {error}") from None
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
        drop: Old | None = None,
    ) -> None:
        """All of it, or nothing; on disk when this returns. Raises sqlite3.Error.

        drop: needs a snapshot, which takes the place of the first one too: from now on a whole replay starts there.
        """
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", events)
            if snapshot is not None:
                first = "(SELECT min(number) FROM snapshots)" if drop is None else "-1"
                connection.execute(f"DELETE FROM snapshots WHERE number > {first}")
                connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?)", snapshot)
            if mark is not None:
                connection.execute("INSERT OR REPLACE INTO history VALUES (?, ?, ?, ?, ?)", mark)
            for name, value in (settings or {}).items():
                connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, json.dumps(value)))
            if drop is not None:
                connection.executemany("DELETE FROM events WHERE decision = ?", ((decision,) for decision in drop.decisions))
                connection.executemany("DELETE FROM events WHERE number = ?", ((number,) for number in drop.numbers))
                for _ in range(connection.execute("PRAGMA freelist_count").fetchone()[0]):
                    connection.execute("PRAGMA incremental_vacuum")  # frees one page each time it is stepped, as it is here
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def reopen(self) -> None:
        """After a failed commit: what the file now holds is for SQLite's own recovery to say."""
        self._connection.close()
        self._connection = self._connect()

    def settings(self) -> dict[str, Any]:
        """name -> value."""
        return {name: json.loads(value) for name, value in self._connection.execute("SELECT name, value FROM settings")}

    def snapshot(self, *, first: bool = False) -> tuple[int, str]:
        """The last one, or the first: the number of the last event in it, and the state."""
        order = "ASC" if first else "DESC"
        row = self._connection.execute(f"SELECT number, state FROM snapshots ORDER BY number {order} LIMIT 1").fetchone()
        return int(row[0]), str(row[1])

    def events(self, after: int) -> Iterator[Event]:
        """Those after event number `after`, in order."""
        rows = self._connection.execute("SELECT * FROM events WHERE number > ? ORDER BY number", (after,))
        return (Event(*row) for row in rows)

    def settled(self, decision: int) -> Event | None:
        """What became of a decision: its tell, forget or expire."""
        rows = self._connection.execute("SELECT * FROM events WHERE decision = ? AND kind <> 'ask'", (decision,))
        row = rows.fetchone()
        return None if row is None else Event(*row)

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

    def last_mark(self) -> Mark:
        """The last row of `history`; an agent has one from its creation."""
        return Mark(*self._connection.execute("SELECT * FROM history ORDER BY number DESC LIMIT 1").fetchone())

    def close(self) -> None:
        """Fold the write-ahead log into the file."""
        self._connection.close()


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """A connection that any thread may use, one at a time; mode as in SQLite's URIs: ro, rwc."""
    try:
        return sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise OSError(f"DurableAgent: {path} cannot be opened: {error}") from None


def check_application(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse the databases of other programs."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise OSError(f"DurableAgent: {path} is not an agent's file")


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
