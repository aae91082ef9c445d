"""Which views there are, what work each needs, and how it is built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .jobs import Kept, curves_job, paths_job
from .rules import curves_of
from .state import State
from .views import curves, distribution, policy, simplex
from .views.figure import View
from .worker import Check

Job = Callable[[State, Kept, Check], Iterator[Any]]


@dataclass(frozen=True)
class Entry:
    """A view: its button, how it is built for a state, its work, and whether it shows one moment rather than all time."""

    label: str
    build: Callable[[State], View]
    job: Job
    of_one_moment: bool = False

    def fits(self, before: State, after: State) -> bool:
        """Whether a picture built for one state can show another."""
        return (before.spacing, curves_of(before)) == (after.spacing, curves_of(after)) or (
            self.job is curves_job and before.spacing == after.spacing
        )


def _paths(state: State, kept: Kept, check: Check) -> Iterator[Any]:
    return paths_job(state, check)


GALLERY: dict[str, Entry] = {
    "learning": Entry("Best arm", lambda state: curves.CurvesView(curves.LEARNING, state.spacing), curves_job),
    "distribution": Entry("Distribution", lambda state: distribution.DistributionView(), curves_job, of_one_moment=True),
    "smallest": Entry("Smallest", lambda state: curves.CurvesView(curves.SMALLEST, state.spacing), curves_job),
    "regret": Entry("Regret", lambda state: curves.CurvesView(curves.REGRET, state.spacing), curves_job),
    "simplex": Entry("Simplex (K = 3)", lambda state: simplex.SimplexView(curves_of(state)), _paths, of_one_moment=True),
    "policy": Entry("Policy", lambda state: policy.PolicyView(), _paths, of_one_moment=True),
}
