"""Reading an agent's file while it may be in use: the log of decisions and the history of the policy."""

from __future__ import annotations

import contextlib
import itertools
import json
import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from .arm_sets import ArmSets
from .ask_detail import read_detail
from .checksums import damaged, is_as_sealed
from .database import (
    DEFAULT,
    UNCHECKED,
    Event,
    check_application,
    check_structure,
    checked,
    checked_event,
    connect,
    is_early,
    reading,
    settings_of,
    suffixes,
)
from .journal import Mark
from .wal import is_wal_empty

PAGE = 2000  # events
OUTCOMES = {"tell": "told", "forget": "forgotten", "expire": "expired"}


def read_log(path: str | Path, *, after: int = -1, experiment: str = DEFAULT) -> Iterator[dict[str, Any]]:
    """The decisions of an experiment with ids above `after`, in order, also while its file is in use.

    experiment: its name; the default is that of a DurableAgent.

    Each is a dict:

        id, time, arm
        probability       the propensity it was drawn with
        subject, context  or None
        actions           the features of the actions offered, or None
        arm_set           a number for all the arms that the agent had then; None where `ask` was given fewer, or actions
        available         the names of the arms or actions it was drawn from
        reward            None if none came
        outcome, closed   "told", "forgotten" or "expired", and when; None while it is pending

    arm_set and available are both None where they are not known any more: for decisions that the first version made before
    others were dropped. A row that is not what was written raises DamagedError, a ValueError.
    """
    file = Path(path)
    with contextlib.closing(open_file(file)) as connection:
        with reading(file):
            if after < 0 and not (is_wal_empty(file) and is_as_sealed(file)):
                check_structure(connection, file)
            suffix = suffix_of(connection, file, experiment)
        arm_sets = ArmSets(file, suffix)
        while True:
            with reading(file):
                events = _page(connection, file, after, arm_sets, suffix)
                decisions = [list(of_one) for _, of_one in itertools.groupby(events, attrgetter("decision"))]
                if len(events) == PAGE:
                    decisions.pop()  # the next page may have more of it
                rows = [log_row(file, decision, arm_sets) for decision in decisions]
            yield from rows
            if len(events) < PAGE:
                return
            after = rows[-1]["id"]


def _page(connection: sqlite3.Connection, path: Path, after: int, arm_sets: ArmSets, suffix: str) -> list[Event]:
    """The first PAGE events of decisions above `after`, by decision; and the arm sets that they need."""
    query = f"SELECT {{}} FROM events{suffix} WHERE decision > ? ORDER BY decision, number LIMIT ?"
    connection.execute("BEGIN")  # decisions and arm sets of one moment
    try:
        if is_early(connection):
            rows = connection.execute(query.format("*, NULL"), (after, PAGE)).fetchall()
            arm_sets.reconstruct(connection)
            unchecked = 1 << 62
        else:
            rows = connection.execute(query.format("*"), (after, PAGE)).fetchall()
            arm_sets.read(connection)
            unchecked = settings_of(connection, path, suffix).get(UNCHECKED, 0)
    finally:
        connection.execute("COMMIT")
    return [checked_event(path, row, unchecked) for row in rows]


def log_row(path: Path, decision: list[Event], arm_sets: ArmSets) -> dict[str, Any]:
    """What `read_log` yields of a decision, from its events: `ask` and what settled it."""
    asked, settled = decision[0], decision[1] if len(decision) > 1 else None
    if asked.kind != "ask" or asked.arm is None:
        raise damaged(path, f"events has no row in which decision {asked.decision} was asked")
    arm_set, available = arm_sets.at(asked.number)
    detail = read_detail(asked.detail)
    if detail.available is not None:
        arm_set, available = None, detail.available
    if detail.actions is not None:
        arm_set, available = None, [name for name, _ in detail.actions]
    return {
        "id": asked.decision,
        "time": asked.time,
        "arm": _name(asked.arm),
        "probability": asked.probability,
        "subject": detail.subject,
        "context": detail.context,
        "actions": None if detail.actions is None else [features for _, features in detail.actions],
        "arm_set": arm_set,
        "available": available,
        "reward": None if settled is None else settled.reward,
        "outcome": None if settled is None else OUTCOMES.get(settled.kind),
        "closed": None if settled is None else settled.time,
    }


@lru_cache(maxsize=1000)
def _name(text: str) -> Any:
    return json.loads(text)


def experiments_in(path: str | Path) -> list[str]:
    """The names of the experiments in a file, oldest first, also while it is in use."""
    file = Path(path)
    with contextlib.closing(open_file(file)) as connection, reading(file):
        found = suffixes(connection, file).items()
        return [name for name, suffix in found if connection.execute(f"SELECT 1 FROM snapshots{suffix} LIMIT 1").fetchone()]


def read_history(path: str | Path, experiment: str = DEFAULT) -> list[Mark]:
    """The history of the policy and of the rewards of an experiment, oldest first."""
    file = Path(path)
    with contextlib.closing(open_file(file)) as connection, reading(file):
        table = f"history{suffix_of(connection, file, experiment)}"
        rows = connection.execute(f"SELECT * FROM {table} ORDER BY number").fetchall()
        return [Mark(*(row if is_early(connection) else checked(file, table, row))) for row in rows]


def suffix_of(connection: sqlite3.Connection, path: Path, experiment: str) -> str:
    """The suffix of the tables of an experiment."""
    found = suffixes(connection, path)
    if experiment not in found:
        raise KeyError(f"read_log: there is no experiment {experiment!r} in {path.name}")
    return found[experiment]


def open_file(path: Path) -> sqlite3.Connection:
    """A connection that reads an agent's file."""
    if not path.is_file():
        raise OSError(f"DurableAgent: there is no file {path}")
    connection = connect(path, "ro")
    try:
        with reading(path):
            check_application(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection
