"""How far a study has come: cells by state, and the time the rest will take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import mean
from typing import Any

from .cell import Case
from .store import Store
from .tables import name_of

STATES = ("done", "missing", "failed", "damaged")


def seconds_of(provenance: dict[str, Any]) -> float | None:
    """How long a cell took, without the compiler's share; None where its provenance does not say."""
    seconds, compiling = provenance.get("seconds"), provenance.get("compile_seconds", 0.0)
    for value in (seconds, compiling):
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
            return None
    return max(float(seconds) - float(compiling), 0.0)  # type: ignore[arg-type]


@dataclass(frozen=True)
class CaseStatus:
    """A case's cells by state, the seconds of the finished ones, and the seconds (on one core) that the others will take.

    seconds_left is None where no finished cell says.
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
        made = [(cell, seconds_of(store.provenance(cell))) for cell, s in zip(cells, states, strict=True) if s == "done"]
        times = [seconds / cell.steps for cell, seconds in made if seconds is not None]
        steps = {state: sum(c.steps for c, s in zip(cells, states, strict=True) if s == state) for state in STATES}
        found.append((case, {state: states.count(state) for state in STATES}, steps, times))
    alike: dict[tuple[str, str], list[float]] = {}  # seconds per step of the same rule, and of the same size of problem
    for case, _, _, times in found:
        for group in (("rule", name_of(case.rule)), ("size", str(case.sizes)), ("any", "")):
            alike.setdefault(group, []).extend(times)
    statuses = []
    for case, counts, steps, times in found:
        others = alike["rule", name_of(case.rule)] or alike["size", str(case.sizes)] or alike["any", ""]
        pace = mean(times) if times else max(others, default=None)  # the slowest of those like it
        left = steps["missing"] + steps["damaged"]
        seconds_left = 0.0 if left == 0 else (pace * left if pace is not None else None)
        statuses.append(CaseStatus(case, counts, (mean(times) * steps["done"] if times else 0.0), seconds_left))
    return statuses


@dataclass(frozen=True)
class StudyStatus:
    """The cells of a whole study by state, and the wall seconds left on `cores` cores; None where nothing says."""

    cells: dict[str, int]
    seconds_left: float | None


def study_status(statuses: list[CaseStatus], cores: int) -> StudyStatus:
    """All cases together."""
    left = [status.seconds_left for status in statuses]
    total = None if None in left else sum(seconds for seconds in left if seconds is not None) / cores
    return StudyStatus({state: sum(status.cells[state] for status in statuses) for state in STATES}, total)
