"""Thompson sampling in the space of features: pull the best arm of a sampled weight vector."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import Positive
from ...engine.compiled import compiled
from ...engine.random import ARM, philox, standard_normal, uniform
from .feature_rule import add_along, n_features_in
from .lin_ucb import RidgeRule, learn_ridge

SAMPLES = 256  # of w at every step, one of which is drawn
KEY = np.array([0x9E3779B97F4A7C15, 0xD1B54A32D192ED03], dtype=np.uint64)  # of all samples: p depends on the step alone


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """The posterior mean of every arm, and A^-1."""
    learn_ridge(arm, reward, vectors, 1, np.empty(vectors.shape[1]))
    return True


@compiled
def fill_factor(inverse, m, factor):
    """factor (m, m) lower, factor factor' = A^-1."""
    for j in range(m):
        for k in range(j, m):
            value = 0.5 * (inverse[k * m + j] + inverse[j * m + k])
            for i in range(j):
                value -= factor[k, i] * factor[j, i]
            if k == j:
                factor[j, j] = math.sqrt(max(value, 0.0))
            else:
                factor[k, j] = value / factor[j, j] if factor[j, j] > 0.0 else 0.0


@compiled
def best_of_sample(number, t, vectors, scale, factor, scores):
    """The arm of the largest phi . w for sample `number` of w ~ N(mean, scale^2 A^-1) of step t."""
    m = factor.shape[0]
    features, direction = vectors[1 : 1 + m], np.zeros(m)
    for j in range(m):
        normal = scale * standard_normal(uniform(philox(t, number * m + j, 0, ARM, KEY)[0]))
        for k in range(j, m):
            direction[k] += factor[k, j] * normal
    for a in range(scores.shape[0]):
        scores[a] = vectors[0, a]
    add_along(scores, direction, features)
    best = 0
    for a in range(1, scores.shape[0]):
        if scores[a] > scores[best]:
            best = a
    return best


@compiled
def factor_of(vectors):
    """The factor of A^-1 among the vectors."""
    rows, n_arms = vectors.shape
    m = n_features_in(rows, 1, n_arms)
    factor = np.zeros((m, m))
    fill_factor(vectors[1 + m :].reshape(-1), m, factor)
    return factor


@compiled
def weigh(t, vectors, memory, hyper, weights):
    """p(a) is the share of the step's samples whose best arm is a."""
    factor, scores = factor_of(vectors), np.empty(weights.shape[0])
    for a in range(weights.shape[0]):
        weights[a] = 0.0
    for number in range(SAMPLES):
        weights[best_of_sample(number, t, vectors, hyper[0], factor, scores)] += 1.0


@compiled
def draw(u, t, policy, vectors, memory, hyper, stream):
    """The best arm of one of the step's samples."""
    number = min(int(u * SAMPLES), SAMPLES - 1)
    return best_of_sample(number, t, vectors, hyper[0], factor_of(vectors), np.empty(vectors.shape[1]))


@dataclass(frozen=True, kw_only=True)
class LinThompson(RidgeRule):
    """Thompson sampling for linear rewards (Agrawal and Goyal 2013) with known features phi of the arms.

        pull the largest of phi_a . v,   v ~ N(w, scale^2 A^-1),   A = ridge I + sum phi phi',  w = A^-1 sum R phi

    At every step 256 samples of v are fixed in advance and one of them is drawn. So the probabilities that agents report are
    exactly those with which arms are drawn: multiples of 1/256.

    scale > 0: the deviation of a reward. ridge > 0: (scale/deviation of the entries of w before any reward)^2.

    >>> import logbarrier as lb
    >>> record = lb.simulate(lb.LinThompson(), lb.FeatureInstances(n_arms=100, n_features=5), horizon=100, runs=2, seed=0)
    """

    name = "lin-thompson"
    rows = ("estimates",)
    learn = staticmethod(learn)
    weigh = staticmethod(weigh)
    draw = staticmethod(draw)

    scale: Positive = 1.0

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return (float(self.scale),)
