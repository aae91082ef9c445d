"""Natural policy gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.compiled import compiled
from .. import schedules
from ..schedules import LearningRate, learning_rate_at
from .rule import TwoScalarRule


@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """NPG (Algorithm 3): theta += alpha (R / p(a)) e_a."""
    return learning_rate_at(t, hyper[0]) * reward / probability, 0.0


@dataclass(frozen=True, kw_only=True)
class NPG(TwoScalarRule):
    """Natural policy gradient (paper: Algorithm 3; Chung et al. 2021).

        theta <- theta + alpha (R / p(a)) e_a

    learning_rate: alpha, a number or a `Schedule`.
    """

    name = "npg"
    place = "Algorithm 3"
    lift_and_drain = staticmethod(lift_and_drain)
    conserves_sum = False
    drains = False

    learning_rate: LearningRate

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return (schedules.as_numbers(self.learning_rate),)

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """alpha r, which is the natural gradient: F r = grad J."""
        return np.asarray(learning_rate_at(t, *self.hyper(len(policy))) * means)
