"""UCB1: optimism, no policy gradient."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...base.parameters import Positive
from ...engine.compiled import compiled
from ...engine.elementary import log
from ..loops.dense import learn_mean
from ..loops.vectors import largest
from .arm_means import ArmMeanRule, by_largest


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """The mean, the number n(a) and, kept since square roots of all arms would be most of a step, 1/sqrt(n(a))."""
    means, counts, widths = vectors
    learn_mean(means, counts, arm, reward)
    widths[arm] = 1.0 / math.sqrt(counts[arm])
    return True


@compiled
def fill_bounds(t, vectors, hyper, bounds):
    """bounds (K,) <- m(a) + c sqrt(log t) / sqrt(n(a)), infinite for arms never pulled; returns the largest."""
    means, _, widths = vectors
    width = hyper[0] * math.sqrt(log(max(float(t), 1.0)))
    for a in range(means.shape[0]):
        bounds[a] = means[a] + width * widths[a] if widths[a] > 0.0 else math.inf
    return largest(bounds)


weigh, draw = by_largest(fill_bounds)


@dataclass(frozen=True, kw_only=True)
class UCB1(ArmMeanRule):
    """UCB1 (Auer, Cesa-Bianchi and Fischer 2002): pull the arm of the largest upper confidence bound.

        m(a) + c sqrt(log t / n(a))

    with t the pulls so far; arms never pulled come first. c > 0: sqrt(2) is the paper's, for rewards in an interval of
    length 1; Gaussian rewards of deviation sigma ask for 2 sigma.
    """

    name = "ucb1"
    rows = ("means", "counts", "widths")
    learn = staticmethod(learn)
    weigh = staticmethod(weigh)
    draw = staticmethod(draw)

    c: Positive = 2.0

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return (float(self.c),)
