"""Log-barrier SGB with a mini-batch of pulls for every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import Positive, whole
from ...engine.compiled import compiled
from .. import schedules
from ..loops.policy import within_reach
from ..schedules import LearningRate, learning_rate_at
from .rule import policy_gradient
from .vector_rule import VectorRule


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """At every batch's end theta += alpha [mean of R (e_a - p) over the batch + (weight/K)(1 - K p)]; p rests in between."""
    schedule, weight, batch = hyper
    theta, gradient = vectors
    n_arms = theta.shape[0]
    for a in range(n_arms):
        gradient[a] -= reward * policy[a]
    gradient[arm] += reward
    if t % batch != 0:
        return False
    alpha = learning_rate_at(t // batch, schedule)
    for a in range(n_arms):
        theta[a] += within_reach(alpha * (gradient[a] / batch + weight * (1.0 / n_arms - policy[a])))
        gradient[a] = 0.0
    return True


@dataclass(frozen=True, kw_only=True)
class MiniBatchLogBarrierSGB(VectorRule):
    """Log-barrier policy gradient with mini-batches (Yuan, Gower and Lazaric 2022, in bandit form as we read it).

        theta <- theta + alpha [ (1/m) sum_i R_i (e_{a_i} - p) + (weight/K)(1 - K p) ]

    once in m = batch pulls, all drawn from the same p. The barrier weight is K/eta of `LogBarrierSGB`.

    learning_rate: alpha, a number or a `Schedule` of the update's number. weight > 0: theirs is half the accuracy wanted.
    1 <= batch <= 2^53: m.
    """

    name = "mini-batch-log-barrier-sgb"
    place = "Tables 1 and 2, Yuan et al. 2022"
    rows = ("theta", "gradient")
    learn = staticmethod(learn)

    learning_rate: LearningRate
    weight: Positive
    batch: Annotated[float, whole(1, 2**53)] = 16

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return schedules.as_numbers(self.learning_rate), float(self.weight), int(self.batch)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """At a batch's end: what the earlier pulls gave, and the gradient for the last."""
        schedule, weight, batch = self.hyper(len(policy))
        if t % batch:
            return np.zeros(len(policy))
        gathered = vectors[1] + policy_gradient(policy, means)
        direction = gathered / batch + weight * (1 / len(policy) - policy)
        return np.asarray(learning_rate_at(t // batch, schedule) * direction)
