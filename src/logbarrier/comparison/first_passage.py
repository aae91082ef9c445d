"""First passage: after how many pulls an expected suboptimality is first at or below epsilon.

There are two curves: of the last iterate, E[r* - J(theta_t)], and of the average iterate, E[regret_t]/t. The first time
counts, even where the curve rises above epsilon later, because a sample complexity is about the policy one may stop with.
Whether it is above epsilon again at the horizon is noted with it. A curve that never gets there is censored: nan.
"""

from __future__ import annotations

import numpy as np

from ..bandits.algorithms.rule import Rule
from ..record import Record


def last_iterate(record: Record, rule: Rule) -> np.ndarray:
    """Suboptimality of the policy at each checkpoint but the first, per run (runs, C - 1).

    A rule without preferences may pull one arm for certain, so that its suboptimality is 0 or a gap and the mean of N runs a
    multiple of gap/N. Of such rules it is the regret per pull over the latter half of the pulls so far.
    """
    if rule.has_preferences:
        return record["suboptimality"][:, 1:]
    regret, now = record["regret"], record.steps[1:]
    after = np.searchsorted(record.steps, now / 2)
    share = (now / 2 - record.steps[after - 1]) / (record.steps[after] - record.steps[after - 1])
    halfway = regret[:, after - 1] + share * (regret[:, after] - regret[:, after - 1])
    return np.asarray((regret[:, 1:] - halfway) / (now / 2))


def average_iterate(record: Record, rule: Rule) -> np.ndarray:
    """Regret per pull so far at each checkpoint but the first, per run (runs, C - 1); for any rule."""
    return np.asarray(record["regret"][:, 1:] / record.steps[1:])


def first_passage(steps: np.ndarray, curves: np.ndarray, epsilon: float) -> np.ndarray:
    """The first time (...) at which each of `curves` (..., C), taken at `steps` (C,) >= 1, is at or below epsilon.

    Between two checkpoints a curve is taken to be straight against log t; nan where it never gets there.

    >>> first_passage(np.array([1, 10, 100]), np.array([[0.8, 0.4, 0.2], [0.8, 0.7, 0.6]]), 0.3).round(1)
    array([31.6,  nan])
    """
    below = curves <= epsilon
    after = np.argmax(below, axis=-1)
    before = np.maximum(after - 1, 0)
    value_before, value_after = (np.take_along_axis(curves, i[..., None], axis=-1)[..., 0] for i in (before, after))
    fall = value_before - value_after
    share = np.divide(value_before - epsilon, fall, out=np.ones_like(fall), where=fall > 0)
    log_steps = np.log(steps)
    times = np.exp(log_steps[before] + share * (log_steps[after] - log_steps[before]))
    return np.where(below.any(axis=-1), times, np.nan)
