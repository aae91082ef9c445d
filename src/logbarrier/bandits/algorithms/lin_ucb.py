"""LinUCB: optimism in the space of features, no policy gradient."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import AtLeastZero, Positive
from ...engine.compiled import compiled
from ..loops.vectors import largest
from .arm_means import by_largest
from .feature_rule import FeatureRule, add_along, n_features_in


@compiled
def learn_ridge(arm, reward, vectors, first, covariances):
    """Recursive least squares: estimates (K,) = phi' w, w = A^-1 sum R phi, A = ridge I + sum phi phi'; A^-1 is kept.

    first rows come before the features; covariances (K,) <- phi' A^-1 phi_arm. Returns 1 + phi_arm' A^-1 phi_arm.
    """
    rows, n_arms = vectors.shape
    m = n_features_in(rows, first, n_arms)
    features, inverse = vectors[first : first + m], vectors[first + m :].reshape(-1)
    direction = np.zeros(m)  # A^-1 phi_arm
    for j in range(m):
        for k in range(m):
            direction[j] += inverse[j * m + k] * features[k, arm]
    for a in range(n_arms):
        covariances[a] = 0.0
    add_along(covariances, direction, features)
    size = 1.0 + covariances[arm]
    error = (reward - vectors[0, arm]) / size
    for a in range(n_arms):
        vectors[0, a] += error * covariances[a]
    for j in range(m):
        for k in range(m):
            inverse[j * m + k] -= direction[j] * direction[k] / size
    return size


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """Estimates, and leverages phi' A^-1 phi by the same formula of Sherman and Morrison."""
    leverages, covariances = vectors[1], np.empty(vectors.shape[1])
    size = learn_ridge(arm, reward, vectors, 2, covariances)
    for a in range(leverages.shape[0]):
        leverages[a] = max(leverages[a] - covariances[a] * covariances[a] / size, 0.0)
    return True


@compiled
def fill_bounds(t, vectors, hyper, bounds):
    """bounds (K,) <- w . phi + c sqrt(phi' A^-1 phi); returns the largest."""
    for a in range(bounds.shape[0]):
        bounds[a] = vectors[0, a] + hyper[0] * math.sqrt(vectors[1, a])
    return largest(bounds)


weigh, draw = by_largest(fill_bounds)


@dataclass(frozen=True, kw_only=True)
class RidgeRule(FeatureRule):
    """The base of rules that estimate w by ridge regression of rewards on features."""

    place = "outside the paper"
    has_preferences = False
    squares = True

    ridge: Positive = 1.0

    def vectors_with(self, theta: np.ndarray, means: np.ndarray | None, features: np.ndarray | None) -> np.ndarray:
        vectors = super().vectors_with(theta, means, features)
        phi = self.features_in(vectors)
        vectors[len(self.rows) + len(phi) :].reshape(-1)[: phi.shape[0] ** 2] = np.eye(len(phi)).ravel() / self.ridge
        return vectors

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """sum_x p(x) (r(x) - w . phi_x) phi' A^-1 phi_x/(1 + phi_x' A^-1 phi_x)."""
        phi = self.features_in(vectors)
        inverse = vectors[len(self.rows) + len(phi) :].reshape(-1)[: len(phi) ** 2].reshape(len(phi), len(phi))
        covariances = phi.T @ inverse @ phi
        return np.asarray(covariances @ (policy * (means - vectors[0]) / (1.0 + np.diag(covariances))))


@dataclass(frozen=True, kw_only=True)
class LinUCB(RidgeRule):
    """LinUCB (Li, Chu, Langford and Schapire 2010) for fixed arms with known features phi.

        pull the largest of w . phi_a + c sqrt(phi_a' A^-1 phi_a),   A = ridge I + sum phi phi',  w = A^-1 sum R phi

    c >= 0: how optimistic, in units of reward. ridge > 0: how small w is believed to be. A step costs O(K m).

    >>> import logbarrier as lb
    >>> record = lb.simulate(lb.LinUCB(), lb.FeatureInstances(n_arms=100, n_features=5), horizon=100, runs=2, seed=0)
    """

    name = "lin-ucb"
    rows = ("estimates", "leverages")
    never_negative = ("leverages",)
    learn = staticmethod(learn)
    weigh = staticmethod(weigh)
    draw = staticmethod(draw)

    c: AtLeastZero = 1.0

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return (float(self.c),)

    def vectors_with(self, theta: np.ndarray, means: np.ndarray | None, features: np.ndarray | None) -> np.ndarray:
        vectors = super().vectors_with(theta, means, features)
        vectors[1] = (self.features_in(vectors) ** 2).sum(axis=0) / self.ridge
        return vectors
