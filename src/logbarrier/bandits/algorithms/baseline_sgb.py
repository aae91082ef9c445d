"""SGB with the average reward as baseline, as in Sutton and Barto's gradient bandit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.compiled import compiled
from .. import schedules
from ..schedules import LearningRate, learning_rate_at
from .rule import TwoScalarRule, policy_gradient


@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """SGB with baseline: theta += alpha (R - b)(e_a - p), b the mean of the rewards before this one."""
    step = learning_rate_at(t, hyper[0]) * (reward - memory.baseline)
    memory.pulls += 1.0
    memory.baseline += (reward - memory.baseline) / memory.pulls
    return step, step


@dataclass(frozen=True, kw_only=True)
class BaselineSGB(TwoScalarRule):
    """SGB with a reward baseline (Sutton and Barto 2018, section 2.8).

        theta <- theta + alpha (R - b)(e_a - p),   b = mean of all rewards before this one, 0 at first

    learning_rate: alpha, a number or a `Schedule`.
    """

    name = "baseline-sgb"
    place = "Section 2 (Sutton and Barto's gradient bandit)"
    lift_and_drain = staticmethod(lift_and_drain)
    memory = ("baseline", "pulls")

    learning_rate: LearningRate

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return (schedules.as_numbers(self.learning_rate),)

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """alpha grad J: a baseline moves no expectation."""
        return np.asarray(learning_rate_at(t, *self.hyper(len(policy))) * policy_gradient(policy, means))
