"""Which views there are, what work each needs, and how it is built."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from ..base.failure import INVALID
from .jobs import ResultCache, curves_job, paths_job
from .learning import labels_of, learning_job
from .rules import curves_of
from .state import State
from .views import curves
from .views.distribution import DistributionView
from .views.environment import EnvironmentView
from .views.figure import View
from .views.policy import PolicyView
from .views.simplex import SimplexView
from .worker import Check

Job = Callable[[State, ResultCache, Check], Iterator[Any]]


@dataclass(frozen=True)
class Entry:
    """A view of the page.

    label          on its button
    build          an empty picture for a state
    job            the work it shows
    built_for      what of a state the picture depends on: with the same, it can show another state
    of_one_moment  it shows one moment rather than all time
    """

    label: str
    build: Callable[[State], View]
    job: Job
    built_for: Callable[[State], Hashable]
    of_one_moment: bool = False


def _paths(state: State, cache: ResultCache, check: Check) -> Iterator[Any]:
    return paths_job(state, check)


def _learning(state: State, cache: ResultCache, check: Check) -> Iterator[Any]:
    return learning_job(state, check)


def _spacing(state: State) -> str:
    return state.spacing


def _learners(state: State) -> tuple[str, tuple[str, ...]]:
    return state.spacing, labels_of(state)


def _labels(state: State) -> tuple[str, ...]:
    return tuple(curve.label for curve in curves_of(state))


def _over_time(label: str, metric: curves.Metric) -> Entry:
    return Entry(label, lambda state: curves.CurvesView(metric, state.spacing), curves_job, _spacing)


GALLERY: dict[str, Entry] = {
    "learning": _over_time("Best arm", curves.LEARNING),
    "distribution": Entry("Distribution", lambda state: DistributionView(), curves_job, lambda state: None, of_one_moment=True),
    "smallest": _over_time("Smallest", curves.SMALLEST),
    "regret": _over_time("Regret", curves.REGRET),
    "simplex": Entry("Simplex (K = 3)", lambda state: SimplexView(curves_of(state)), _paths, _labels, of_one_moment=True),
    "policy": Entry("Policy", lambda state: PolicyView(), _paths, lambda state: None, of_one_moment=True),
    "environment": Entry("Environment", lambda state: EnvironmentView(*_learners(state)), _learning, _learners),
}


def state_of(query: str) -> tuple[State, str]:
    """The state of an address; the default, and a sentence that says why, if it describes none."""
    try:
        return State.of_query(query), ""
    except INVALID as error:
        return State(), str(error)
