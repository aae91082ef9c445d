"""Exact policy gradient: given the mean rewards, it ascends J."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.compiled import compiled
from .. import schedules
from ..loops.policy import within_reach
from ..schedules import LearningRate, learning_rate_at
from .rule import policy_gradient
from .vector_rule import VectorRule


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """theta += alpha p (r - J), whatever was pulled."""
    theta, means = vectors
    value = 0.0
    for a in range(theta.shape[0]):
        value += policy[a] * means[a]
    alpha = learning_rate_at(t, hyper[0])
    for a in range(theta.shape[0]):
        theta[a] += within_reach(alpha * policy[a] * (means[a] - value))
    return True


@dataclass(frozen=True, kw_only=True)
class ExactPG(VectorRule):
    """Gradient ascent on J = sum_a p(a) r(a) itself (Mei et al. 2020): what SGB follows on average, without the noise.

        theta(a) <- theta(a) + alpha p(a) (r(a) - J)

    It is given the mean rewards r; arms are still drawn from p, so that regret is counted. With alpha = 2/5 the
    suboptimality after t steps is at most 5/(c^2 t), c = inf_t p_t(a*), for rewards in [0, 1].

    learning_rate: alpha, a number or a `Schedule`.
    """

    name = "exact-pg"
    place = "Related work, Mei et al. 2020"
    rows = ("theta", "means")
    knows_means = True
    learn = staticmethod(learn)

    learning_rate: LearningRate = 0.4

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return (schedules.as_numbers(self.learning_rate),)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """alpha grad J."""
        return np.asarray(learning_rate_at(t, *self.hyper(len(policy))) * policy_gradient(policy, means))
