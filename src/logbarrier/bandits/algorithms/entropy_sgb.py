"""SGB with a sampled entropy bonus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import AtLeastZero
from ...engine.compiled import compiled
from ...engine.elementary import log
from .. import schedules
from ..schedules import LearningRate, learning_rate_at
from .rule import TwoScalarRule, policy_gradient


@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """ENT (Algorithm 2): theta += alpha (R - tau log p(a)) (e_a - p)."""
    schedule, tau = hyper
    step = learning_rate_at(t, schedule) * (reward - tau * log(probability))
    return step, step


@dataclass(frozen=True, kw_only=True)
class EntropySGB(TwoScalarRule):
    """SGB with entropy regularisation, ENT (paper: Algorithm 2).

        theta <- theta + alpha (R - tau log p(a)) (e_a - p)

    learning_rate: alpha, a number or a `Schedule`. tau >= 0: the temperature; the experiments use tau = 1/eta.
    """

    name = "entropy-sgb"
    place = "Algorithm 2"
    lift_and_drain = staticmethod(lift_and_drain)

    learning_rate: LearningRate
    tau: AtLeastZero

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return schedules.as_numbers(self.learning_rate), float(self.tau)

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """alpha grad (J + tau H): the sampled -log p(a) has the entropy's gradient as its exact mean."""
        schedule, tau = self.hyper(len(policy))
        return np.asarray(learning_rate_at(t, schedule) * policy_gradient(policy, means - tau * np.log(policy)))
