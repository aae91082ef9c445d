"""Reading an agent's file while it may be in use: the log of decisions and the history of the policy."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .journal import Mark, check_application, connect

PAGE = 1000
QUERY = """
SELECT a.decision, a.time, a.arm, a.probability, a.detail, s.kind, s.reward, s.time
FROM events a LEFT JOIN events s ON s.decision = a.decision AND s.kind <> 'ask'
WHERE a.decision > ? AND a.kind = 'ask' ORDER BY a.decision LIMIT ?
"""


def read_log(path: str | Path, *, after: int = -1) -> Iterator[dict[str, Any]]:
    """The decisions of a DurableAgent's file with ids above `after`, in order, also while it is in use.

    Each is a dict: id, time, arm, probability (the propensity it was drawn with), available (names, or None for all), reward
    (None if none came), outcome ("told", "forgotten", "expired" or None while it waits) and closed (when).
    """
    outcomes = {"tell": "told", "forget": "forgotten", "expire": "expired"}
    with contextlib.closing(_open(Path(path))) as connection:
        while True:
            rows = connection.execute(QUERY, (after, PAGE)).fetchall()
            for identity, asked, arm, probability, available, kind, reward, closed in rows:
                yield {
                    "id": identity,
                    "time": asked,
                    "arm": json.loads(arm),
                    "probability": probability,
                    "available": None if available is None else json.loads(available),
                    "reward": reward,
                    "outcome": outcomes.get(kind),
                    "closed": closed,
                }
            if len(rows) < PAGE:
                return
            after = rows[-1][0]


def read_history(path: str | Path) -> list[Mark]:
    """The history of the policy and of rewards, oldest first."""
    with contextlib.closing(_open(Path(path))) as connection:
        return [Mark(*row) for row in connection.execute("SELECT * FROM history ORDER BY number")]


def _open(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise OSError(f"DurableAgent: there is no file {path}")
    connection = connect(path, "ro")
    try:
        check_application(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise OSError(f"DurableAgent: {path} cannot be read: {error}") from None
    return connection
