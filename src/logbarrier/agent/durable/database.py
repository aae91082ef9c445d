"""The SQLite file of decisions: its tables, and how its rows are verified.

    experiments  id, name; experiment 3 has the tables events_3, snapshots_3, ...; the default experiment has no suffix
and for each experiment
    events       number, time, kind, and what the kind needs of: decision, arm (JSON), reward, probability, detail (JSON)
    snapshots    number of the last event in it, state (JSON): the first, from which a whole replay starts, and the last
    history      number, time, rewards so far, their sum, the most likely arms with their probabilities (JSON)
    settings     name, value (JSON)
    arm_sets     number of the event since which the agent has had these arms (JSON)
    subjects     subject, its latest decision, and of that the event's number, time, arm (JSON) and probability

The last column of each is the row's checksum. Files of the first version have neither checksums nor arm_sets.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .arm_sets import arm_set_row, reconstructed
from .checksums import damaged, event_checksum, row_checksum

APPLICATION = 0x6C6F6762
DEFAULT = "default"  # the name of the experiment whose tables have no suffix
ARM_SETS = "CREATE TABLE arm_sets{0} (number INTEGER PRIMARY KEY, arms TEXT NOT NULL, checksum INTEGER)"
SUBJECTS = """CREATE TABLE IF NOT EXISTS subjects{0} (subject TEXT PRIMARY KEY, decision INTEGER NOT NULL,
                     number INTEGER NOT NULL, time REAL NOT NULL, arm TEXT NOT NULL, probability REAL NOT NULL,
                     checksum INTEGER)"""
SCHEMA = f"""
CREATE TABLE events{{0}} (number INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, decision INTEGER, arm TEXT,
                     reward REAL, probability REAL, detail TEXT, checksum INTEGER);
CREATE INDEX by_decision{{0}} ON events{{0}} (decision);
CREATE TABLE snapshots{{0}} (number INTEGER PRIMARY KEY, state TEXT NOT NULL, checksum INTEGER);
CREATE TABLE history{{0}} (number INTEGER PRIMARY KEY, time REAL NOT NULL, told INTEGER, reward_sum REAL, policy TEXT,
                      checksum INTEGER);
CREATE TABLE settings{{0}} (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER);
{ARM_SETS};
{SUBJECTS};
"""
EXPERIMENTS = "CREATE TABLE IF NOT EXISTS experiments (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, checksum INTEGER)"
UNCHECKED = "events without checksum"  # a setting: up to this event the file was written by the first version
CHECKED_TABLES = ("snapshots", "history", "settings", "arm_sets", "subjects")
DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT)  # the rest: the disk, rights, a file of another program


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


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """A connection that any thread may use, one at a time; mode as in SQLite's URIs: ro, rwc."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise OSError(f"DurableAgent: {path} cannot be opened: {error}") from None
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")  # the checksum notices
    return connection


def check_application(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse the databases of other programs."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise OSError(f"DurableAgent: {path} is not an agent's file")


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into one sentence: DamagedError, or OSError where the file may be whole."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in DAMAGE:
            raise damaged(path, f"SQLite reports '{error}'") from None
        raise OSError(f"DurableAgent: {path} cannot be opened: {error}") from None
    except json.JSONDecodeError as error:  # in a file of the first version, without checksums
        raise damaged(path, f"a row is not JSON ({error})") from None


def has_table(connection: sqlite3.Connection, table: str) -> bool:
    """Whether the file has a table of this name."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is not None


def is_early(connection: sqlite3.Connection) -> bool:
    """Whether the first version made the file."""
    return not has_table(connection, "arm_sets")


def suffixes(connection: sqlite3.Connection, path: Path) -> dict[str, str]:
    """The suffix of the tables of each experiment, by name; the default one, whether it has been created or not, is first."""
    found = {DEFAULT: ""}
    if has_table(connection, "experiments"):
        rows = connection.execute("SELECT * FROM experiments ORDER BY id")
        found |= {name: f"_{number}" for number, name in (checked(path, "experiments", row) for row in rows)}
    return found


def upgrade(connection: sqlite3.Connection, path: Path) -> None:
    """Add to a file of the first version what it lacks; its events stay as they are, without checksums."""
    connection.execute("BEGIN IMMEDIATE")
    for table in ("events", "snapshots", "history", "settings"):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER")
    connection.execute(ARM_SETS.format(""))
    if connection.execute("SELECT 1 FROM snapshots").fetchone() is not None:
        rows = [arm_set_row(*each) for each in reconstructed(connection, path)]
        connection.executemany("INSERT INTO arm_sets VALUES (?, ?, ?)", rows)
    last = connection.execute("SELECT coalesce(max(number), 0) FROM events").fetchone()[0]
    connection.execute("INSERT INTO settings VALUES (?, ?, NULL)", (UNCHECKED, json.dumps(last)))
    for table in ("snapshots", "history", "settings"):
        for row in connection.execute(f"SELECT rowid, * FROM {table}").fetchall():
            connection.execute(f"UPDATE {table} SET checksum = ? WHERE rowid = ?", (row_checksum(row[1:-1]), row[0]))
    connection.execute("COMMIT")


def checked(path: Path, table: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row of any table but `events`, without its checksum; DamagedError where that is wrong."""
    if row_checksum(row[:-1]) != row[-1]:
        raise damaged(path, f"row {row[0]!r} of {table} is not what was written")
    return row[:-1]


def checked_event(path: Path, row: tuple[Any, ...], unchecked: int) -> Event:
    """A row of `events`, without its checksum; DamagedError where that is wrong. Up to number `unchecked` there is none."""
    values, checksum = row[:8], row[8]
    if event_checksum(values) != checksum and not (checksum is None and row[0] <= unchecked):
        raise damaged(path, f"row {row[0]} of events is not what was written")
    return Event(*values)


def settings_of(connection: sqlite3.Connection, path: Path, suffix: str = "") -> dict[str, Any]:
    """name -> value."""
    rows = (checked(path, f"settings{suffix}", row) for row in connection.execute(f"SELECT * FROM settings{suffix}"))
    return {name: json.loads(value) for name, value in rows}


def check_structure(connection: sqlite3.Connection, path: Path) -> None:
    """Raise DamagedError where tables and index do not fit together, as after a row was lost."""
    found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        raise damaged(path, f"SQLite reports '{' '.join(found.split())}'")


def check_rows(connection: sqlite3.Connection, path: Path) -> None:
    """Raise DamagedError at the first row of any table that is not what was written."""
    for suffix in suffixes(connection, path).values():
        unchecked = settings_of(connection, path, suffix).get(UNCHECKED, 0)
        for table in CHECKED_TABLES:
            if table == "subjects" and not has_table(connection, f"{table}{suffix}"):
                continue  # a file of an earlier version
            for row in connection.execute(f"SELECT * FROM {table}{suffix}"):
                checked(path, f"{table}{suffix}", row)
        for row in connection.execute(f"SELECT * FROM events{suffix} ORDER BY number"):
            checked_event(path, row, unchecked)
