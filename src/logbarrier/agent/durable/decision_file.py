"""A file of decisions, open for this process: its lock, its experiments, and the writes that all threads share."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...bandits.algorithms.rule import Rule
from ...base.failure import INVALID, RuleError
from ..any_agent import AnyAgent
from .checksums import DamagedError
from .database import DEFAULT, reading
from .group_commit import GroupCommit
from .journal import Journal
from .ledger import Ledger
from .lock import locked
from .sqlite_file import SqliteFile


class UnreadableError(ValueError):
    """An experiment whose agent cannot be restored, for want of its rule or since another version wrote it."""


class DecisionFile:
    """The ledgers of a file by the names of their experiments. An experiment that is unreadable does not affect the others.

    Whatever changes them is a call, a function of this object, performed by `commits` in batches with one write each.
    rules: for the experiments with user-defined rules, by name
    """

    def __init__(self, path: Path, *, rules: Mapping[str, Rule], clock: Callable[[], float] | None = None) -> None:
        self.path, self._rules, self._clock = path, rules, clock or _steady_clock()
        self._process = os.getpid()
        self._closed = self._stale = False
        self.ledgers: dict[str, Ledger] = {}  # oldest first; calls use `ledger`
        self.unreadable: dict[str, str] = {}  # name: why
        self._touched: dict[str, Ledger] = {}  # in the present batch
        self.commits: GroupCommit[DecisionFile] = GroupCommit(self._perform)
        with contextlib.ExitStack() as undo:
            self._lock = locked(path.with_name(path.name + ".lock"))
            undo.callback(self._lock.release)
            self._file = SqliteFile(path)
            undo.callback(self._file.close)
            with reading(path):
                self._load()
            undo.pop_all()

    def _load(self) -> None:
        self.ledgers, self.unreadable, failure = {}, {}, None
        for name, suffix in self._file.suffixes().items():
            journal = Journal(self._file, suffix)
            if suffix or not journal.is_new:
                try:
                    self.ledgers[name] = Ledger(journal, self._rules.get(name), self._clock)
                except DamagedError:
                    raise
                except (*INVALID, RuleError) as error:
                    self.unreadable[name], failure = str(error), error
        if failure is not None and not self.ledgers:
            raise failure

    def check(self, name: str) -> None:
        """Raise an exception where there is no such experiment, or it is unreadable."""
        if name in self.unreadable:
            raise UnreadableError(f"Experiments: experiment {name!r} cannot be read: {self.unreadable[name]}")
        if name not in self.ledgers:
            raise KeyError(f"Experiments: there is no experiment {name!r} in {self.path.name}")

    def ledger(self, name: str) -> Ledger:
        """The ledger of an experiment, to be changed by the present call."""
        ledger = self._touched.get(name)
        if ledger is None:
            self.check(name)
            ledger = self._touched[name] = self.ledgers[name]
            ledger.expire()
        return ledger

    def create(self, name: str, agent: AnyAgent, settings: dict[str, Any]) -> Ledger:
        """Add an experiment with a new agent."""
        if name in self.ledgers or name in self.unreadable:
            raise ValueError(f"Experiments: experiment {name!r} exists already")
        suffix = "" if name == DEFAULT else self._file.add_experiment(name)
        self.ledgers[name] = Ledger.create(Journal(self._file, suffix), agent, settings, self._clock)
        return self.ledgers[name]

    def do(self, call: Callable[[DecisionFile], Any]) -> Any:
        """Return what a call returns, once it is on disk."""
        self.refuse_fork()
        return self.commits.do(call)

    def refuse_fork(self) -> None:
        """Raise ValueError in a forked child, before it waits for a lock whose holder may be a thread that does not exist."""
        if os.getpid() != self._process:
            raise ValueError("DurableAgent: this process is a fork of the one that opened the agent; open it after forking")

    def _perform(self, calls: Sequence[Callable[[DecisionFile], Any]]) -> list[Any]:
        if self._closed:
            raise ValueError(f"DurableAgent: {self.path} is closed")
        try:
            if self._stale:
                self._file.reopen()
                self._load()
            self._stale = True  # until all is on disk, memory is ahead of it
            self._touched = {}
            if not calls:  # a quiet moment: close the decisions that are overdue
                for name in self.ledgers:
                    self.ledger(name)
            results: list[Any] = []
            for call in calls:
                try:
                    results.append(call(self))
                except (*INVALID, KeyError) as error:  # the call was wrong, and changed nothing
                    results.append(error)
            for ledger in self._touched.values():
                ledger.write()
            self._file.commit()
        except RuleError as error:  # its rule failed half-way, so the agent is read from the disk again
            if not calls:
                raise
            return [error] if len(calls) == 1 else [outcome for call in calls for outcome in self._perform([call])]
        except sqlite3.Error as error:
            raise OSError(f"DurableAgent: {self.path} cannot be written ({error}); nothing was done") from None
        self._stale = False
        if not calls:
            self._file.fold()
        return results

    def close(self) -> None:
        """Write snapshots and release the lock; do nothing in a forked child."""
        if os.getpid() != self._process:
            return
        with self.commits.turn:
            if self._closed:
                return
            self._closed = True
            try:
                if not self._stale:
                    for ledger in self.ledgers.values():
                        ledger.save_snapshot()
                    self._file.commit()
            except sqlite3.Error:
                pass  # the journal has it all; the next start replays it
            finally:
                self._file.close()
                self._lock.release()


def _steady_clock() -> Callable[[], float]:
    """The time of day when opened, from then on steady, whatever the clock is set to."""
    start = time.time() - time.monotonic()
    return lambda: start + time.monotonic()
