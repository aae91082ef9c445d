"""The policy itself along one run, where a Record keeps only metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base import validate
from ..base.runs import LARGEST_STEP
from ..engine.random import stream_key
from .algorithms.rule import Rule
from .engines import Stops, choose
from .metrics import METRICS
from .problems import ProblemSource
from .starts import as_start


def policies(
    rule: Rule, problem: ProblemSource, *, steps: Sequence[int] | np.ndarray, run: int = 0, seed: int = 0, start: Any = None
) -> Iterator[np.ndarray]:
    """The policy (K,) of one run after each of `steps` (ascending), one at a time, as the run gets there.

    rule, problem, seed and start are those of `simulate`; run is the run's number. The run is flown on the dense engine, whose
    run 0 is also the agent's: simulate(..., engine="dense") has the same bits.

    >>> import logbarrier as lb
    >>> path = policies(lb.SGB(learning_rate=0.1), lb.GaussianBandit([0.1, 0.5, 0.3]), steps=[0, 10, 100])
    >>> [policy.shape for policy in path]
    [(3,), (3,), (3,)]
    """
    stops = np.array([validate.integer("policies", "step", step, 0, LARGEST_STEP) for step in steps])
    if len(stops) == 0 or (np.diff(stops) <= 0).any():
        raise ValueError("policies: steps must have at least one entry, each larger than the one before")
    number = validate.integer("policies", "run", run, 0, LARGEST_STEP)
    key = stream_key(validate.integer("policies", "seed", seed, 0))
    begin = as_start("policies", start, problem.n_arms)
    measured = np.empty((1, len(stops), len(METRICS)))
    engine_run, runs = choose(rule, problem.n_arms, "dense"), range(number, number + 1)
    current: Any = engine_run(rule, problem, begin, key, runs, Stops.with_checkpoints(stops, stops), measured)
    return _along(current, len(stops))


def _along(current: Any, count: int) -> Iterator[np.ndarray]:
    for c in range(count):
        current.advance(c, c + 1)
        yield current.probabilities
