"""Tsallis-INF: follow the regularised leader with the Tsallis entropy of order 1/2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.compiled import compiled
from ..loops.policy import within_reach
from .loss_rule import LossRule

MOST_ITERATIONS = 100


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """L(a) += B(a) + 1{a pulled} (loss - B(a))/p(a), B(a) = 1/2 where p(a) >= rate^2, else 0."""
    losses, (lowest, width) = vectors[0], hyper
    least = 16.0 / t  # the square of the rate
    loss = (lowest + width - reward) / width
    for a in range(losses.shape[0]):
        losses[a] += 0.5 if policy[a] >= least else 0.0
    losses[arm] += within_reach((loss - (0.5 if policy[arm] >= least else 0.0)) / probability)
    return True


@compiled
def weigh(t, vectors, memory, hyper, weights):
    """p(a) = (s + rate (L(a) - min L)/2)^-2, s such that p sums to 1.

    sum(p)^(-1/2) is concave and rises in s: Newton's method from s = 1, where the largest p alone is 1, never overshoots.
    """
    losses = vectors[0]
    half_rate = 2.0 / math.sqrt(t + 1.0)
    least = losses[0]
    for a in range(1, losses.shape[0]):
        least = min(least, losses[a])
    s = 1.0
    for _ in range(MOST_ITERATIONS):
        total, slope = 0.0, 0.0
        for a in range(losses.shape[0]):
            inverse = 1.0 / (s + half_rate * (losses[a] - least))
            weights[a] = inverse * inverse
            total += weights[a]
            slope += weights[a] * inverse
        further = s + (math.sqrt(total) - 1.0) * total / slope
        if not further > s:
            break
        s = further


@dataclass(frozen=True, kw_only=True)
class TsallisINF(LossRule):
    """Tsallis-INF (Zimmert and Seldin 2021): optimal up to constants for random rewards and for an adversary's.

        p = argmin <p, L> - (4/rate) sum_a sqrt(p(a)),   so   p(a) = 4/(rate (L(a) - x))^2,   rate = 4/sqrt(t)

    where L(a) sums reduced-variance estimates of losses in [0, 1]: with B = 1/2 where p(a) >= rate^2, else 0, each is
    B + 1{a pulled} (loss - B)/p(a). A loss is (highest - R)/(highest - lowest). Rewards outside the range enter as they come.

    lowest < highest: the range of a reward.
    """

    name = "tsallis-inf"
    rows = ("losses",)
    learn = staticmethod(learn)
    weigh = staticmethod(weigh)

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return self.range

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """The losses: their estimates are unbiased."""
        return self.losses_of(means)
