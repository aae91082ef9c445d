"""The SQLite file of decisions, open for writing: its checks at the start, its transactions and its seal at the end.

Write-ahead log, synchronous FULL: a commit has reached the disk when it returns.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from .checksums import is_as_sealed, row_checksum, seal
from .database import (
    APPLICATION,
    EXPERIMENTS,
    SCHEMA,
    SUBJECTS,
    check_application,
    check_rows,
    check_structure,
    connect,
    is_early,
    reading,
    suffixes,
    upgrade,
)
from .wal import check_wal, is_wal_empty

SYNCHRONOUS = "FULL"
PAGES_IN_WAL = 1000  # then they are folded into the file, at the latest
BUSY_TIMEOUT = 5000  # milliseconds


class SqliteFile:
    """The file and its one connection. Not for several threads at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        check_wal(path)
        as_sealed = is_as_sealed(path) if is_wal_empty(path) else None
        with reading(path):
            self.connection = self._connect()
        try:
            with reading(path):
                if as_sealed is False:
                    check_rows(self.connection, path)  # names the row
                if not as_sealed:
                    check_structure(self.connection, path)
                if is_early(self.connection):
                    upgrade(self.connection, path)
                self.connection.execute(EXPERIMENTS)
                self.connection.execute(SUBJECTS.format(""))
        except BaseException:
            self.connection.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self.path, "rwc")
        try:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # for new files: what is dropped makes the file smaller
            if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                raise OSError(f"DurableAgent: {self.path} is in a place where SQLite cannot keep a write-ahead log")
            connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
            connection.execute(f"PRAGMA wal_autocheckpoint = {PAGES_IN_WAL}")
            if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
                connection.executescript(f"BEGIN; PRAGMA application_id = {APPLICATION}; {SCHEMA.format('')} COMMIT;")
                _sync_folder(self.path.parent)
            check_application(connection, self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    def suffixes(self) -> dict[str, str]:
        """The suffix of the tables of each experiment, by name."""
        return suffixes(self.connection, self.path)

    def add_experiment(self, name: str) -> str:
        """Create the tables of an experiment in the present transaction; return their suffix."""
        self.begin()
        number = self.connection.execute("SELECT coalesce(max(id), 0) + 1 FROM experiments").fetchone()[0]
        self.connection.execute("INSERT INTO experiments VALUES (?, ?, ?)", (number, name, row_checksum((number, name))))
        for statement in SCHEMA.format(f"_{number}").split(";"):
            self.connection.execute(statement)
        return f"_{number}"

    def begin(self) -> None:
        """Begin a transaction, unless one is under way."""
        if not self.connection.in_transaction:
            self.connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Commit the transaction under way, if any: what was written is on disk when this returns. Raises sqlite3.Error."""
        if self.connection.in_transaction:
            self.connection.execute("COMMIT")

    def fold(self) -> None:
        """Fold the write-ahead log into the file and empty it: then damage to it can lose nothing. Waits for no reader."""
        if not is_wal_empty(self.path):
            self.connection.execute("PRAGMA busy_timeout = 0")
            with contextlib.suppress(sqlite3.OperationalError):  # nothing is lost; the next commit meets the same disk
                self.connection.execute("PRAGMA user_version = 0")  # the seal of the last closing holds no longer
                self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self.connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT}")

    def reopen(self) -> None:
        """After a failed commit: SQLite's recovery decides what the file now holds."""
        self.connection.close()
        self.connection = self._connect()

    def close(self) -> None:
        """Fold the write-ahead log into the file, and seal it with its checksum."""
        self.connection.close()
        if is_wal_empty(self.path):
            with contextlib.suppress(OSError):  # without a seal the next opening checks more
                seal(self.path)


def _sync_folder(folder: Path) -> None:
    """Make the name of a new file durable; decisions and rewards become durable in `commit`."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
