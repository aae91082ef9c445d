"""Clicks: rewards of 0 and 1 at rates around a typical one."""

from __future__ import annotations

import numpy as np

from ...base import validate
from .bounded import BernoulliBandit
from .family import Family, around, instance_uniforms


class ClickInstances(Family):
    """Bernoulli rewards whose means are uniform on rate (1 - spread) .. rate (1 + spread), fresh for every run.

    rate: a typical click rate, such as 0.02. spread in (0, 1]: how far the arms differ from it, relatively.

    >>> import logbarrier as lb
    >>> bool(lb.ClickInstances(n_arms=12, rate=0.02, spread=0.25).problem(seed=0, run=0).optimal_reward < 0.025)
    True
    """

    bandit = BernoulliBandit

    def __init__(self, n_arms: int, rate: float = 0.02, spread: float = 0.3) -> None:
        self.n_arms = validate.integer("ClickInstances", "n_arms", n_arms, 2)
        self.rate = validate.positive("ClickInstances", "rate", rate)
        self.spread = validate.positive_up_to("ClickInstances", "spread", spread, 1.0)
        if self.rate * (1.0 + self.spread) > 1.0:
            largest = self.rate * (1.0 + self.spread)
            raise ValueError(f"ClickInstances: rate (1 + spread) must be at most 1, got {largest:g}")

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """Return the parameters (1, K) of a run: means."""
        _, uniforms = instance_uniforms(key, run, self.n_arms)
        return around(self.rate, self.spread, uniforms[:1])
