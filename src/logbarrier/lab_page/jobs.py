"""What a state asks to be simulated, in pieces: a few runs first, then the rest.

Runs are pure functions of (seed, run number). So blocks of runs simulated apart and joined are, number by number, the one call
of `lb.simulate` that the page shows under "as Python". Of a long horizon its first hundredth and tenth come first.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..bandits.algorithms.log_barrier_sgb import LogBarrierSGB
from ..bandits.engines import FEW_ARMS
from ..bandits.policies import policies
from ..bandits.problems import Bandit, ProblemSource
from ..bandits.simulator import simulate
from ..bandits.starts import OptimalArmAt
from ..record import Record
from ..theory.plateau import mean_plateau
from .laws import instance_of, problem_of
from .rules import Curve, curves_of
from .state import State
from .worker import Check

FEW_RUNS = 8  # one batch of the lockstep engine
LONG = 250_000  # a horizon that is shown in parts
MANY_STEPS = 10_000_000  # of one curve; beyond, its runs are shown block by block
ARM_STEPS_PER_PIECE = 5_000_000  # between two looks at whether the work is still wanted, a few hundredths of a second
STEPS_PER_PIECE = 25_000
MOST_RESULTS = 16
MOST_PLATEAU_ARMS = 200_000  # arms x instances whose exact plateau is computed
PATHS = 6
SNAPSHOTS = 400
MOST_PROBABILITIES = 2_000_000  # probabilities stored of one run


Plateau = tuple[float, float, float]


@dataclass(frozen=True)
class Compiling:
    """The machine code of a rule is being made, which happens once."""

    label: str


@dataclass(frozen=True)
class Curves:
    """What is known of every curve so far; complete once it is all that was asked for.

    plateaus: label -> p(a*), min p and r* - J where LB-SGB ends, exact, over the instances of the first runs.
    """

    state: State
    curves: list[Curve]
    records: dict[str, Record]
    complete: bool
    plateaus: dict[str, Plateau] = field(default_factory=dict)


@dataclass(frozen=True)
class Paths:
    """Policies along single runs on one instance: label -> (runs, snapshots so far, K), at `steps`."""

    state: State
    curves: list[Curve]
    instance: Bandit
    steps: np.ndarray
    policies: dict[str, np.ndarray]
    complete: bool


class ResultCache:
    """The latest complete results of a session: what a control does not touch is not computed again."""

    def __init__(self) -> None:
        self._results: OrderedDict[str, Any] = OrderedDict()

    def find(self, key: str) -> Any:
        """The result, if it is there still, else None."""
        if key in self._results:
            self._results.move_to_end(key)
        return self._results.get(key)

    def add(self, key: str, result: Any) -> None:
        """Store a result and evict the oldest."""
        self._results[key] = result
        while len(self._results) > MOST_RESULTS:
            self._results.popitem(last=False)


def start_of(state: State, curve: Curve) -> OptimalArmAt | None:
    """Where a curve starts; rules without preferences have no other start."""
    return OptimalArmAt(state.start) if state.start is not None and curve.rule.has_preferences else None


def blocks(state: State) -> list[tuple[int, int, int]]:
    """(first run, runs, horizon) of each piece of work; those of the full horizon make up all runs.

    >>> blocks(State(runs=100))
    [(0, 8, 25000), (8, 92, 25000)]
    """
    first = min(FEW_RUNS, state.runs)
    pieces = [(0, first, state.horizon // part) for part in (100, 10) if state.horizon > LONG] + [(0, first, state.horizon)]
    while first < state.runs:
        further = state.runs - first
        if state.runs * state.horizon > MANY_STEPS:
            further = min(further, first)
        pieces.append((first, further, state.horizon))
        first += further
    return pieces


def joined(parts: list[Record]) -> Record:
    """The record of all runs from the records of consecutive blocks."""
    values = {name: np.concatenate([part[name] for part in parts]) for name in parts[0].metrics}
    settings = {**parts[0].settings, "runs": sum(part.runs for part in parts)}
    return Record(parts[0].steps, values, settings, parts[0].provenance, parts[0].ranges)


def curves_job(state: State, cache: ResultCache, check: Check) -> Iterator[Compiling | Curves]:
    """Simulate what a state asks for, yielding what there is after every round of blocks."""
    problem, curves = problem_of(state), curves_of(state)
    keys = {curve.label: _key(state, curve) for curve in curves}
    done = {label: record for label, key in keys.items() if (record := cache.find(key)) is not None}
    missing = [curve for curve in curves if curve.label not in done]
    for curve in missing:
        if not _compiled(curve, problem):
            yield Compiling(curve.label)
            compile_for(curve, problem)
            check(0, 1)
    if done and missing:
        yield Curves(state, curves, dict(done), complete=False)
    plateaus: dict[str, Plateau] = {}
    for round_of_blocks in _rounds(state, missing, problem, check):
        done = {**done, **round_of_blocks}
        if not plateaus:
            plateaus = _plateaus(state, curves, problem, cache)
        if min(record.runs * record.horizon for record in done.values()) < state.runs * state.horizon:
            yield Curves(state, curves, done, complete=False, plateaus=plateaus)
    for curve in missing:
        cache.add(keys[curve.label], done[curve.label])
    yield Curves(state, curves, done, complete=True, plateaus=plateaus or _plateaus(state, curves, problem, cache))


def _rounds(state: State, curves: list[Curve], problem: ProblemSource, check: Check) -> Iterator[dict[str, Record]]:
    """What is known of every curve after each piece of work."""
    pieces = blocks(state) if curves else []
    total, finished = len(curves) * sum(runs * horizon for _, runs, horizon in pieces), 0
    parts: dict[str, list[Record]] = {curve.label: [] for curve in curves}
    for first, runs, horizon in pieces:
        found = {}
        for curve in curves:

            def progress(steps: int, _: int, before: int = finished) -> None:
                check(before + steps, total)

            record = _simulated(state, curve, problem, first, runs, horizon, progress)
            finished += runs * horizon
            if horizon == state.horizon:
                parts[curve.label].append(record)
                record = joined(parts[curve.label])
            found[curve.label] = record
        yield found


def paths_job(state: State, check: Check) -> Iterator[Compiling | Paths]:
    """Follow single runs on the instance of run 0: PATHS of them for the simplex, one for the sorted policy."""
    instance: Any = instance_of(state)
    curves = curves_of(state)
    runs = PATHS if state.view == "simplex" else 1
    count = max(2, min(SNAPSHOTS, MOST_PROBABILITIES // state.arms))
    steps = np.unique(np.round(np.linspace(0.0, 1.0, count) ** 2 * state.horizon).astype(int))  # more of the beginning
    found = {curve.label: np.empty((runs, len(steps), state.arms)) for curve in curves}
    walks = []
    for curve in curves:
        if not _compiled(curve, instance, dense=True):
            yield Compiling(curve.label)
        options: Any = {"steps": steps, "seed": state.seed, "start": start_of(state, curve)}
        walks.append([policies(curve.rule, instance, run=run, **options) for run in range(runs)])
        found[curve.label][:, 0] = [next(walk) for walk in walks[-1]]
        _COMPILED.add(_kind(curve, instance, dense=True))
        check(0, 1)
    shown = max(len(steps) // 8, 1)
    for c in range(1, len(steps)):
        for curve, walk in zip(curves, walks, strict=True):
            found[curve.label][:, c] = [next(run) for run in walk]
            check(int(steps[c]), state.horizon)
        if c % shown == 0 and c + 1 < len(steps):
            yield Paths(
                state, curves, instance, steps[: c + 1], {k: v[:, : c + 1].copy() for k, v in found.items()}, complete=False
            )
    yield Paths(state, curves, instance, steps, found, complete=True)


def compile_for(curve: Curve, problem: ProblemSource) -> None:
    """Have the compiled loop of a rule ready."""
    simulate(curve.rule, problem, horizon=1, runs=1, threads=1)
    _COMPILED.add(_kind(curve, problem, dense=False))


def warm_up(states: list[State], wanted: threading.Event) -> None:
    """Compile what these states need, while `wanted` is set."""
    for state in states:
        problem = problem_of(state)
        for curve in curves_of(state):
            if wanted.is_set() and not _compiled(curve, problem):
                compile_for(curve, problem)


_COMPILED: set[tuple[type, type, str]] = set()


def _kind(curve: Curve, problem: ProblemSource, dense: bool) -> tuple[type, type, str]:
    return type(curve.rule), type(problem), "dense" if dense else "few" if problem.n_arms <= FEW_ARMS else "many"


def _compiled(curve: Curve, problem: ProblemSource, dense: bool = False) -> bool:
    return _kind(curve, problem, dense) in _COMPILED


def _key(state: State, curve: Curve) -> str:
    problem = (state.law, state.arms, state.gap, state.noise)
    return repr((curve.rule, problem, state.horizon, state.runs, state.seed, state.spacing, start_of(state, curve)))


def _simulated(
    state: State, curve: Curve, problem: ProblemSource, first: int, runs: int, horizon: int, progress: Check
) -> Record:
    return simulate(
        curve.rule,
        problem,
        horizon=horizon,
        runs=runs,
        first_run=first,
        seed=state.seed,
        spacing=state.spacing,
        start=start_of(state, curve),
        chunk=max(1, min(STEPS_PER_PIECE, ARM_STEPS_PER_PIECE // state.arms)),
        progress=progress,
    )


def _plateaus(state: State, curves: list[Curve], problem: ProblemSource, cache: ResultCache) -> dict[str, Plateau]:
    """Of LB-SGB's curves, over as many of the runs' instances as are quickly computed."""
    runs = 1 if isinstance(problem, Bandit) else max(1, min(state.runs, MOST_PLATEAU_ARMS // state.arms))
    found = {}
    for curve in curves:
        if isinstance(curve.rule, LogBarrierSGB):
            key = repr(("plateau", state.law, state.arms, state.gap, state.seed, curve.rule.eta, runs))
            plateau = cache.find(key)
            if plateau is None:
                plateau = mean_plateau(problem, curve.rule.eta, state.seed, runs)
                cache.add(key, plateau)
            found[curve.label] = plateau
    return found
