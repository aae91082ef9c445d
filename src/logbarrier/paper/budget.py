"""As much of the long horizon as fits: blocks of runs of figure 1 first, each started only if it should end in time."""

from __future__ import annotations

from collections.abc import Iterator

from ..studies import Case, Store
from ..studies.status import seconds_of
from .reproduction import EXPERIMENTS, cases_of

PLOTTING = 15.0  # seconds reserved for figures, claims and the page


def rounds(store: Store, cases: list[Case]) -> Iterator[tuple[list[Case], int]]:
    """(cases, up to which run), in the order to compute them: every block of figure 1, then those of the other figures."""
    wanted = {case.key for case in cases}
    for name in EXPERIMENTS:
        chosen = [case for case in cases_of([name]) if case.key in wanted]
        for first in range(0, store.study.runs, store.study.runs_per_cell):
            if chosen:
                yield chosen, first + store.study.runs_per_cell


def seconds_needed(store: Store, printed: Store, cases: list[Case], up_to: int, cores: int) -> float:
    """How long a round should take on so many cores, from the pace of the same curves at the printed horizon."""
    needed = 0.0
    for case in cases:
        made = [(cell, seconds_of(printed.provenance(cell))) for cell in printed.study.cells_of(case)]
        pace = min((seconds / cell.steps for cell, seconds in made if seconds is not None), default=0.0)
        missing = [cell for cell in store.study.cells_of(case) if cell.first_run < up_to and store.state(cell) != "done"]
        needed += pace * sum(cell.steps for cell in missing)
    return needed / cores
