"""simulate: a rule on a problem, many seeded runs, measured at checkpoints."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base import validate
from ..base.failure import WrongTypeError
from ..base.runs import LARGEST_STEP, Progress, Reporter, Runs, checkpoint_steps, metric_names, run_all
from ..engine.code_hash import classes_of, is_user_defined
from ..engine.random import stream_key
from ..record import Record
from .algorithms.rule import Rule
from .changing import ChangingBandits
from .engines import ENGINES, EngineRun, Stops, choose, make_ready
from .metrics import METRICS, RANGES
from .problems import ProblemSource
from .starts import Start, as_start

LARGEST_HORIZON = LARGEST_STEP
DEFAULT_CHECKPOINTS = 200
ARM_UPDATES_PER_PIECE = 100_000_000  # between two looks at the progress bar and at Ctrl-C, a tenth of a second
STEPS_PER_PIECE = 1_000_000  # the most, and the same for the engines whose step hardly depends on the arms
MOST_PIECES = 10_000


def simulate(
    rule: Rule,
    problem: ProblemSource,
    *,
    horizon: int,
    runs: int = 1,
    seed: int = 0,
    checkpoints: int | Sequence[int] | None = None,
    spacing: str = "linear",
    metrics: Sequence[str] | None = None,
    start: Any = None,
    engine: str = "auto",
    threads: int | None = None,
    chunk: int | None = None,
    first_run: int = 0,
    progress: bool | Progress = False,
) -> Record:
    """Run `rule` on `problem` for `horizon` steps, `runs` times, and measure at the checkpoints.

    rule         any rule, such as lb.LogBarrierSGB(learning_rate=0.1, eta=1000)
    problem      one fixed instance (lb.GaussianBandit, ...) or a family that draws one per run (lb.GapInstances, ...)
    seed         runs first_run .. first_run + runs - 1 of this seed; each is a pure function of (seed, run number)
    checkpoints  the steps to measure at, or how many; 0 and the horizon are always among them; about 200 by default
    spacing      "linear" or "log", for a number of checkpoints
    metrics      names from lb.METRICS; all by default
    start        None (uniform), K probabilities, or a description such as lb.OptimalArmAt(1e-3)
    engine       "auto" (by rule and number of arms), or one of "dense", "lockstep", "lazy", "sparse"; see docs/engine.md
    threads      how many at once; all cores by default
    chunk        steps between two looks at the progress bar and at Ctrl-C; at most 10 000 of them in a run
    progress     True for a bar on stderr, or a function of (steps done, steps in all)

    Threads, chunk and splitting the runs over calls change no bit; another engine changes rounding alone.

    >>> import logbarrier as lb
    >>> rule = lb.LogBarrierSGB(learning_rate=0.1, eta=1000)
    >>> record = lb.simulate(rule, lb.GapInstances(n_arms=10), horizon=1000, runs=8, seed=0, checkpoints=[10, 100])
    >>> record.steps
    array([   0,   10,  100, 1000])
    """
    horizon = validate.integer("simulate", "horizon", horizon, 1, LARGEST_HORIZON)
    asked = Runs.asked(runs, seed, first_run, threads)
    names = metric_names(metrics, METRICS)
    steps = checkpoint_steps(checkpoints, spacing, horizon, DEFAULT_CHECKPOINTS)
    begin = _checked_start(rule, problem, start, engine)
    engine_run = choose(rule, problem.n_arms, engine)
    route = _Route.along(steps, problem, chunk, engine_run)
    make_ready(engine_run, rule, problem)
    started = time.perf_counter()
    measured = _run(engine_run, rule, problem, begin, asked, route, progress)
    task = {"rule": rule.to_dict(), "problem": problem.to_dict(), "n_arms": problem.n_arms, "horizon": horizon}
    return Record(
        steps,
        {name: np.ascontiguousarray(measured[:, :, METRICS.index(name)]) for name in names},
        settings={**task, **asked.settings, "start": "uniform" if start is None else repr(start)},
        provenance=asked.provenance(engine_run.name, started),
        ranges=RANGES,
    )


def code_roots(rule: Rule, problem: ProblemSource, engine: str) -> tuple[Any, ...]:
    """Return the classes and functions whose code hash covers all that the numbers of a simulation depend on."""
    return *classes_of(rule), *classes_of(problem), choose(rule, problem.n_arms, engine), simulate


def _checked_start(rule: Rule, problem: ProblemSource, start: Any, engine: str) -> Start:
    """Where runs begin, if that and the rest of what they need is possible."""
    validate.choice("simulate", "engine", engine, ("auto", *ENGINES))
    validate.instance("simulate", "rule", rule, Rule, "a rule such as SGB(learning_rate=0.1)")
    if not all(hasattr(problem, name) for name in ("instance", "n_arms", "noise", "reward_of")) or isinstance(problem, type):
        raise WrongTypeError(f"simulate: problem must be a problem such as GapInstances(n_arms=10), got {problem!r}")
    if start is not None and not rule.has_preferences:
        raise ValueError(f"simulate: {rule.name} has no preferences that a start could set, so start must be None")
    refuse_known_means("simulate", rule, problem)
    return as_start("simulate", start, problem.n_arms)


def refuse_known_means(owner: str, rule: Rule, problem: ProblemSource) -> None:
    """A rule that is given the means at the start cannot know that they changed."""
    if rule.knows_means and isinstance(problem, ChangingBandits):
        raise ValueError(f"{owner}: {rule.name} is given the means once, so it cannot run on {problem!r}, which changes")


@dataclass(frozen=True)
class _Route:
    """Where the runs stop: at the checkpoints, where a problem changes, and for a look at the progress bar and at Ctrl-C.

    stops     steps at which a piece may end; the checkpoints among them are measured
    pieces    ranges of stops that cover all of them
    changing  the problem, if it changes
    """

    stops: Stops
    pieces: list[tuple[int, int]]
    changing: ChangingBandits | None

    @staticmethod
    def along(steps: np.ndarray, problem: ProblemSource, chunk: int | None, engine_run: type[EngineRun]) -> _Route:
        """Past all checkpoints; `chunk` steps lie between two looks, or what takes about a tenth of a second."""
        horizon, patience = int(steps[-1]), STEPS_PER_PIECE
        if engine_run.cost_grows:
            patience = max(min(patience, ARM_UPDATES_PER_PIECE // (problem.n_arms * engine_run.size)), 1)
        wanted = validate.integer("simulate", "chunk", patience if chunk is None else chunk, 1)
        chunk = max(wanted, horizon // MOST_PIECES)
        stops = np.union1d(steps, np.arange(0, horizon, chunk))
        if not isinstance(problem, ChangingBandits):
            return _Route(Stops.with_checkpoints(stops, steps), _pieces(stops, chunk), None)
        stops = np.union1d(stops, np.arange(0, horizon, problem.block))
        return _Route(Stops.with_checkpoints(stops, steps), _pieces(stops, 0), problem)


def _run(
    engine_run: type[EngineRun],
    rule: Rule,
    problem: ProblemSource,
    begin: Start,
    asked: Runs,
    route: _Route,
    progress: bool | Progress,
) -> np.ndarray:
    """All metrics (runs, checkpoints, metrics) of all runs."""
    key, stop, steps, changing = stream_key(asked.seed), threading.Event(), route.stops.steps, route.changing
    measured = np.empty((asked.count, route.stops.rows.max() + 1, len(METRICS)))

    with Reporter(progress, asked.count * int(steps[-1])) as report:

        def one_piece(index: int) -> None:
            lowest, highest = index * engine_run.size, min((index + 1) * engine_run.size, asked.count)
            numbers = range(asked.first + lowest, asked.first + highest)
            current = engine_run(rule, problem, begin, key, numbers, route.stops, measured[lowest:highest])
            before = 0
            for first, last in route.pieces:
                if stop.is_set():
                    return
                if changing is not None and first > 0 and steps[first - 1] % changing.block == 0:
                    current.face([changing.instance_at(key, run, int(steps[first - 1])) for run in numbers])
                done = current.advance(first, last)
                report(done - before)
                before = done

        pieces = -(-asked.count // engine_run.size)
        run_all(one_piece, pieces, asked.threads, stop, may_hang=is_user_defined(rule, problem))
    return measured


def _pieces(steps: np.ndarray, chunk: int) -> list[tuple[int, int]]:
    """Ranges of stops that cover all of them, each about `chunk` steps long."""
    bounds = [0]
    for c in range(1, len(steps)):
        if steps[c] - steps[max(bounds[-1] - 1, 0)] > chunk and c > bounds[-1]:
            bounds.append(c)
    return list(zip(bounds, [*bounds[1:], len(steps)], strict=True))
