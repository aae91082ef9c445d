"""Log-barrier SGB without a learning rate and without eta: both follow from the rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import choice
from ...engine.compiled import compiled
from .drops import ALLOWANCES, drop_noticed
from .rule import TwoScalarRule, policy_gradient

# Set on the tuning seeds 1100, 1101 and 1200 (docs/auto.md) and left alone since.
WEAKNESS = 3.0  # c of the barrier: larger is weaker
RECENCY = 3.0  # the baseline and the spread weigh the n-th reward by about n^2
WATCHED = 8  # rewards that are only looked at: the spread of fewer says nothing
LARGEST_LIFT = 3.0  # what the farthest reward so far may add to a preference

FIRST, BASELINE, SPREAD, FARTHEST, EXPLORED, LEARNED, AGE, CHANGES, FALLS = range(9)  # places in the memory, falls last


@compiled
def rates_at(t, memory, n_arms):
    """(alpha_t, K/eta_t) from the memory before step t; both 0 while the spread of the rewards is unknown."""
    if memory[AGE] < WATCHED or memory[SPREAD] == 0.0:
        return 0.0, 0.0
    pulls, deviation = 1.0 + memory[EXPLORED] / n_arms, math.sqrt(memory[SPREAD])  # U and s
    root = math.sqrt(pulls)
    alpha = min(1.0 / (root * deviation), LARGEST_LIFT / memory[FARTHEST])
    lasting = memory[LEARNED] + alpha
    if memory[CHANGES] > 0.0:
        lasting = min(lasting, math.sqrt(n_arms * t / memory[CHANGES]) / deviation)
    return alpha, n_arms * math.sqrt(root) / (WEAKNESS * lasting)


@compiled
def begin_anew(memory):
    """Forget what was explored and learnt; the rates are again those of the first steps."""
    memory[EXPLORED] = memory[LEARNED] = memory[AGE] = 0.0
    for i in range(len(ALLOWANCES)):
        memory[FALLS + i] = 0.0
    memory[CHANGES] += 1.0


@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """theta += alpha_t [(R - b)(e_a - p) + (1/eta_t)(1 - K p)]; memory[BASELINE] is b minus the first reward."""
    n_arms, may_change = hyper
    if t == 1:
        memory[FIRST] = reward
    alpha, barrier = rates_at(t, memory, n_arms)
    deviation = (reward - memory[FIRST]) - memory[BASELINE]  # R - b, free of any constant that all rewards carry
    free = max(1.0 - probability, 0.0)  # p may round to just above 1
    memory[AGE] += 1.0
    fallen = may_change and alpha > 0.0 and drop_noticed(-deviation / math.sqrt(memory[SPREAD]), memory[AGE], memory, FALLS)
    recent = RECENCY / (memory[AGE] + RECENCY - 1.0)
    memory[BASELINE] += recent * deviation
    memory[SPREAD] += recent * (deviation * deviation - memory[SPREAD])
    memory[FARTHEST] = max(memory[FARTHEST], abs(deviation))
    memory[EXPLORED] += free * free
    memory[LEARNED] += alpha
    if fallen:
        begin_anew(memory)
    return alpha * deviation, alpha * (deviation + barrier)


@dataclass(frozen=True, kw_only=True)
class AutoLogBarrier(TwoScalarRule):
    """LB-SGB that needs no settings: no learning rate, eta, gap, noise, unit of reward or horizon (docs/adaptive.md).

        theta <- theta + alpha_t [(R - b)(e_a - p) + (1/eta_t)(1 - K p)]

        b, s^2    recent means of R and of (R - b)^2, the n-th reward weighing about n^2
        U_t       1 + (1/K) sum over the steps before t of (1 - p(a))^2: exploring pulls per arm
        alpha_t   1/(s sqrt(U_t)), and at most 3/max|R - b|; 0 for the first eight rewards
        eta_t     3 A_t / U_t^(1/4), A_t = alpha_1 + ... + alpha_t

    When the rewards drop, which drops.py watches for, the world has changed: b, s, U and A begin anew, and from then on
    A counts for at most sqrt(K tau)/s, tau the mean number of steps between changes. `world="steady"` never does so.
    Rewards times a positive constant, or plus any, give the same decisions.

    >>> import logbarrier as lb
    >>> record = lb.simulate(lb.AutoLogBarrier(), lb.SwappingArms(n_arms=10), horizon=1000, runs=2, seed=0)
    """

    name = "auto-log-barrier"
    place = "Conclusion (adaptive eta)"
    lift_and_drain = staticmethod(lift_and_drain)
    memory_size = FALLS + len(ALLOWANCES)

    world: Annotated[str, choice("changing", "steady")] = "changing"

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return float(n_arms), self.world == "changing"

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """alpha_t grad Phi at eta_t: neither looks at this step's reward, and a baseline moves no expectation."""
        n_arms = len(policy)
        alpha, barrier = rates_at(t, memory, float(n_arms))
        return np.asarray(alpha * (policy_gradient(policy, means) + barrier * (1.0 / n_arms - policy)))
