"""LB-INF: follow the regularised leader with a log-barrier and a rate for every arm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import between
from ...engine.compiled import compiled
from ...engine.elementary import exp, log
from ..loops.policy import within_reach
from .loss_rule import LossRule

SMALLEST_STRENGTH = 1.2  # 1 + epsilon of the paper
MOST_STEPS, PRECISION = 100, 1e-14


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """L(a) += m(a) + 1{a pulled} (loss - m(a))/p(a); then m and beta of the pulled arm."""
    lowest, width, gamma = hyper
    losses, predictions, counts, errors = vectors
    error = (lowest + width - reward) / width - predictions[arm]
    for a in range(losses.shape[0]):
        losses[a] += predictions[a]
    losses[arm] += within_reach(error / probability)
    share = min(1.0, 2.0 * (1.0 - probability) / (probability * probability * gamma))
    errors[arm] += within_reach(error * error * share / gamma)
    counts[arm] += 1.0
    predictions[arm] += error / (counts[arm] + 1.0)  # the mean of the losses and one of 1/2
    return True


@compiled
def log_odds_of(slope, gamma):
    """z with phi'(p) = slope, p = 1/(1 + exp(-z)), by Newton's method in steps of at most 2.

    In z, phi' is -exp(-z) + gamma log(1 + exp(z)), a rising function. The start is the root for far slopes.
    """
    z = -log(1.0 - slope) if slope < 0.0 else slope / gamma
    for _ in range(MOST_STEPS):
        inverse = exp(-z)
        rest = z + log(1.0 + inverse) if z > 0.0 else log(1.0 + exp(z))
        step = (slope + inverse - gamma * rest) / (inverse + gamma / (1.0 + inverse))
        z += min(max(step, -2.0), 2.0)
        if abs(step) <= PRECISION * max(abs(z), 1.0):
            break
    return z


@compiled
def weigh(t, vectors, memory, hyper, weights):
    """beta(a) phi'(p(a)) + L(a) + m(a) = x for every arm, x such that p sums to 1.

    Newton's method on 1/sum(p), which is nearly linear in x. An x that leaves the known bounds is replaced by their middle.
    """
    losses, predictions, _, errors = vectors
    n_arms, gamma = losses.shape[0], hyper[2]
    strengths = np.empty(n_arms)
    least = losses[0] + predictions[0]
    for a in range(1, n_arms):
        least = min(least, losses[a] + predictions[a])
    even = 1.0 - n_arms - gamma * log(1.0 - 1.0 / n_arms)  # phi'(1/K)
    low, high = 1e300, -1e300  # at x = low no p is above 1/K, at high none below
    for a in range(n_arms):
        strengths[a] = math.sqrt(SMALLEST_STRENGTH * SMALLEST_STRENGTH + errors[a])
        x = losses[a] + predictions[a] - least + strengths[a] * even
        low, high = min(low, x), max(high, x)
    x = low
    for _ in range(MOST_STEPS):
        total, slope = 0.0, 0.0
        for a in range(n_arms):
            inverse = exp(-log_odds_of((x - (losses[a] + predictions[a] - least)) / strengths[a], gamma))
            weights[a] = 1.0 / (1.0 + inverse)
            total += weights[a]
            slope += weights[a] * weights[a] * inverse / (strengths[a] * (inverse + gamma * weights[a]))
        if abs(total - 1.0) <= PRECISION * n_arms:
            break
        if total < 1.0:
            low = x
        else:
            high = x
        x += total * (1.0 - total) / slope
        if not low < x < high:
            x = 0.5 * (low + high)


@dataclass(frozen=True, kw_only=True)
class LBINF(LossRule):
    """LB-INF with predictions and rates that follow their errors (Ito 2021; Ito, Tsuchiya and Honda 2022).

        p = argmin <p, L + m> + sum_a beta(a) phi(p(a)),   phi(p) = p - 1 - log p + gamma (p + (1 - p) log(1 - p))

    L(a) sums the estimates m(a) + 1{a pulled} (loss - m(a))/p(a) of losses in [0, 1], and gamma = log(horizon). m(a) is the
    mean of arm a's losses and one of 1/2, the least-squares variant. beta(a)^2 is 1.2^2 plus the sum over its pulls of
    (loss - m(a))^2 min(1, 2 (1 - p)/(p^2 gamma))/gamma. So arms of little noise cost little.
    A loss is (highest - R)/(highest - lowest). Rewards outside the range enter as they come.

    horizon: how many pulls there will be. lowest < highest: the range of a reward.
    """

    name = "lb-inf"
    rows = ("losses", "predictions", "counts", "errors")
    never_negative = ("counts", "errors")
    learn = staticmethod(learn)
    weigh = staticmethod(weigh)

    horizon: Annotated[float, between(2, 1e15)]

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return *self.range, math.log(float(self.horizon))

    def new_vectors(self, theta: np.ndarray, means: np.ndarray | None) -> np.ndarray:
        vectors = super().new_vectors(theta, means)
        vectors[1] = 0.5
        return vectors

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """The losses: their estimates are unbiased."""
        return self.losses_of(means)
