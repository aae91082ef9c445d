"""Stochastic gradient bandit: REINFORCE on a softmax over arms."""

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
    """SGB (Algorithm 1): theta += alpha R (e_a - p)."""
    step = learning_rate_at(t, hyper[0]) * reward
    return step, step


@dataclass(frozen=True, kw_only=True)
class SGB(TwoScalarRule):
    """Stochastic gradient bandit (paper: Algorithm 1; Mei et al. 2024).

        theta <- theta + alpha R (e_a - p)

    learning_rate: alpha, a number or a `Schedule`.

    >>> import logbarrier as lb
    >>> record = lb.simulate(lb.SGB(learning_rate=0.1), lb.GapInstances(n_arms=10), horizon=100, runs=2, seed=0)
    """

    name = "sgb"
    place = "Algorithm 1"
    lift_and_drain = staticmethod(lift_and_drain)

    learning_rate: LearningRate

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return (schedules.as_numbers(self.learning_rate),)

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """alpha grad J."""
        return np.asarray(learning_rate_at(t, *self.hyper(len(policy))) * policy_gradient(policy, means))
