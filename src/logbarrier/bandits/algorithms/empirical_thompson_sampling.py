"""Thompson sampling that estimates the noise of every arm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import between
from ...engine.compiled import compiled
from ..loops.dense import learn_mean
from ..loops.vectors import largest
from .arm_means import ArmMeanRule, draw_largest, weigh_largest
from .thompson_sampling import draw_largest_normal, weigh_normals

FIRST_PULLS = 2.0  # of every arm; less says nothing of noise
SMALLEST_DEVIATION = 1e-140


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """The mean, the number and S(a), the sum of squared deviations from the mean, of arm a's rewards; sum of all S."""
    means, counts, squares = vectors
    before = reward - means[arm]
    learn_mean(means, counts, arm, reward)
    grown = before * (reward - means[arm])
    squares[arm] += grown
    memory.squares += grown
    return True


@compiled
def fill_deviations(t, vectors, memory, hyper, deviations):
    """deviations (K,) <- of the beliefs about the means; returns whether any is above 0, False while arms lack first pulls.

    In that case deviations are scores instead: the arms of the largest are pulled.
    """
    means, counts, squares = vectors
    n_arms, pseudo_pulls = means.shape[0], hyper[0]
    fewest = counts[0]
    for a in range(1, n_arms):
        fewest = min(fewest, counts[a])
    pooled = memory.squares / max(t - n_arms, 1)
    if fewest < FIRST_PULLS or not pooled > 0.0:
        for a in range(n_arms):
            deviations[a] = means[a] if fewest >= FIRST_PULLS else (1.0 if counts[a] == fewest else 0.0)
        return False
    for a in range(n_arms):
        variance = (squares[a] + pseudo_pulls * pooled) / ((counts[a] + pseudo_pulls - 3.0) * counts[a])
        deviations[a] = max(math.sqrt(variance), SMALLEST_DEVIATION)
    return True


@compiled
def weigh(t, vectors, memory, hyper, weights):
    """The probability that a sample from each arm's belief is the largest."""
    deviations = np.empty(weights.shape[0])
    if fill_deviations(t, vectors, memory, hyper, deviations):
        weigh_normals(vectors[0], deviations, weights)
    else:
        weights[:] = deviations
        weigh_largest(weights, largest(weights))


@compiled
def draw(u, t, policy, vectors, memory, hyper, stream):
    """The arm of the largest sample."""
    deviations = np.empty(vectors.shape[1])
    if fill_deviations(t, vectors, memory, hyper, deviations):
        return draw_largest_normal(u, vectors[0], deviations, stream)
    return draw_largest(u, deviations, largest(deviations))


@dataclass(frozen=True, kw_only=True)
class EmpiricalThompsonSampling(ArmMeanRule):
    """Thompson sampling with unknown variances: given nothing, it estimates the noise of every arm.

        pull the largest of samples from N(m(a), (S(a) + q s^2)/((n(a) + q - 3) n(a)))

    n(a), m(a) and S(a) are the number, the mean and the sum of squared deviations of arm a's rewards; s^2 is the variance
    pooled over the arms. The prior is flat on the mean and inverse-gamma on the variance, worth q rewards of variance s^2
    (Honda and Takemura 2014 study such priors). The posterior of the mean is then Student-t with n(a) + q - 1 degrees of
    freedom. The rule samples the normal distribution of the same mean and variance, whose probabilities are exact integrals.
    Every arm is pulled twice first.

    pseudo_pulls: q > 1. Small values trust the noise seen in an arm; large ones suppose equal noise.
    """

    name = "empirical-thompson-sampling"
    rows = ("means", "counts", "squares")
    never_negative = ("counts", "squares")
    memory = ("squares",)
    learn = staticmethod(learn)
    weigh = staticmethod(weigh)
    draw = staticmethod(draw)

    pseudo_pulls: Annotated[float, between(1.5, 1e9)] = 2.0

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return (float(self.pseudo_pulls),)
