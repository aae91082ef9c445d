"""SGB with a log-linear policy on J + log det F/eta: the log barrier in the space of features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import Positive
from ...engine.compiled import compiled
from .. import schedules
from ..schedules import LearningRate, learning_rate_at
from .feature_rule import FeatureRule, add_along, dot

AT_ONCE = 200_000  # K m^2 up to which the gradient of log det F is computed at every step; above, at every m-th
LEAST = 1e-14  # of the trace of F: smaller pivots are those of dependent features


@compiled
def fill_centred(policy, features, centred):
    """centred (m, K) <- phi - E_p phi."""
    for j in range(features.shape[0]):
        mean = dot(policy, features[j])
        for a in range(policy.shape[0]):
            centred[j, a] = features[j, a] - mean


@compiled
def fill_push(policy, features, push):
    """push (K,) <- phi' c, c = sum_a p(a) b(a) g(a) the gradient of log det F in w, b = g' F^-1 g, F = sum p g g'."""
    m, n_arms = features.shape
    centred, weighted, factor = np.empty((m, n_arms)), np.empty(n_arms), np.zeros((m, m))
    fill_centred(policy, features, centred)
    trace = 0.0
    for j in range(m):
        for a in range(n_arms):
            weighted[a] = policy[a] * centred[j, a]
        for k in range(j, m):
            factor[k, j] = dot(weighted, centred[k])
        trace += factor[j, j]
    least = LEAST * trace
    for j in range(m):  # Cholesky, column by column
        for i in range(j):
            for k in range(j, m):
                factor[k, j] -= factor[k, i] * factor[j, i]
        pivot = math.sqrt(max(factor[j, j], least))
        for k in range(j, m):
            factor[k, j] = factor[k, j] / pivot if pivot > 0.0 else 0.0
        factor[j, j] = pivot
    for a in range(n_arms):
        weighted[a] = 0.0
    whitened = np.empty((m, n_arms))
    for j in range(m):  # forward substitution for all arms; weighted becomes b, then p b
        for a in range(n_arms):
            whitened[j, a] = centred[j, a]
        for i in range(j):
            for a in range(n_arms):
                whitened[j, a] -= factor[j, i] * whitened[i, a]
        inverse = 1.0 / factor[j, j] if factor[j, j] > 0.0 else 0.0
        for a in range(n_arms):
            whitened[j, a] *= inverse
            weighted[a] += whitened[j, a] * whitened[j, a]
    for a in range(n_arms):
        weighted[a] *= policy[a]
        push[a] = 0.0
    gradient = np.empty(m)
    for j in range(m):
        gradient[j] = dot(weighted, centred[j])
    add_along(push, gradient, features)


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """w += alpha [R (phi_a - E_p phi) + (1/eta) grad log det F], as theta += phi' w."""
    schedule, barrier = hyper
    theta, push, features = vectors[0], vectors[1], vectors[2:]
    m = features.shape[0]
    if policy.shape[0] * m * m <= AT_ONCE or t % m == 1:
        fill_push(policy, features, push)
    alpha = learning_rate_at(t, schedule)
    direction = np.empty(m)
    for j in range(m):
        direction[j] = alpha * reward * (features[j, arm] - dot(policy, features[j]))
    add_along(theta, direction, features)
    for a in range(theta.shape[0]):
        theta[a] += alpha * barrier * push[a]
    return True


@dataclass(frozen=True, kw_only=True)
class LogDetSGB(FeatureRule):
    """Stochastic gradient bandit with the policy p ∝ exp(w . phi) on J + log det F/eta, F = Cov_p(phi) its Fisher matrix.

        w <- w + alpha [R (phi_a - E_p phi) + (1/eta) sum_a p(a) b(a) g(a)],   g = phi - E_p phi,  b = g' F^-1 g

    The barrier keeps the policy spread over every direction of the features. Over all policies its maximum loses at most m/eta,
    where the barrier on K arms loses K/eta. With one feature per arm it is `LogBarrierSGB`. The gradient of log det F is exact.
    It is computed at every step if K m^2 is at most 200,000, else at every m-th step, which costs as much as the step itself.

    learning_rate: alpha, a number or a `Schedule`. eta > 0: larger is a weaker barrier.

    >>> import logbarrier as lb
    >>> problem = lb.FeatureInstances(n_arms=100, n_features=5)
    >>> record = lb.simulate(lb.LogDetSGB(learning_rate=0.5, eta=1000.0), problem, horizon=100, runs=2, seed=0)
    """

    name = "log-det-sgb"
    place = "outside the paper"
    rows = ("theta", "push")
    learn = staticmethod(learn)

    learning_rate: LearningRate
    eta: Positive

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return schedules.as_numbers(self.learning_rate), 1.0 / float(self.eta)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """alpha phi' [Cov_p(phi, r) + (1/eta) sum p b g]."""
        schedule, barrier = self.hyper(len(policy))
        phi = self.features_in(vectors)
        g = phi - (phi @ policy)[:, None]
        bonus = np.einsum("ja,jk,ka->a", g, np.linalg.pinv((policy * g) @ g.T, rcond=1e-12, hermitian=True), g)
        slope = g @ (policy * (means + barrier * bonus))
        return np.asarray(learning_rate_at(t, schedule) * (slope @ phi))
