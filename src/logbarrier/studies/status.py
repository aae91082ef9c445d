"""How far a study is: cells by state, and the time the rest will take."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean

from .store import Store
from .study import Case

STATES = ("done", "missing", "failed", "damaged")


@dataclass(frozen=True)
class CaseStatus:
    """A case's cells by state, the seconds of the finished ones, and the seconds (on one core) that the others will take.

    seconds_left is None where no finished cell tells.
    """

    case: Case
    cells: dict[str, int]
    seconds: float
    seconds_left: float | None


def case_statuses(store: Store) -> list[CaseStatus]:
    """Every case of the study in turn; reads and checks each cell."""
    found = []
    for case in store.study.cases:
        cells = store.study.cells_of(case)
        states = [store.state(cell) for cell in cells]
        times = [
            store.provenance(cell).get("seconds", 0.0) / cell.steps
            for cell, state in zip(cells, states, strict=True)
            if state == "done"
        ]
        steps = {state: sum(c.steps for c, s in zip(cells, states, strict=True) if s == state) for state in STATES}
        found.append((case, {state: states.count(state) for state in STATES}, steps, times))
    by_arms: dict[int, list[float]] = {}
    for case, _, _, times in found:
        by_arms.setdefault(case.n_arms, []).extend(times)
    statuses = []
    for case, counts, steps, times in found:
        pace = times or by_arms[case.n_arms] or [time for every in by_arms.values() for time in every]
        left = steps["missing"] + steps["damaged"]
        seconds_left = 0.0 if left == 0 else (mean(pace) * left if pace else None)
        statuses.append(CaseStatus(case, counts, (mean(times) * steps["done"] if times else 0.0), seconds_left))
    return statuses


@dataclass(frozen=True)
class StudyStatus:
    """The cells of a whole study by state, and the wall seconds left on `cores` cores; None where nothing tells."""

    cells: dict[str, int]
    seconds_left: float | None


def study_status(statuses: list[CaseStatus], cores: int) -> StudyStatus:
    """All cases together."""
    left = [status.seconds_left for status in statuses]
    total = None if None in left else sum(seconds for seconds in left if seconds is not None) / cores
    return StudyStatus({state: sum(status.cells[state] for status in statuses) for state in STATES}, total)
