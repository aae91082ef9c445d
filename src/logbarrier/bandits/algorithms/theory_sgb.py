"""SGB with the learning rate that its convergence proof asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import Positive
from .rule import TwoScalarRule, policy_gradient
from .sgb import lift_and_drain


@dataclass(frozen=True, kw_only=True)
class TheorySGB(TwoScalarRule):
    """SGB with the constant step of its proof (Mei et al. 2024, as we read it).

        theta <- theta + alpha R (e_a - p),   alpha = minimum_gap^2 / (40 K^(3/2) r_max^3)

    minimum_gap > 0: the smallest difference between any two mean rewards. r_max > 0: a bound on the rewards.
    """

    name = "theory-sgb"
    place = "Tables 1 and 2, Mei et al. 2024"
    lift_and_drain = staticmethod(lift_and_drain)

    minimum_gap: Positive
    r_max: Positive = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.minimum_gap > 2 * self.r_max:
            raise ValueError(f"TheorySGB: minimum_gap must be at most 2 r_max = {2 * self.r_max:g}, got {self.minimum_gap:g}")

    def learning_rate(self, n_arms: int) -> float:
        """alpha for K arms."""
        return float((self.minimum_gap / self.r_max) ** 2 / (40.0 * n_arms**1.5 * self.r_max))

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return ((self.learning_rate(n_arms), 0.0, 0.0),)

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """alpha grad J."""
        return np.asarray(self.learning_rate(len(policy)) * policy_gradient(policy, means))
