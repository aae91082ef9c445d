"""Entropy-regularised policy gradient in two phases: large batches first, then small ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import AtLeastZero, Positive, whole
from ...engine.compiled import compiled
from ...engine.elementary import log
from ..loops.policy import within_reach
from .rule import policy_gradient
from .vector_rule import VectorRule


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """At a batch's end theta += step/(offset + n) times the mean of (R - tau log p(a))(e_a - p) over the batch."""
    tau, step, offset, first_batch, first_updates, later_batch = hyper
    theta, gradient = vectors
    value = reward - tau * log(probability)
    for a in range(theta.shape[0]):
        gradient[a] -= value * policy[a]
    gradient[arm] += value
    memory.pulls += 1.0
    batch = first_batch if memory.updates < first_updates else later_batch
    if memory.pulls < batch:
        return False
    memory.pulls = 0.0
    memory.updates += 1.0
    alpha = step / (offset + memory.updates)
    for a in range(theta.shape[0]):
        theta[a] += within_reach(alpha * gradient[a] / batch)
        gradient[a] = 0.0
    return True


@dataclass(frozen=True, kw_only=True)
class TwoPhaseEntropySGB(VectorRule):
    """Entropy-regularised policy gradient in two phases (Ding, Zhang, Ying and Lavaei 2021, in bandit form as we read it).

        theta <- theta + step/(offset + n) * mean over a batch of (R - tau log p(a)) (e_a - p)

    for update n = 1, 2, ...; the first first_updates of them average first_batch pulls each, to come near the optimum,
    the later ones batch pulls. tau >= 0: the temperature. The other defaults are ours: theirs depend on unknown constants.
    """

    name = "two-phase-entropy-sgb"
    place = "Table 2, Ding et al. 2021"
    rows = ("theta", "gradient")
    memory = ("pulls", "updates")  # pulls in this batch, and n
    learn = staticmethod(learn)

    tau: AtLeastZero
    step: Positive = 50.0
    offset: Positive = 50.0
    first_batch: Annotated[float, whole(1)] = 64
    first_updates: Annotated[float, whole(0)] = 50
    batch: Annotated[float, whole(1)] = 8

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        steps = float(self.tau), float(self.step), float(self.offset)
        return *steps, float(self.first_batch), float(self.first_updates), float(self.batch)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """At a batch's end: what the earlier pulls gave, and the gradient of J + tau H for the last."""
        pulls, updates = memory
        batch = self.first_batch if updates < self.first_updates else self.batch
        if pulls + 1 < batch:
            return np.zeros(len(policy))
        gathered = vectors[1] + policy_gradient(policy, means - self.tau * np.log(policy))
        return np.asarray(self.step / (self.offset + updates + 1) * gathered / batch)
