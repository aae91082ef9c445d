"""Policy gradient through a Tsallis link in place of softmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import AtLeastZero, between
from ...engine.codegen.lane_access import lane_sum, load, splat, store
from ...engine.codegen.lanes import WIDTH, select_above
from ...engine.compiled import compiled
from ...engine.elementary import exp, log
from .. import schedules
from ..loops.policy import SMALLEST_PROBABILITY, within_reach
from ..loops.vectors import largest
from ..schedules import LearningRate, learning_rate_at
from ..softmax import softmax
from .vector_rule import VectorRule

MOST_ITERATIONS = 100


@compiled
def power(x, exponent):
    """x^exponent for x > 0, numbers or lanes."""
    return exp(log(x) * exponent)


@compiled
def fill_slopes(policy, order, slopes):
    """slopes(a) = d p(a) / d theta(a) at fixed mu = p (K p)^(1 - order); returns their sum."""
    n_arms = policy.shape[0]
    whole = n_arms // WIDTH * WIDTH
    sums = splat(0.0)
    for a in range(0, whole, WIDTH):
        p = load(policy, a)
        p = select_above(p, SMALLEST_PROBABILITY, p, SMALLEST_PROBABILITY)
        slope = p * power(n_arms * p, 1.0 - order)
        store(slopes, a, slope)
        sums = sums + slope
    total = lane_sum(sums)
    for a in range(whole, n_arms):
        p = max(policy[a], SMALLEST_PROBABILITY)
        slopes[a] = p * power(n_arms * p, 1.0 - order)
        total += slopes[a]
    return total


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """theta += alpha (R - weight f'(K p(a))) grad log p(a), then into the box |theta| <= radius."""
    schedule, weight, order, radius = hyper
    theta, slopes = vectors
    n_arms = theta.shape[0]
    total = fill_slopes(policy, order, slopes)
    divergence_slope = (1.0 - power(n_arms * probability, order - 1.0)) / (1.0 - order)
    value = within_reach(learning_rate_at(t, schedule) * (reward - weight * divergence_slope))
    step = value * (slopes[arm] / probability)
    for a in range(n_arms):
        hit = 1.0 if a == arm else 0.0
        theta[a] = min(max(theta[a] + step * (hit - slopes[a] / total), -radius), radius)
    return True


@compiled
def fill_weights(theta, top, mu, spread, weights):
    """weights(a) = (1/K) x(a)^(-1/spread), x(a) = 1 + spread (mu + top - theta(a)); returns sums of weights and weights/x."""
    n_arms = theta.shape[0]
    whole = n_arms // WIDTH * WIDTH
    sums, slopes = splat(0.0), splat(0.0)
    for a in range(0, whole, WIDTH):
        x = 1.0 + spread * (mu + (top - load(theta, a)))
        weight = power(x, -1.0 / spread) / n_arms
        store(weights, a, weight)
        sums = sums + weight
        slopes = slopes + weight / x
    total, slope = lane_sum(sums), lane_sum(slopes)
    for a in range(whole, n_arms):
        x = 1.0 + spread * (mu + (top - theta[a]))
        weights[a] = power(x, -1.0 / spread) / n_arms
        total += weights[a]
        slope += weights[a] / x
    return total, slope


@compiled
def weigh(t, vectors, memory, hyper, weights):
    """p(a) = (1/K) x(a)^(-1/(1 - order)), x(a) = 1 + (1 - order)(mu - theta(a)), with mu such that p sums to 1.

    sum(p)^-(1 - order) is a power mean of the x, so it rises in mu and is concave. Newton's method starts at the left, where
    the largest p alone would be 1, and never overshoots. For equal theta one step is exact.
    """
    theta, spread = vectors[0], 1.0 - hyper[2]
    top = largest(theta)
    mu = (power(float(theta.shape[0]), -spread) - 1.0) / spread  # counted from the largest theta
    for _ in range(MOST_ITERATIONS):
        total, slope = fill_weights(theta, top, mu, spread, weights)
        further = mu + (power(total, spread) - 1.0) * total / (spread * slope)
        if not further > mu:
            break
        mu = further


@dataclass(frozen=True, kw_only=True)
class TsallisSGB(VectorRule):
    """Policy gradient with an f-divergence policy, Tsallis of order below 1 (Labbi et al. 2026, in bandit form as we read it).

    The policy p = argmax <p, theta> - D_f(p || uniform) is

        p(a) = (1/K) (1 + (1 - order)(mu - theta(a)))^(-1/(1 - order)),   mu such that p sums to 1

    whose tails fall like a power of theta, where softmax's fall exponentially. The rule is REINFORCE on J - weight D_f:

        theta <- theta + alpha (R - weight f'(K p(a))) grad log p(a),   f'(x) = (1 - x^(order - 1))/(1 - order)
        grad log p(a) = (w(a)/p(a)) (e_a - w/sum(w)),   w = p (K p)^(1 - order)

    projected to the box |theta| <= radius. learning_rate: alpha, a number or a `Schedule`. weight >= 0. order strictly between
    0 and 1; near 1 it is softmax. radius > 0: ours; wide enough never to matter unless p(a) is to fall below about 1e-8/K.
    """

    name = "tsallis-sgb"
    place = "Related work, Labbi et al. 2026"
    rows = ("theta", "slopes")
    learn = staticmethod(learn)
    weigh = staticmethod(weigh)

    learning_rate: LearningRate
    weight: AtLeastZero
    order: Annotated[float, between(0.01, 0.99)] = 0.5
    radius: Annotated[float, between(1e-100, 1e100)] = 1e4

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        numbers = float(self.weight), float(self.order), float(self.radius)
        return schedules.as_numbers(self.learning_rate), *numbers

    def new_vectors(self, theta: np.ndarray, means: np.ndarray | None) -> np.ndarray:
        """The preferences that give the starting probabilities: theta = f'(K p), inside the box."""
        shares = len(theta) * np.maximum(softmax(theta), SMALLEST_PROBABILITY)
        placed = (1 - shares ** (self.order - 1)) / (1 - self.order)
        return np.stack([np.clip(placed, -self.radius, self.radius), np.zeros(len(theta))])

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """alpha grad (J - weight D_f), inside the box: (diag w - w w^T/sum(w)) (r - weight f'(K p))."""
        shares = len(policy) * policy
        w = policy * shares ** (1 - self.order)
        values = means - self.weight * (1 - shares ** (self.order - 1)) / (1 - self.order)
        schedule = schedules.as_numbers(self.learning_rate)
        return np.asarray(learning_rate_at(t, schedule) * w * (values - w @ values / w.sum()))
