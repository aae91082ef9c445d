"""Exact policy gradient on the log-barrier objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import Positive
from ...engine.compiled import compiled
from ..loops.policy import within_reach
from .rule import policy_gradient
from .vector_rule import VectorRule


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """theta += step [p (r - J) + (weight/K)(1 - K p)], whatever was pulled."""
    step, weight = hyper
    theta, means = vectors
    n_arms = theta.shape[0]
    value = 0.0
    for a in range(n_arms):
        value += policy[a] * means[a]
    for a in range(n_arms):
        theta[a] += within_reach(step * (policy[a] * (means[a] - value) + weight * (1.0 / n_arms - policy[a])))
    return True


@dataclass(frozen=True, kw_only=True)
class ExactLogBarrierPG(VectorRule):
    """Gradient ascent on J + (weight/K) sum_a log p(a) itself (Agarwal et al. 2021, as we read it).

        theta <- theta + step [p (r - J) + (weight/K)(1 - K p)],   step = 1/(8 + 2 weight)

    It is given the mean rewards r; arms are still drawn from p. weight > 0: the barrier's, K/eta of `LogBarrierSGB`; for an
    accuracy of eps theirs is eps/2, and 320 K^2/eps^2 steps.
    """

    name = "exact-log-barrier-pg"
    place = "Related work, Agarwal et al. 2021"
    rows = ("theta", "means")
    knows_means = True
    learn = staticmethod(learn)

    weight: Positive

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return 1.0 / (8.0 + 2.0 * self.weight), float(self.weight)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """step grad (J + (weight/K) sum log p)."""
        step, weight = self.hyper(len(policy))
        return np.asarray(step * (policy_gradient(policy, means) + weight * (1 / len(policy) - policy)))
