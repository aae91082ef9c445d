"""simulate: a rule on a problem, many seeded runs, measured at checkpoints."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import validate
from ..engine.random import stream_key
from ..engine.runs import Progress, Reporter, checkpoint_steps, fly_all, metric_names
from ..record import Record
from ..version import __version__
from .algorithms.rule import Rule
from .changing import ChangingBandits
from .flights import ENGINES, choose, make_ready
from .metrics import METRICS
from .problems import ProblemSource
from .starts import as_start

LARGEST_HORIZON = 2**32 - 1  # a step number is 32 bits of the random counter
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
    runs = validate.integer("simulate", "runs", runs, 1, LARGEST_HORIZON)
    seed = validate.integer("simulate", "seed", seed, 0)
    first_run = validate.integer("simulate", "first_run", first_run, 0, LARGEST_HORIZON - runs)
    threads = validate.integer("simulate", "threads", os.cpu_count() or 1 if threads is None else threads, 1)
    names = metric_names(metrics, METRICS)
    steps = checkpoint_steps(checkpoints, spacing, horizon, DEFAULT_CHECKPOINTS)
    validate.choice("simulate", "engine", engine, ("auto", *ENGINES))
    if not isinstance(rule, Rule):
        raise ValueError(f"simulate: rule must be a rule such as SGB(learning_rate=0.1), got {rule!r}")
    if not hasattr(problem, "instance") or isinstance(problem, type):
        raise ValueError(f"simulate: problem must be a problem such as GapInstances(n_arms=10), got {problem!r}")
    n_arms = problem.n_arms
    if start is not None and not rule.has_preferences:
        raise ValueError(f"simulate: {rule.name} has no preferences that a start could set, so start must be None")
    begin = as_start("simulate", start, n_arms)
    flight_type, key = choose(rule, n_arms, engine), stream_key(seed)
    patience = STEPS_PER_PIECE
    if flight_type.cost_grows:
        patience = max(min(patience, ARM_UPDATES_PER_PIECE // (n_arms * flight_type.size)), 1)
    wanted = validate.integer("simulate", "chunk", patience if chunk is None else chunk, 1)
    chunk = max(wanted, horizon // MOST_PIECES)
    stops = np.union1d(steps, np.arange(0, horizon, chunk))  # a piece ends at each; what is measured between is dropped
    changing = problem if isinstance(problem, ChangingBandits) else None
    if changing is not None:
        if rule.knows_means:
            raise ValueError(f"simulate: {rule.name} is told the means once, so it cannot run on {problem!r}, which changes")
        stops = np.union1d(stops, np.arange(0, horizon, changing.block))
    measured = np.empty((runs, len(stops), len(METRICS)))
    stop = threading.Event()
    make_ready(flight_type, rule, problem)
    started = time.perf_counter()

    with Reporter(progress, runs * horizon) as report:

        def one_flight(index: int) -> None:
            lowest, highest = index * flight_type.size, min((index + 1) * flight_type.size, runs)
            numbers = range(first_run + lowest, first_run + highest)
            flight = flight_type(rule, problem, begin, key, numbers, stops, measured[lowest:highest])
            before = 0
            for first, last in _pieces(stops, chunk if changing is None else 0):
                if stop.is_set():
                    return
                if changing is not None and first > 0 and stops[first - 1] % changing.block == 0:
                    flight.face([changing.instance_at(key, run, int(stops[first - 1])) for run in numbers])
                done = flight.advance(first, last)
                report(done - before)
                before = done

        fly_all(one_flight, -(-runs // flight_type.size), threads, stop)

    measured = measured[:, np.searchsorted(stops, steps)]
    return Record(
        steps,
        {name: np.ascontiguousarray(measured[:, :, METRICS.index(name)]) for name in names},
        settings={
            "rule": rule.to_dict(),
            "problem": problem.to_dict(),
            "n_arms": n_arms,
            "horizon": horizon,
            "runs": runs,
            "first_run": first_run,
            "seed": seed,
            "start": "uniform" if start is None else repr(start),
        },
        provenance={
            "engine": flight_type.name,
            "threads": threads,
            "seconds": round(time.perf_counter() - started, 4),
            "logbarrier": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "machine": platform.machine(),
        },
    )


def _pieces(steps: np.ndarray, chunk: int) -> list[tuple[int, int]]:
    """Ranges of checkpoints that cover all of them, each about `chunk` steps long."""
    bounds = [0]
    for c in range(1, len(steps)):
        if steps[c] - steps[max(bounds[-1] - 1, 0)] > chunk and c > bounds[-1]:
            bounds.append(c)
    return list(zip(bounds, [*bounds[1:], len(steps)], strict=True))
