"""Counting pulls: one study per instance, and what the stored runs say about every system."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..bandits.algorithms.rule import Rule
from ..bandits.simulator import LARGEST_HORIZON
from ..base import validate
from ..record import Record
from ..statistics import resampling_weights
from ..studies import Case, Store, Study, case_of, record_of
from .first_passage import average_iterate, first_passage, last_iterate
from .slopes import RESAMPLES, slope_of_runs
from .systems import INSTANCES, SYSTEMS, Instance, System

EPSILONS = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
SMALLEST_EPSILON = 1e-9  # far below what any horizon reaches; squares of it are still numbers
HORIZON = 300_000
LONG = 10 * HORIZON
RUNS = 64
RUNS_PER_CELL = 32
CHECKPOINTS = 240  # 5 % apart at the default horizon
ITERATES: dict[str, Callable[[Record, Rule], np.ndarray]] = {"last": last_iterate, "average": average_iterate}


@dataclass(frozen=True, kw_only=True)
class Budget:
    """For which accuracies, how long, how often and from which seed; epsilons are kept in falling order."""

    epsilons: Sequence[float] = EPSILONS
    horizon: int = HORIZON
    runs: int = RUNS
    seed: int = 0

    def __post_init__(self) -> None:
        validate.integer("complexity", "horizon", self.horizon, 1, LARGEST_HORIZON)
        validate.integer("complexity", "runs", self.runs, 2)
        validate.integer("complexity", "seed", self.seed, 0)
        checked = {validate.positive("complexity", "epsilons", epsilon) for epsilon in self.epsilons}
        if not checked:
            raise ValueError("complexity: epsilons must have at least one number")
        if min(checked) < SMALLEST_EPSILON:
            raise ValueError(f"complexity: epsilons must be at least {SMALLEST_EPSILON:g}, got {min(checked):g}")
        for instance in INSTANCES:
            if max(checked) >= instance.start_suboptimality:
                raise ValueError(
                    f"complexity: epsilons must be below {instance.start_suboptimality:.3g}, where the instance "
                    f"{instance.name!r} starts, got {max(checked):g}"
                )
        object.__setattr__(self, "epsilons", tuple(sorted(checked, reverse=True)))


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """How a system did on an instance.

    iterate    "last" or "average", see `first_passage`
    own_start  the system has no preferences to set, so it was run from its own start
    pulls      until the mean over runs is first at or below each of epsilons; None where that is beyond the horizon
    returns    whether the mean is above epsilon again at the horizon, although it had been reached
    slope      x of pulls ~ epsilon^-x, with its 95 % interval; see `slopes.Slope`
    """

    system: str
    instance: str
    iterate: str
    own_start: bool
    runs: int
    horizon: int
    epsilons: tuple[float, ...]
    pulls: tuple[float | None, ...]
    returns: tuple[bool, ...]
    slope: float | None
    low: float | None
    high: float | None

    @property
    def reached(self) -> int:
        """At how many accuracies the pulls are known."""
        return sum(count is not None for count in self.pulls)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {**asdict(self), "censored": len(self.pulls) - self.reached}


def cases_on(instance: Instance, systems: Sequence[System], budget: Budget) -> list[Case]:
    """What must be simulated on an instance, once each, without those that face it from another start."""
    rules = dict.fromkeys(system.rule(epsilon, instance, budget.horizon) for system in systems for epsilon in budget.epsilons)
    return [case_of(instance.problem, rule) for rule in rules if instance.faced_by(rule) is instance]


def study_of(instance: Instance, budget: Budget) -> Study:
    """Every system of the catalogue on an instance; rules that several accuracies share are simulated once."""
    return Study(
        name=f"complexity-{instance.name.replace(' ', '-')}",
        cases=cases_on(instance, SYSTEMS, budget),
        horizon=budget.horizon,
        runs=budget.runs,
        seed=budget.seed,
        runs_per_cell=RUNS_PER_CELL,
        checkpoints=CHECKPOINTS,
        spacing="log",
        metrics=("regret", "suboptimality"),
        bad_start=instance.bad_start,
    )


def measure(stores: Mapping[str, Store], systems: Sequence[System], budget: Budget) -> Iterator[Measurement]:
    """Two measurements, last and average iterate, of each system on each instance; stores are by the instances' names.

    Where runs are missing there is no measurement.
    """
    weights = resampling_weights(budget.runs, budget.seed, RESAMPLES)
    for instance in INSTANCES:
        for system in systems:
            yield from _measure_one(stores, system, instance, budget, weights)


def _measure_one(
    stores: Mapping[str, Store], system: System, instance: Instance, budget: Budget, weights: np.ndarray
) -> Iterator[Measurement]:
    rules = [system.rule(epsilon, instance, budget.horizon) for epsilon in budget.epsilons]
    faced = instance.faced_by(rules[0])
    cases = [case_of(faced.problem, rule) for rule in rules]
    records = _complete_records(stores[faced.name], cases)
    for iterate, curve_of in ITERATES.items() if records else ():
        curve_by_case = {key: curve_of(record, rules[0]) for key, record in records.items()}
        curves = [curve_by_case[case.key] for case in cases]
        steps = records[cases[0].key].steps[1:]
        means = np.array([curve.mean(axis=0) for curve in curves])
        pulls = np.array([first_passage(steps, *pair) for pair in zip(means, budget.epsilons, strict=True)])
        slope = slope_of_runs(steps, curves, np.array(budget.epsilons), weights)
        yield Measurement(
            system=system.name,
            instance=instance.name,
            iterate=iterate,
            own_start=faced is not instance,
            runs=budget.runs,
            horizon=budget.horizon,
            epsilons=tuple(budget.epsilons),
            pulls=tuple(None if np.isnan(count) else count for count in pulls.tolist()),
            returns=tuple((np.isfinite(pulls) & (means[:, -1] > budget.epsilons)).tolist()),
            slope=slope.value,
            low=slope.low,
            high=slope.high,
        )


def _complete_records(store: Store, cases: Sequence[Case]) -> dict[str, Record]:
    """The record of each case by its key; none at all unless every run of every case is there."""
    records = {}
    for case in {case.key: case for case in cases}.values():
        record = record_of(store, case)
        if record is None or record.runs < store.study.runs:
            return {}
        records[case.key] = record
    return records
