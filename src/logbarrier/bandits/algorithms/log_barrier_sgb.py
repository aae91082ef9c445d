"""SGB on the log-barrier objective: the paper's algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import Positive
from ...engine.compiled import compiled
from .. import schedules
from ..schedules import LearningRate, learning_rate_at
from .rule import TwoScalarRule, policy_gradient


@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """LB-SGB (Algorithm 4): theta += alpha [R (e_a - p) + (1/eta)(1 - K p)].

    Softmax ignores what is added to all arms alike, so alpha/eta is left out.
    """
    schedule, barrier = hyper  # barrier = K / eta
    alpha = learning_rate_at(t, schedule)
    return alpha * reward, alpha * (reward + barrier)  # theta += lift e_a - drain p


@dataclass(frozen=True, kw_only=True)
class LogBarrierSGB(TwoScalarRule):
    """Log-barrier stochastic gradient bandit, LB-SGB (paper: Algorithm 4).

        theta <- theta + alpha [R (e_a - p) + (1/eta)(1 - K p)]

    ascends Phi_eta = J + (1/eta) sum_a log p(a). Every arm keeps a probability of at least about 1/(K + 2 eta R_max) where
    the objective is greatest, so no arm is ever lost.

    learning_rate: alpha, a number or a `Schedule`. eta > 0: larger is a weaker barrier; the bias is at most K/eta.

    >>> import logbarrier as lb
    >>> rule = lb.LogBarrierSGB(learning_rate=0.1, eta=1000)
    >>> record = lb.simulate(rule, lb.GapInstances(n_arms=10), horizon=100, runs=2, seed=0)
    """

    name = "log-barrier-sgb"
    place = "Algorithm 4, Tables 1 and 2"
    lift_and_drain = staticmethod(lift_and_drain)

    learning_rate: LearningRate
    eta: Positive

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return schedules.as_numbers(self.learning_rate), n_arms / float(self.eta)

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """alpha grad Phi_eta."""
        schedule, barrier = self.hyper(len(policy))
        gradient = policy_gradient(policy, means) + barrier * (1 / len(policy) - policy)
        return np.asarray(learning_rate_at(t, schedule) * gradient)
