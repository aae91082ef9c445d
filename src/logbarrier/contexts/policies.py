"""Policies from a model: probabilities of the arms from their estimated rewards and the uncertainty of these.

Each has the form weigh(values, widths, noise, t, hyper, stream, probabilities), for the arms (n,) that are available:
    values, widths   mu(a) and s(a)/sqrt(noise)
    noise            estimated variance of the rewards given arm and context
    t                number of decisions before this one
    stream           (key, t, run), for `fill_arm_normals`
"""

from __future__ import annotations

import math

import numpy as np

from ..engine.barrier_policy import barrier_weights
from ..engine.compiled import compiled
from ..engine.random import fill_arm_normals


@compiled
def largest(values):
    """The place of the largest value, the first of equal ones."""
    best = 0
    for a in range(1, values.shape[0]):
        if values[a] > values[best]:
            best = a
    return best


@compiled
def give_to_largest(values, probabilities, share):
    """Give `share` of the probability to the largest values, evenly among equal ones, and the rest to all."""
    n_arms, best, several = values.shape[0], values[largest(values)], 0
    for a in range(n_arms):
        several += values[a] == best
    for a in range(n_arms):
        probabilities[a] = (1.0 - share) / n_arms + (share / several if values[a] == best else 0.0)


@compiled
def weigh_barrier(values, widths, noise, t, hyper, stream, probabilities):
    """U(a) = mu(a) + alpha s(a); p maximises sum p U + (1/eta) sum log p with eta = K/(c s(argmax U))."""
    optimism, price = hyper
    deviation = math.sqrt(noise)
    upper = np.empty(values.shape[0])
    for a in range(values.shape[0]):
        upper[a] = values[a] + optimism * deviation * widths[a]
    spread = price * deviation * widths[largest(upper)]
    barrier_weights(upper, values.shape[0] / spread if spread > 0.0 else 0.0, probabilities)


@compiled
def weigh_upper_bound(values, widths, noise, t, hyper, stream, probabilities):
    """LinUCB: the largest mu(a) + alpha s(a), with s in units of the noise 1."""
    upper = np.empty(values.shape[0])
    for a in range(values.shape[0]):
        upper[a] = values[a] + hyper[0] * widths[a]
    give_to_largest(upper, probabilities, 1.0)


@compiled
def weigh_thompson(values, widths, noise, t, hyper, stream, probabilities):
    """Linear Thompson sampling: the largest of independent draws from N(mu(a), scale^2 width(a)^2)."""
    sampled = np.empty(values.shape[0])
    fill_arm_normals(sampled, stream)
    for a in range(values.shape[0]):
        sampled[a] = values[a] + hyper[0] * widths[a] * sampled[a]
    give_to_largest(sampled, probabilities, 1.0)


@compiled
def weigh_epsilon_greedy(values, widths, noise, t, hyper, stream, probabilities):
    """The largest mu(a) with probability 1 - epsilon, else any arm."""
    give_to_largest(values, probabilities, 1.0 - hyper[0])


@compiled
def weigh_square_cb(values, widths, noise, t, hyper, stream, probabilities):
    """SquareCB: p(a) = 1/(K + gamma_t (mu_best - mu(a))), gamma_t = gamma t^exponent; the best arm gets the rest."""
    n_arms, best, rest = values.shape[0], largest(values), 1.0
    gamma = hyper[0] * float(t + 1) ** hyper[1]
    for a in range(n_arms):
        if a != best:
            probabilities[a] = 1.0 / (n_arms + gamma * (values[best] - values[a]))
            rest -= probabilities[a]
    probabilities[best] = rest
