"""Exact policy gradient on the entropy-regularised value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import AtLeastZero
from ...engine.compiled import compiled
from ...engine.elementary import log
from .. import schedules
from ..loops.policy import SMALLEST_PROBABILITY, within_reach
from ..schedules import LearningRate, learning_rate_at
from .rule import policy_gradient
from .vector_rule import VectorRule


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """theta += alpha p (v - sum p v) with v = r - tau log p, whatever was pulled."""
    schedule, tau = hyper
    theta, values, means = vectors
    average = 0.0
    for a in range(theta.shape[0]):
        values[a] = means[a] - tau * log(max(policy[a], SMALLEST_PROBABILITY))
        average += policy[a] * values[a]
    alpha = learning_rate_at(t, schedule)
    for a in range(theta.shape[0]):
        theta[a] += within_reach(alpha * policy[a] * (values[a] - average))
    return True


@dataclass(frozen=True, kw_only=True)
class ExactEntropyPG(VectorRule):
    """Gradient ascent on J + tau H(p) itself (Mei et al. 2020): converges linearly, to p ~ exp(r/tau).

        theta(a) <- theta(a) + alpha p(a) (v(a) - sum_b p(b) v(b)),   v = r - tau log p

    It is given the mean rewards r; arms are still drawn from p. learning_rate: alpha, a number or a `Schedule`. tau >= 0: the
    temperature; the bias is at most tau log K.
    """

    name = "exact-entropy-pg"
    place = "Related work, Mei et al. 2020, entropy"
    rows = ("theta", "values", "means")
    knows_means = True
    learn = staticmethod(learn)

    learning_rate: LearningRate = 0.4
    tau: AtLeastZero = 0.01

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return schedules.as_numbers(self.learning_rate), float(self.tau)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """alpha grad (J + tau H)."""
        schedule, tau = self.hyper(len(policy))
        return np.asarray(learning_rate_at(t, schedule) * policy_gradient(policy, means - tau * np.log(policy)))
