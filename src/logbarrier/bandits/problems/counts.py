"""Counts: Poisson rewards."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import validate
from ...engine.compiled import compiled
from ...engine.elementary import exp, log
from ...engine.gamma import log_gamma
from ...engine.random import reward_uniform
from .bandit import Bandit
from .bounded import uniform_noise
from .family import Family, around, instance_uniforms

FEW = 10.0  # means below it are drawn by inversion
MOST = 200  # counts of such an arm; P(more) is below 1e-180
LARGEST_MEAN = 1e9


@compiled
def poisson_by_inversion(u, mean):
    """Return the smallest count k with P(X <= k) >= u."""
    probability = exp(-mean)
    below, count = probability, 0
    while u > below and count < MOST:
        count += 1
        probability *= mean / count
        below += probability
    return float(count)


@compiled
def poisson_by_rejection(mean, stream):
    """Return a Poisson variate of mean >= 10 (Hoermann 1993, algorithm PTRS)."""
    width = 0.931 + 2.53 * math.sqrt(mean)
    tail = 0.02483 * width - 0.059
    inverse_alpha = 1.1239 + 1.1328 / (width - 3.4)
    certain = 0.9277 - 3.6224 / (width - 2.0)
    block = 0
    while True:
        block += 1
        u, v = reward_uniform(block, stream)
        u -= 0.5
        side = 0.5 - abs(u)
        count = math.floor((2.0 * tail / side + width) * u + mean + 0.43)
        if side >= 0.07 and v <= certain:
            return count
        if count < 0.0 or (side < 0.013 and v > side):
            continue
        if log(v * inverse_alpha / (tail / (side * side) + width)) <= count * log(mean) - mean - log_gamma(count + 1.0):
            return count


@compiled
def poisson_reward(noise, parameters, arm, stream):
    """R ~ Poisson(r(a))."""
    mean = parameters[0, arm]
    return poisson_by_inversion(noise, mean) if mean < FEW else float(poisson_by_rejection(mean, stream))


class PoissonBandit(Bandit):
    """R ~ Poisson(r(a)): counts, such as items in a basket. means (K,): r between 0 and 1e9.

    >>> import logbarrier as lb
    >>> lb.PoissonBandit(means=[1.5, 2.0]).optimal_arm
    1
    """

    noise = staticmethod(uniform_noise)
    reward_of = staticmethod(poisson_reward)

    def __init__(self, means: Any, *, allow_ties: bool = False) -> None:
        checked = validate.vector("PoissonBandit", "means", means)
        if checked.min() < 0 or checked.max() > LARGEST_MEAN:
            bad = checked.min() if checked.min() < 0 else checked.max()
            raise ValueError(f"PoissonBandit: means must be between 0 and {LARGEST_MEAN:g}, got {bad}")
        super().__init__(checked, allow_ties=allow_ties)


class CountInstances(Family):
    """Poisson rewards whose means are uniform on rate (1 - spread) .. rate (1 + spread), fresh for every run.

    rate: a typical count per decision. spread in (0, 1]: how far the arms differ from it, relatively.
    """

    bandit = PoissonBandit

    def __init__(self, n_arms: int, rate: float = 2.0, spread: float = 0.3) -> None:
        self.n_arms = validate.integer("CountInstances", "n_arms", n_arms, 2)
        self.rate = validate.positive_up_to("CountInstances", "rate", rate, LARGEST_MEAN / 2.0)
        self.spread = validate.positive_up_to("CountInstances", "spread", spread, 1.0)

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """Return the parameters (1, K) of a run: means."""
        _, uniforms = instance_uniforms(key, run, self.n_arms)
        return around(self.rate, self.spread, uniforms[:1])
