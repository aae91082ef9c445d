"""The journal of an experiment: what happened to its agent, in order. Every row that is read is verified."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .arm_sets import arm_set_row
from .ask_detail import read_detail
from .checksums import damaged, event_checksum, row_checksum
from .database import UNCHECKED, Event, checked, checked_event, settings_of
from .sqlite_file import SqliteFile

ArmSet = tuple[int, list[str]]


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
    """The tables of one experiment in an open file; suffix: what follows their names."""

    def __init__(self, file: SqliteFile, suffix: str) -> None:
        self.file, self.path, self._suffix = file, file.path, suffix
        self._unchecked = self.settings().get(UNCHECKED, 0)

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever written."""
        filled = "SELECT 1 FROM snapshots{0} UNION ALL SELECT 1 FROM settings{0} UNION ALL SELECT 1 FROM events{0} LIMIT 1"
        return self.file.connection.execute(filled.format(self._suffix)).fetchone() is None

    def write(
        self,
        events: Sequence[Event],
        *,
        snapshot: tuple[int, str] | None = None,
        mark: Mark | None = None,
        settings: dict[str, Any] | None = None,
        arm_sets: Sequence[tuple[int, Sequence[Any]]] = (),
        subjects: Sequence[tuple[Any, ...]] = (),
        drop: Old | None = None,
    ) -> None:
        """Write in the present transaction of the file. Raises sqlite3.Error.

        drop: needs a snapshot, which takes the place of the first one too: from now on a whole replay starts there.
        """
        self.file.begin()
        connection, suffix = self.file.connection, self._suffix
        rows = [(*event, event_checksum(event)) for event in events]
        connection.executemany(f"INSERT INTO events{suffix} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        if snapshot is not None:
            first = f"(SELECT min(number) FROM snapshots{suffix})" if drop is None else "-1"
            connection.execute(f"DELETE FROM snapshots{suffix} WHERE number > {first}")
            row = (*snapshot, row_checksum(snapshot))
            connection.execute(f"INSERT OR REPLACE INTO snapshots{suffix} VALUES (?, ?, ?)", row)
        if mark is not None:
            marked = (*mark, row_checksum(tuple(mark)))
            connection.execute(f"INSERT OR REPLACE INTO history{suffix} VALUES (?, ?, ?, ?, ?, ?)", marked)
        for name, value in (settings or {}).items():
            setting = name, json.dumps(value)
            row_of_setting = (*setting, row_checksum(setting))
            connection.execute(f"INSERT OR REPLACE INTO settings{suffix} VALUES (?, ?, ?)", row_of_setting)
        for number, arms in arm_sets:
            connection.execute(f"INSERT INTO arm_sets{suffix} VALUES (?, ?, ?)", arm_set_row(number, arms))
        if subjects:
            assigned = [(*row, row_checksum(row)) for row in subjects]
            connection.executemany(f"INSERT OR REPLACE INTO subjects{suffix} VALUES (?, ?, ?, ?, ?, ?, ?)", assigned)
        if drop is not None:
            self._drop(drop)

    def _drop(self, old: Old) -> None:
        """Delete events, the arm sets that no event is left of, and the space they took."""
        connection, suffix = self.file.connection, self._suffix
        asked = f"SELECT detail FROM events{suffix} WHERE decision = ? AND kind = 'ask'"
        details = ((decision, connection.execute(asked, (decision,)).fetchone()) for decision in old.decisions)
        subjects = ((read_detail(row[0]).subject, decision) for decision, row in details if row is not None)
        connection.executemany(f"DELETE FROM subjects{suffix} WHERE subject = ? AND decision = ?", list(subjects))
        connection.executemany(f"DELETE FROM events{suffix} WHERE decision = ?", ((decision,) for decision in old.decisions))
        connection.executemany(f"DELETE FROM events{suffix} WHERE number = ?", ((number,) for number in old.numbers))
        oldest = f"SELECT coalesce(min(number), 1 << 62) FROM events{suffix}"
        present = f"SELECT max(number) FROM arm_sets{suffix} WHERE number <= ({oldest})"
        connection.execute(f"DELETE FROM arm_sets{suffix} WHERE number < ({present})")
        for _ in range(connection.execute("PRAGMA freelist_count").fetchone()[0]):
            connection.execute("PRAGMA incremental_vacuum")  # frees one page each time it is stepped, as it is here

    def settings(self) -> dict[str, Any]:
        """name -> value."""
        return settings_of(self.file.connection, self.path, self._suffix)

    def snapshot(self, *, first: bool = False) -> tuple[int, str]:
        """The last one, or the first: the number of the last event in it, and the state."""
        number, state = self._last("snapshots", "ASC" if first else "DESC")
        return int(number), str(state)

    def last_mark(self) -> Mark:
        """The last row of `history`; an agent has one from its creation."""
        return Mark(*self._last("history", "DESC"))

    def _last(self, table: str, order: str) -> tuple[Any, ...]:
        query = f"SELECT * FROM {table}{self._suffix} ORDER BY number {order} LIMIT 1"
        row = self.file.connection.execute(query).fetchone()
        if row is None:
            raise damaged(self.path, f"{table}{self._suffix} has no rows")
        return checked(self.path, f"{table}{self._suffix}", row)

    def events(self, after: int) -> Iterator[Event]:
        """Those after event number `after`, in order."""
        query = f"SELECT * FROM events{self._suffix} WHERE number > ? ORDER BY number"
        rows = self.file.connection.execute(query, (after,))
        return (checked_event(self.path, row, self._unchecked) for row in rows)

    def settled(self, decision: int) -> Event | None:
        """What became of a decision: its tell, forget or expire."""
        query = f"SELECT * FROM events{self._suffix} WHERE decision = ? AND kind <> 'ask'"
        row = self.file.connection.execute(query, (decision,)).fetchone()
        return None if row is None else checked_event(self.path, row, self._unchecked)

    def assignment(self, subject: str) -> tuple[Any, ...] | None:
        """The row of a subject, without the subject."""
        query = f"SELECT * FROM subjects{self._suffix} WHERE subject = ?"
        row = self.file.connection.execute(query, (subject,)).fetchone()
        return None if row is None else checked(self.path, f"subjects{self._suffix}", row)[1:]

    def changes_of_arms(self) -> Iterator[tuple[ArmSet, ArmSet]]:
        """Each arm set with the one before it: (number of the event, names as JSON)."""
        rows = self.file.connection.execute(f"SELECT * FROM arm_sets{self._suffix} ORDER BY number").fetchall()
        sets = [checked(self.path, f"arm_sets{self._suffix}", row) for row in rows]
        return itertools.pairwise((number, [json.dumps(arm) for arm in json.loads(arms)]) for number, arms in sets)

    def old(self, until: float, most: int) -> Old:
        """The first `most` decisions closed, and other events, at time `until` or before."""
        found = Old([], [])
        query = f"SELECT number, time, kind, decision FROM events{self._suffix} ORDER BY number"
        with contextlib.closing(self.file.connection.execute(query)) as rows:
            for number, time, kind, decision in rows:
                if time > until or len(found.decisions) + len(found.numbers) == most:
                    break
                if decision is None:
                    found.numbers.append(number)
                elif kind != "ask":
                    found.decisions.append(decision)
        return found
