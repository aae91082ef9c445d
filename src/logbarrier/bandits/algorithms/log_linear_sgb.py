"""SGB with a log-linear policy: arms that look alike learn together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.compiled import compiled
from .. import schedules
from ..schedules import LearningRate, learning_rate_at
from .feature_rule import FeatureRule, add_along, dot


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """w += alpha R (phi_a - E_p phi), as theta += phi' w."""
    theta, features = vectors[0], vectors[1:]
    step = learning_rate_at(t, hyper[0]) * reward
    direction = np.empty(features.shape[0])
    for j in range(features.shape[0]):
        direction[j] = step * (features[j, arm] - dot(policy, features[j]))
    add_along(theta, direction, features)
    return True


@dataclass(frozen=True, kw_only=True)
class LogLinearSGB(FeatureRule):
    """Stochastic gradient bandit with the policy p ∝ exp(w . phi), phi (m, K) the features of the arms.

        w <- w + alpha R (phi_a - E_p phi)

    It learns m numbers instead of K. With one feature per arm it is `SGB`. The problem gives the features
    (`FeatureInstances`, `LinearBandit`, `Agent(features=)`). learning_rate: alpha, a number or a `Schedule`.

    >>> import logbarrier as lb
    >>> problem = lb.FeatureInstances(n_arms=100, n_features=5)
    >>> record = lb.simulate(lb.LogLinearSGB(learning_rate=0.5), problem, horizon=100, runs=2, seed=0)
    """

    name = "log-linear-sgb"
    place = "outside the paper"
    rows = ("theta",)
    learn = staticmethod(learn)

    learning_rate: LearningRate

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return (schedules.as_numbers(self.learning_rate),)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """alpha phi' Cov_p(phi, r)."""
        phi = self.features_in(vectors)
        slope = phi @ (policy * means) - (phi @ policy) * (policy @ means)
        return np.asarray(learning_rate_at(t, self.hyper(len(policy))[0]) * (slope @ phi))
