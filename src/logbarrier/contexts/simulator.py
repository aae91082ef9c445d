"""simulate: a rule on a contextual problem, many seeded runs, measured at checkpoints."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import validate
from ..base.failure import WrongTypeError
from ..base.runs import LARGEST_STEP, Progress, Reporter, Runs, checkpoint_steps, metric_names, run_all
from ..engine.code_hash import classes_of
from ..engine.compiled import from_python
from ..engine.random import stream_key
from ..record import Record
from .algorithms import Rule
from .loop import INVERSE, LEAST, OPTIMAL, REGRET, REWARD, Job, Ring, loop_kernel
from .problems import ContextSource
from .regression import FIRST, count, new_regressions, rebuild, start
from .scaling import fit, is_due, new_scaling, scaled

METRICS = ("regret", "reward", "optimal_probability", "harmonic_propensity", "min_propensity", "restarts")
RANGES = {
    "optimal_probability": (0.0, 1.0),
    "harmonic_propensity": (0.0, 1.0),
    "min_propensity": (0.0, 1.0),
    "restarts": (0.0, np.inf),
}
DEFAULT_CHECKPOINTS = 51
BLOCK = 1024  # steps whose contexts are drawn together


def simulate(
    rule: Rule,
    problem: ContextSource,
    *,
    horizon: int,
    runs: int = 1,
    seed: int = 0,
    checkpoints: int | Sequence[int] | None = None,
    spacing: str = "linear",
    metrics: Sequence[str] | None = None,
    threads: int | None = None,
    first_run: int = 0,
    progress: bool | Progress = False,
) -> Record:
    """Let `rule` decide in `problem` for `horizon` steps, `runs` times, and measure at the checkpoints.

    rule         a contextual rule, such as contexts.ContextualBarrier()
    problem      contexts.LinearContexts(...), SegmentedClicks(...), ClassificationBandit(X, y), or your own
    seed         runs first_run .. first_run + runs - 1 of this seed; each is a pure function of (seed, run number)
    checkpoints  the steps to measure at, or how many; 0 and the horizon are always among them; 51 by default
    metrics      names from contexts.METRICS; all by default
    threads      how many runs at once; all cores by default

    regret               sum over the steps of the best mean reward at the context minus that of the arm drawn
    reward               sum of the rewards
    optimal_probability  mean probability of the best arm, so far
    harmonic_propensity  harmonic mean of the probabilities of all arms, so far: the value of the uniform policy can be
                         estimated from n decisions with variance at most 1/(n K times it), for rewards of size at most 1
    min_propensity       least propensity of a drawn arm so far
    restarts             how often a candidate replaced the memory after a change
    """
    horizon = validate.integer("simulate", "horizon", horizon, 1, LARGEST_STEP)
    asked = Runs.asked(runs, seed, first_run, threads)
    names = metric_names(metrics, METRICS)
    marks = checkpoint_steps(checkpoints, spacing, horizon, DEFAULT_CHECKPOINTS)
    validate.instance("simulate", "rule", rule, Rule, "a contextual rule such as contexts.ContextualBarrier()")
    if not all(hasattr(problem, name) for name in ("rows", "n_arms", "n_features")) or isinstance(problem, type):
        raise WrongTypeError(f"simulate: problem must be contextual, such as contexts.LinearContexts(5, 10), got {problem!r}")
    ContextualRun(rule, problem, stream_key(asked.seed), asked.first).advance(1)  # compiles before the clock starts
    started = time.perf_counter()
    measured = _run(rule, problem, asked, marks, names, progress)
    sizes = {"n_arms": problem.n_arms, "n_features": problem.n_features, "horizon": horizon}
    return Record(
        marks,
        {name: np.ascontiguousarray(measured[:, :, i]) for i, name in enumerate(names)},
        settings={"rule": rule.to_dict(), "problem": problem.to_dict(), **sizes, **asked.settings},
        provenance=asked.provenance("contexts", started),
        ranges=RANGES,
    )


def code_roots(rule: Rule, problem: ContextSource) -> tuple[Any, ...]:
    """Return the classes and functions whose code hash covers all that the numbers of a simulation depend on."""
    return *classes_of(rule), *classes_of(problem), simulate


def _run(
    rule: Rule, problem: ContextSource, asked: Runs, marks: np.ndarray, names: Sequence[str], progress: bool | Progress
) -> np.ndarray:
    """The metrics of these names (runs, marks, names) of all runs."""
    key, stop = stream_key(asked.seed), threading.Event()
    measured = np.empty((asked.count, len(marks), len(names)))
    with Reporter(progress, asked.count * int(marks[-1])) as report:

        def one_run(index: int) -> None:
            current = ContextualRun(rule, problem, key, asked.first + index)
            for c, mark in enumerate(marks.tolist()):
                while current.time < mark:
                    if stop.is_set():
                        return
                    report(current.advance(mark))
                values = current.measured()
                measured[index, c] = [values[name] for name in names]

        run_all(one_run, asked.count, asked.threads, stop)
    return measured


class ContextualRun:
    """One run in progress."""

    def __init__(self, rule: Rule, problem: ContextSource, key: np.ndarray, run: int) -> None:
        self._rule, self._problem, self._key, self._run = rule, problem, key, run
        self.time = 0
        size, places = problem.n_features + 1, problem.delay + 1
        state = new_regressions(problem.n_arms, size, rule.follows_changes)
        from_python(start)(state, rule.ridge)
        ring = Ring(np.zeros((places, size)), np.zeros(places, dtype=np.int64), np.zeros(places))
        self._scaling, self._is_number = new_scaling(problem.n_features), np.zeros(problem.n_features, dtype=bool)
        firsts = np.zeros(FIRST, dtype=np.int64), np.zeros(FIRST)
        totals = np.array([0.0, 0.0, 0.0, 0.0, 1.0])
        self._job = Job(
            state, ring, *firsts, totals, rule.hyper, float(rule.ridge), rule.counts_pending, float(problem.scale), key, run
        )
        self._loop = loop_kernel(rule.weigh, problem.reward_of)
        self._block: tuple[np.ndarray, np.ndarray] | None = None

    def advance(self, until: int) -> int:
        """Go on up to step `until`, the end of a block or the next estimate of the scale; return the steps made."""
        offset = self.time % BLOCK
        if offset == 0 or self._block is None:
            self._block = self._problem.rows(self._key, self._run, self.time - offset, BLOCK)
        contexts, means = self._block
        end = min(until, self.time - offset + BLOCK)
        if self.time < FIRST:
            if is_due(self.time + 1):
                self._rescale(contexts[: self.time + 1])
            end = next(t for t in range(self.time + 1, end + 1) if t == end or is_due(t + 1))
        rows = slice(offset, offset + end - self.time)
        self._loop(self._job, scaled(self._scaling, contexts[rows]), np.ascontiguousarray(means[rows]), self.time)
        made, self.time = end - self.time, end
        return made

    def _rescale(self, raw: np.ndarray) -> None:
        """Estimate the scale from the contexts so far, the present one included, and learn from the rewards so far again."""
        fit(self._scaling, raw, self._is_number)
        contexts, job = scaled(self._scaling, raw), self._job
        rewarded = max(self.time - self._problem.delay, 0)
        from_python(rebuild)(job.state, contexts, job.first_arms, job.first_rewards, np.arange(rewarded), job.ridge)
        size = len(job.ring.arms)
        for t in range(rewarded, self.time):
            job.ring.contexts[t % size] = contexts[t]
            if job.counts_pending:
                from_python(count)(job.state, int(job.first_arms[t]), contexts[t], 1.0)

    def measured(self) -> dict[str, float]:
        """Every metric, now."""
        totals, steps = self._job.totals, max(self.time, 1)
        return {
            "regret": totals[REGRET],
            "reward": totals[REWARD],
            "optimal_probability": totals[OPTIMAL] / steps,
            "harmonic_propensity": steps / totals[INVERSE] / self._problem.n_arms if self.time else 1.0 / self._problem.n_arms,
            "min_propensity": totals[LEAST],
            "restarts": self._job.state.restarts[0],
        }
