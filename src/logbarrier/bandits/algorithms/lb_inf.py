"""LB-INF: follow the regularised leader with a log-barrier and a rate for every arm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import between
from ...engine.compiled import compiled
from ...engine.elementary import log
from ..loops.policy import within_reach
from .loss_rule import LossRule

MOST_ITERATIONS = 100
SMALLEST_STRENGTH = 1.2


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """L(a) += m(a) + 1{a pulled} (loss - m(a))/p(a); then m and V of the pulled arm."""
    lowest, width, horizon = hyper
    losses, predictions, counts, errors = vectors
    error = (lowest + width - reward) / width - predictions[arm]
    for a in range(losses.shape[0]):
        losses[a] += predictions[a]
    losses[arm] += within_reach(error / probability)
    rest = (1.0 - probability) / probability
    errors[arm] += within_reach(error * error * min(1.0, rest * rest) / log(horizon))
    counts[arm] += 1.0
    predictions[arm] += error / (counts[arm] + 1.0)  # the mean of the losses and one of 1/2
    return True


@compiled
def weigh(t, vectors, memory, hyper, weights):
    """p(a) = beta(a)/(x + L(a) + m(a)), beta(a) = sqrt(1.2^2 + V(a)), x such that p sums to 1.

    1/sum(p) is concave and rises in x: Newton's method from the x at which the largest p alone is 1 never overshoots.
    """
    losses, predictions, _, errors = vectors
    n_arms = losses.shape[0]
    least = losses[0] + predictions[0]
    for a in range(1, n_arms):
        least = min(least, losses[a] + predictions[a])
    x = 0.0
    strengths = np.empty(n_arms)
    for a in range(n_arms):
        strengths[a] = math.sqrt(SMALLEST_STRENGTH * SMALLEST_STRENGTH + errors[a])
        x = max(x, strengths[a] - (losses[a] + predictions[a] - least))
    for _ in range(MOST_ITERATIONS):
        total, slope = 0.0, 0.0
        for a in range(n_arms):
            inverse = 1.0 / (x + (losses[a] + predictions[a] - least))
            weights[a] = strengths[a] * inverse
            total += weights[a]
            slope += weights[a] * inverse
        further = x + (total - 1.0) * total / slope
        if not further > x:
            break
        x = further


@dataclass(frozen=True, kw_only=True)
class LBINF(LossRule):
    """LB-INF: log-barrier FTRL with predictions and adaptive rates (Ito 2021; Ito, Tsuchiya and Honda 2022, as we read it).

        p = argmin <p, L + m> - sum_a beta(a) log p(a),   so   p(a) = beta(a)/(x + L(a) + m(a))

    L(a) sums the estimates m(a) + 1{a pulled} (loss - m(a))/p(a) of losses in [0, 1]. m(a) is the mean of arm a's losses and
    one of 1/2. beta(a)^2 = 1.2^2 + sum over its pulls of (loss - m(a))^2 min(1, ((1 - p)/p)^2)/log(horizon). So the barrier
    grows with the error of the predictions: arms of little noise cost little. The papers' term for p near 1 is left out.
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
        return *self.range, float(self.horizon)

    def new_vectors(self, theta: np.ndarray, means: np.ndarray | None) -> np.ndarray:
        vectors = super().new_vectors(theta, means)
        vectors[1] = 0.5
        return vectors

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """The losses: their estimates are unbiased."""
        return self.losses_of(means)
