"""c* = sup_t E[1/p_t(a*)^2], the constant the bounded-c* theorems hide, estimated from a record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base import validate
from ..record import Record
from ..statistics import percentile_interval, resampling_weights


@dataclass(frozen=True)
class CStar:
    """An estimate of c*.

    value      the largest mean over runs of 1/p(a*)^2 among the record's checkpoints
    low, high  percentile bootstrap interval over runs
    step       where the largest mean was seen

    It is a lower estimate by nature: a supremum over checkpoints of a heavy-tailed mean, in which the rarest runs weigh most.
    """

    value: float
    low: float
    high: float
    step: int


def c_star(record: Record, *, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> CStar:
    """Estimate c* from the metric inverse_square_probability (runs, C) of a record.

    >>> import logbarrier as lb
    >>> record = lb.simulate(lb.SGB(learning_rate=0.1), lb.GapInstances(n_arms=3), horizon=50, runs=4, seed=0)
    >>> c_star(record).value >= 9.0
    True
    """
    if not 0 < validate.number("c_star", "level", level) < 1:
        raise ValueError(f"c_star: level must be between 0 and 1, got {level}")
    resamples = validate.integer("c_star", "resamples", resamples, 1)
    values = record["inverse_square_probability"]
    weights = resampling_weights(record.runs, validate.integer("c_star", "seed", seed, 0), resamples)
    low, high = percentile_interval((weights @ values).max(axis=1), level)
    means = values.mean(axis=0)
    worst = int(np.argmax(means))
    return CStar(value=float(means[worst]), low=float(low), high=float(high), step=int(record.steps[worst]))
