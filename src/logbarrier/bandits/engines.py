"""Which engine runs a rule, and how each engine carries runs from checkpoint to checkpoint.

| engine   | for                                             | cost of a step              |
|----------|-------------------------------------------------|-----------------------------|
| dense    | every rule; the reference, used by the agent    | one pass over the arms       |
| lockstep | rules of two scalars, few arms                  | the same, eight runs at once |
| lazy     | rules that drain, many arms                     | hardly grows with the arms   |
| sparse   | rules that never drain, many arms               | logarithm of the arms        |

An engine moves one run (lockstep: eight) from checkpoint to checkpoint. A run's bits depend on its engine, seed and number
alone. "auto" takes lockstep up to 64 arms, and lazy or sparse above.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ..base.failure import WrongTypeError
from ..engine.codegen.arguments import packed
from ..engine.codegen.lane_arrays import new_rows
from ..engine.codegen.lanes import WIDTH
from ..engine.interruptible import interruptible
from ..engine.random import stream_key
from .algorithms.rule import Rule, TwoScalarRule
from .algorithms.vector_rule import VectorRule
from .loops import dense, lockstep, sparse, vectors
from .loops.faults import BAD_REWARD, refuse_fault
from .loops.functions import (
    functions_of,
    functions_of_lanes,
    reward_functions_of,
    reward_functions_of_lanes,
    vector_functions_of,
)
from .loops.job import Job
from .loops.lazy import loop as lazy
from .loops.lazy.sorting import new_classes
from .loops.policy import LARGEST_REWARD, TOTAL, new_policy
from .metrics import METRICS
from .problems import ProblemSource
from .starts import Start, Uniform, starting_theta

FEW_ARMS = 64


class Stops(NamedTuple):
    """Where runs stop on their way: steps (S,), ascending, and for each the row of the result that is measured there, or -1."""

    steps: np.ndarray
    rows: np.ndarray

    @staticmethod
    def with_checkpoints(steps: np.ndarray, checkpoints: np.ndarray) -> Stops:
        """Some steps, of which the checkpoints (C,) are measured, one row each."""
        rows = np.searchsorted(checkpoints, steps)
        return Stops(steps, np.where(np.isin(steps, checkpoints), rows, -1))


class EngineRun(Protocol):
    """One run on one engine, or eight in lockstep: its state, and how to move it on to later checkpoints."""

    name: ClassVar[str]
    size: ClassVar[int]
    cost_grows: ClassVar[bool]  # with the number of arms

    @staticmethod
    def suits(rule: Rule) -> bool:
        """Whether this engine can run a rule."""
        ...

    def __init__(
        self, rule: Any, problem: ProblemSource, start: Start, key: np.ndarray, runs: range, stops: Stops, out: np.ndarray
    ) -> None:
        """Draw the instances of `runs` (at most `size`); `advance` measures into the rows of `out` (runs, C, metrics)."""
        ...

    def advance(self, first: int, last: int) -> int:
        """Run from stop to stop, first .. last - 1, measuring; return the steps all runs together have made so far."""
        ...

    def face(self, instances: list[np.ndarray]) -> None:
        """Give the runs new parameters (P, K), one array per run, from now on: the problem has changed."""
        ...


class _Single:
    """One run on its engine; subclasses say how its state is made and which loop moves it."""

    size: ClassVar[int] = 1
    cost_grows: ClassVar[bool] = False
    carries: ClassVar[type[Rule]] = TwoScalarRule

    @classmethod
    def suits(cls, rule: Rule) -> bool:
        return isinstance(rule, cls.carries)

    def __init__(
        self, rule: Any, problem: ProblemSource, start: Start, key: np.ndarray, runs: range, stops: Stops, out: np.ndarray
    ) -> None:
        parameters = np.array(problem.instance(key, runs[0]), dtype=np.float64, order="C")
        means = parameters[0]
        self._faced = parameters, np.array([means.argmax()])
        self._progress, self._rule, self.n_arms = np.zeros(3), rule, len(means)
        loop, self._state = self._prepare(rule, problem, starting_theta(start, means), means)
        job = Job(self._state, reward_functions_of(problem), *self._faced, key, runs[0], *stops, self._progress, out[0])
        self._go = loop.bound((job,), (0, 1), ())

    def _prepare(self, rule: Any, problem: ProblemSource, theta: np.ndarray, means: np.ndarray) -> tuple[Any, tuple[Any, ...]]:
        """The loop and the arrays it moves."""
        raise NotImplementedError

    def advance(self, first: int, last: int) -> int:
        self._go(first, last)
        _refuse_fault(self._rule, self._progress[2])
        return int(self._progress[0])

    def face(self, instances: list[np.ndarray]) -> None:
        parameters, best = self._faced
        parameters[:] = instances[0]
        best[0] = parameters[0].argmax()


def _learned(rule: TwoScalarRule, n_arms: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Memory, arm means, and arm counts or what is remembered of arms, before the first step."""
    return rule.new_memory(), *rule.new_arm_numbers(n_arms)


class DenseRun(_Single):
    """One pass over the arms per step."""

    name: ClassVar[str] = "dense"
    cost_grows: ClassVar[bool] = True

    def _prepare(self, rule: Any, problem: ProblemSource, theta: np.ndarray, means: np.ndarray) -> tuple[Any, tuple[Any, ...]]:
        n_arms = len(theta)
        return dense.loop_kernel(), (new_policy(theta), functions_of(rule, n_arms), _learned(rule, n_arms), n_arms)

    @property
    def probabilities(self) -> np.ndarray:
        """The policy (K,) where the run is now."""
        _, weights, _, scalars = self._state[0]
        return np.asarray(weights[: self.n_arms] / scalars[TOTAL])


class VectorRun(_Single):
    """One pass over the arms per step, for rules that keep their own vectors."""

    name: ClassVar[str] = "dense"
    cost_grows: ClassVar[bool] = True
    carries: ClassVar[type[Rule]] = VectorRule

    def _prepare(self, rule: Any, problem: ProblemSource, theta: np.ndarray, means: np.ndarray) -> tuple[Any, tuple[Any, ...]]:
        features = self._faced[0][-problem.n_features :] if hasattr(problem, "n_features") else None
        calls, vectors_of_rule = vector_functions_of(rule, len(theta)), rule.vectors_with(theta, means, features)
        return vectors.loop_kernel(), (calls, vectors_of_rule, rule.new_memory(), np.zeros(len(theta)))

    @property
    def probabilities(self) -> np.ndarray:
        """The policy (K,) where the run is now."""
        return np.array(self._state[3])


class LazyRun(_Single):
    """All unpulled arms move together, through one composed map."""

    name: ClassVar[str] = "lazy"

    @classmethod
    def suits(cls, rule: Rule) -> bool:
        return isinstance(rule, TwoScalarRule) and rule.drains and not rule.uses_arm_means

    def _prepare(self, rule: Any, problem: ProblemSource, theta: np.ndarray, means: np.ndarray) -> tuple[Any, tuple[Any, ...]]:
        return lazy.loop_kernel(), (new_classes(theta), functions_of(rule, len(theta)), _learned(rule, len(theta)))


class SparseRun(_Single):
    """A tree of sums; only the pulled arm moves."""

    name: ClassVar[str] = "sparse"

    @classmethod
    def suits(cls, rule: Rule) -> bool:
        return isinstance(rule, TwoScalarRule) and not (rule.drains or rule.mixes or rule.remembers_arms)

    def _prepare(self, rule: Any, problem: ProblemSource, theta: np.ndarray, means: np.ndarray) -> tuple[Any, tuple[Any, ...]]:
        tree = sparse.new_tree(theta, rule.uses_arm_means)
        return sparse.loop_kernel(), (tree, functions_of(rule, len(theta)), _learned(rule, len(theta)))


class LockstepRuns:
    """Eight runs side by side; if fewer are wanted, the last one is repeated in the spare lanes."""

    name: ClassVar[str] = "lockstep"
    size: ClassVar[int] = WIDTH
    cost_grows: ClassVar[bool] = True

    @staticmethod
    def suits(rule: Rule) -> bool:
        return isinstance(rule, TwoScalarRule)

    def __init__(
        self, rule: Any, problem: ProblemSource, start: Start, key: np.ndarray, runs: range, stops: Stops, out: np.ndarray
    ) -> None:
        lanes = [min(lane, len(runs) - 1) for lane in range(WIDTH)]
        faced = np.asarray([problem.instance(key, run) for run in runs], dtype=np.float64)
        begun = np.stack([starting_theta(start, table[0]) for table in faced])
        tables, state = np.ascontiguousarray(faced[lanes]), lockstep.new_lockstep(begun[lanes])
        memory = rule.new_memory()
        means, counts = rule.new_arm_numbers(problem.n_arms)
        learned = new_rows(len(memory), memory[:, None]), new_rows(len(means)), new_rows(len(counts))
        self._faced = tables, tables[:, 0].argmax(axis=1)
        self._progress, self._out, self._rule, self._rows = np.zeros(2 + WIDTH), out, rule, stops.rows
        self._measured = np.empty((WIDTH, *out.shape[1:]))
        arrays = state, functions_of_lanes(rule, problem.n_arms), learned
        numbers = np.array(runs)[lanes]
        job = Job(
            arrays, reward_functions_of_lanes(problem), *self._faced, key, numbers, *stops, self._progress, self._measured
        )
        self._go = lockstep.loop_kernel().bound((job,), (0, 1), ())

    def advance(self, first: int, last: int) -> int:
        self._go(first, last)
        _refuse_fault(self._rule, self._progress[1 + WIDTH])
        measured = self._rows[first:last]
        measured = measured[measured >= 0]
        if len(measured):
            self._out[:, measured] = self._measured[: len(self._out), measured]
        return int(self._progress[0]) * len(self._out)

    def face(self, instances: list[np.ndarray]) -> None:
        tables, bests = self._faced
        for lane in range(WIDTH):
            tables[lane] = instances[min(lane, len(instances) - 1)]
        bests[:] = tables[:, 0].argmax(axis=1)


def _refuse_fault(rule: Rule, fault: float) -> None:
    if fault == BAD_REWARD:
        raise ValueError(f"simulate: {rule.name} got a reward that is not a finite number of size at most {LARGEST_REWARD:g}")
    refuse_fault("simulate", rule, fault)


ENGINE_RUNS: tuple[type[EngineRun], ...] = (DenseRun, VectorRun, LockstepRuns, LazyRun, SparseRun)
ENGINES = tuple(dict.fromkeys(engine.name for engine in ENGINE_RUNS))


_ready: set[Any] = set()


def make_ready(engine_run: type[EngineRun], rule: Rule, problem: ProblemSource) -> None:
    """Compile or load what an engine calls, so that no run waits for it: take one run to step 0."""
    kind, _ = packed(rule.name, rule.hyper(problem.n_arms))
    needed = (engine_run, type(rule), kind, problem.noise, problem.reward_of)
    if needed in _ready:
        return
    start, out = np.zeros(1, dtype=np.int64), np.empty((1, 1, len(METRICS)))
    stops = Stops.with_checkpoints(start, start)
    first = engine_run(rule, problem, Uniform(), stream_key(0), range(1), stops, out)
    interruptible(f"starting {rule.name}", partial(first.advance, 0, 1))
    _ready.add(needed)


def engines_for(rule: Rule) -> list[str]:
    """The engines that can run a rule."""
    return [engine.name for engine in ENGINE_RUNS if engine.suits(rule)]


def choose(rule: Rule, n_arms: int, wanted: str) -> type[EngineRun]:
    """The engine, chosen by rule and number of arms only, so that runs computed in blocks equal the runs computed together."""
    able = {engine.name: engine for engine in ENGINE_RUNS if engine.suits(rule)}
    if not able:
        raise WrongTypeError(
            f"{type(rule).__name__}: must inherit from TwoScalarRule or VectorRule, which say how it learns, not from Rule"
        )
    if wanted != "auto":
        if wanted not in able:
            raise ValueError(f"simulate: engine {wanted!r} cannot run {rule.name}; engines that can: auto, {', '.join(able)}")
        return able[wanted]
    preferred = ("lockstep", "dense") if n_arms <= FEW_ARMS else ("lazy", "sparse", "dense")
    return next(able[name] for name in preferred if name in able)
