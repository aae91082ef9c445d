"""Run a study: compute what is missing, keep every cell as it comes, note what failed."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from .cell import Case, Cell
from .local import Report, Result
from .status import case_statuses
from .store import Store


class Executor(Protocol):
    """Anything that computes cells: on this machine, on a cluster."""

    def compute(self, cells: Sequence[Cell], report: Report) -> Generator[Result, None, None]:
        """The results in any order."""
        ...


@dataclass
class Outcome:
    """What a run did."""

    stored: int = 0
    computed: int = 0
    damaged: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        """Every cell that was asked for is there."""
        return not self.failed


def is_due(state: str, *, force: bool = False, retry: bool = False) -> bool:
    """Whether a run computes a cell in this state: missing and damaged ones; failed ones with `retry`; all with `force`."""
    return force or state in ("missing", "damaged") or (retry and state == "failed")


def run(
    store: Store,
    executor: Executor,
    cases: Sequence[Case] | None = None,
    *,
    up_to: int | None = None,
    force: bool = False,
    retry: bool = False,
    progress: Callable[[int, int], None] | None = None,
    warn: Callable[[str], None] = lambda sentence: None,
) -> Outcome:
    """Compute the cells of `cases` (all by default) that are not yet stored; stop it at any moment and run it again.

    Cells that another study in the same folder has finished are copied from there.

    up_to     only cells of runs below this number
    force     compute them again even if they are stored
    retry     also compute those that failed before
    progress  a function of (steps done, steps in all)
    warn      called with a sentence on what was moved and what failed
    """
    with store.writing():
        started, outcome = time.monotonic(), Outcome()
        due = []
        for cell in store.study.cells(cases):
            if up_to is not None and cell.first_run >= up_to:
                continue
            state = store.state(cell)
            if state == "missing" and not force and (elsewhere := store.read_elsewhere(cell)) is not None:
                store.write(cell, *elsewhere)
                outcome.stored += 1
            elif is_due(state, force=force, retry=retry):
                due.append(cell)
            elif state == "failed":
                outcome.failed.append(cell.id)
            else:
                outcome.stored += 1
            if force:
                store.forget(cell)
            elif state == "damaged":
                outcome.damaged.append(cell.id)
                warn(f"cell {cell.id} was damaged; it is moved to {store.move_damaged(cell)} and computed again")
        due = _slow_first(store, due)
        count = _Count(sum(cell.steps for cell in due), progress)
        with contextlib.closing(executor.compute(due, count.add)) as results:
            for result in results:
                _keep(store, result, outcome, warn)
        outcome.seconds = round(time.monotonic() - started, 3)
        store.write_manifest(vars(outcome))
        return outcome


def _slow_first(store: Store, due: list[Cell]) -> list[Cell]:
    """Cells of cases that no finished cell has timed, then the others from the slowest on: no slow one is left for the end."""
    known = {one.case.key: one.seconds / max(one.cells["done"], 1) for one in case_statuses(store) if one.seconds > 0.0}
    return sorted(due, key=lambda cell: -known.get(cell.case.key, float("inf")))  # stable: blocks stay in order


def _keep(store: Store, result: Result, outcome: Outcome, warn: Callable[[str], None]) -> None:
    if result.content is None:
        store.write_failure(result.cell, result.note)
        outcome.failed.append(result.cell.id)
        warn(f"cell {result.cell.id} failed: {result.note['error']}")
    else:
        store.write(result.cell, result.content, result.note)
        outcome.computed += 1


class _Count:
    """Adds up steps that several threads finish."""

    def __init__(self, total: int, show: Callable[[int, int], None] | None) -> None:
        self._done, self._total, self._show, self._lock = 0, total, show, threading.Lock()

    def add(self, steps: int) -> None:
        if self._show is not None:
            with self._lock:
                self._done += steps
                self._show(self._done, self._total)
