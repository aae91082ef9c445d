"""KL-UCB: the upper confidence bound for clicks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...engine.compiled import compiled
from ...engine.elementary import exp, log
from .arm_means import ArmMeanRule, by_largest

MOST_ITERATIONS = 60
SLACK = 1e-9  # relative; a bound that is surely below the largest so far need not be computed


@compiled
def divergence(p, q):
    """KL(p || q) of two Bernoulli distributions, 0 <= p <= q < 1."""
    first = p * log(p / q) if p > 0.0 else 0.0
    return first + ((1.0 - p) * log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0)


@compiled
def upper_bound(mean, level):
    """The largest q with KL(mean || q) <= level; Newton's method from above, where the convex KL never lets it pass.

    The start is the root of two lower bounds of KL, 2 (q - mean)^2 and (q - mean)^2/(2 q).
    """
    if mean >= 1.0 or level <= 0.0:
        return mean
    if mean <= 0.0:
        return 1.0 - exp(-level)
    q = mean + min(math.sqrt(level / 2.0), level + math.sqrt(level * (level + 2.0 * mean)))
    q = min(q, 1.0 - 1e-16)
    for _ in range(MOST_ITERATIONS):
        further = q - (divergence(mean, q) - level) * q * (1.0 - q) / (q - mean)
        if not further < q:
            break
        q = further
    return max(q, mean)


@compiled
def fill_bounds(t, vectors, hyper, bounds):
    """bounds (K,) <- largest q with n(a) KL(m(a) || q) <= log t, infinite for arms never pulled; returns the largest.

    Bounds that are surely not the largest are left at -infinity: one KL decides that.
    """
    means, counts = vectors
    level, top = log(max(float(t), 1.0)), -math.inf
    for a in range(means.shape[0]):
        mean = min(max(means[a], 0.0), 1.0)
        if counts[a] <= 0.0:
            bounds[a] = math.inf
        elif mean < top < 1.0 and counts[a] * divergence(mean, top) > level * (1.0 + SLACK) + SLACK:
            bounds[a] = -math.inf
        else:
            bounds[a] = upper_bound(mean, level / counts[a])
        top = max(top, bounds[a])
    return top


weigh, draw = by_largest(fill_bounds)


@dataclass(frozen=True, kw_only=True)
class KLUCB(ArmMeanRule):
    """KL-UCB (Garivier and Cappe 2011), for rewards between 0 and 1: optimal in the limit for clicks.

        pull the arm of the largest q with n(a) KL(m(a) || q) <= log t

    KL between Bernoulli distributions, t the pulls so far; arms never pulled come first. It has nothing to set. A mean outside
    [0, 1] counts as the nearest one inside.
    """

    name = "kl-ucb"
    weigh = staticmethod(weigh)
    draw = staticmethod(draw)

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return (0.0,)
