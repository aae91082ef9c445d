"""Log-barrier SGB without a learning rate and without eta: both follow from the rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.compiled import compiled
from .rule import TwoScalarRule, policy_gradient

# Set on the tuning seeds 1100 and 1101 (docs/adaptive.md) and left alone since.
WEAKNESS = 3.0  # c of the barrier: larger is weaker
RECENCY = 3.0  # the baseline and the spread weigh the reward of step t by about t^2
WATCHED = 8  # rewards that are only looked at: the spread of fewer says nothing
LARGEST_LIFT = 3.0  # what the farthest reward so far may add to a preference

FIRST, BASELINE, SPREAD, FARTHEST, EXPLORED, LEARNED = range(6)  # places in the memory


@compiled
def rates_at(t, memory, n_arms):
    """(alpha_t, K/eta_t) from the memory before step t; both 0 while the spread of the rewards is unknown."""
    if t <= WATCHED or memory[SPREAD] == 0.0:
        return 0.0, 0.0
    pulls = 1.0 + memory[EXPLORED] / n_arms  # U
    root = math.sqrt(pulls)
    alpha = min(1.0 / (root * math.sqrt(memory[SPREAD])), LARGEST_LIFT / memory[FARTHEST])
    return alpha, n_arms * math.sqrt(root) / (WEAKNESS * (memory[LEARNED] + alpha))


@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """theta += alpha_t [(R - b)(e_a - p) + (1/eta_t)(1 - K p)]; memory[BASELINE] is b minus the first reward."""
    if t == 1:
        memory[FIRST] = reward
    alpha, barrier = rates_at(t, memory, hyper[0])
    deviation = (reward - memory[FIRST]) - memory[BASELINE]  # R - b, free of any constant that all rewards carry
    free = max(1.0 - probability, 0.0)  # p may round to just above 1
    recent = RECENCY / (t + RECENCY - 1.0)
    memory[BASELINE] += recent * deviation
    memory[SPREAD] += recent * (deviation * deviation - memory[SPREAD])
    memory[FARTHEST] = max(memory[FARTHEST], abs(deviation))
    memory[EXPLORED] += free * free
    memory[LEARNED] += alpha
    return alpha * deviation, alpha * (deviation + barrier)


@dataclass(frozen=True, kw_only=True)
class AutoLogBarrier(TwoScalarRule):
    """LB-SGB that needs no settings: no learning rate, eta, gap, noise, unit of reward or horizon (docs/adaptive.md).

        theta <- theta + alpha_t [(R - b)(e_a - p) + (1/eta_t)(1 - K p)]

        b, s^2    recent means of R and of (R - b)^2, step t weighing about t^2
        U_t       1 + (1/K) sum over the steps before t of (1 - p(a))^2: exploring pulls per arm
        alpha_t   1/(s sqrt(U_t)), and at most 3/max|R - b|; 0 for the first eight rewards
        eta_t     3 (alpha_1 + ... + alpha_t) / U_t^(1/4)

    Rewards times a constant, or plus one, give the same decisions.

    >>> import logbarrier as lb
    >>> record = lb.simulate(lb.AutoLogBarrier(), lb.GapInstances(n_arms=10), horizon=1000, runs=2, seed=0)
    """

    name = "auto-log-barrier"
    place = "Conclusion (adaptive eta)"
    lift_and_drain = staticmethod(lift_and_drain)
    memory_size = 6

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return (float(n_arms),)

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """alpha_t grad Phi at eta_t: neither looks at this step's reward, and a baseline moves no expectation."""
        n_arms = len(policy)
        alpha, barrier = rates_at(t, memory, float(n_arms))
        return np.asarray(alpha * (policy_gradient(policy, means) + barrier * (1.0 / n_arms - policy)))
