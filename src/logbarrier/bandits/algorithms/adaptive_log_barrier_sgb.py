"""Log-barrier SGB whose barrier weakens by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import AtLeastZero, Positive, choice
from ...engine.compiled import compiled
from .. import schedules
from ..schedules import LearningRate, learning_rate_at
from .rule import TwoScalarRule, policy_gradient

STEPS, LEARNING, EPOCHS, EVIDENCE = range(4)  # what a schedule counts
CLOCKS = {"evidence": EVIDENCE, "time": LEARNING, "doubling": EPOCHS, "sqrt": STEPS, "power": STEPS, "regret": STEPS}


@compiled
def barrier_at(t, learned, kept, hyper):
    """K/eta_t; learned = A_t, kept = A at the epoch's start, or the evidence before step t."""
    _, clock, weight, power, prior = hyper
    if clock == STEPS:
        return learning_rate_at(t, (weight, power, 0.0))
    if clock == LEARNING:
        return weight / math.sqrt(learned)
    if clock == EPOCHS:
        return weight / math.sqrt(kept)
    return weight * math.sqrt(prior + kept) / learned


@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """theta += alpha [R (e_a - p) + (1/eta_t)(1 - K p)]."""
    schedule, clock = hyper[0], hyper[1]
    alpha = learning_rate_at(t, schedule)
    memory.learned += alpha
    if clock == EPOCHS and t & (t - 1) == 0:
        memory.kept = memory.learned
    barrier = barrier_at(t, memory.learned, memory.kept, hyper)
    if clock == EVIDENCE:
        memory.kept += alpha * abs(reward) * max(1.0 - probability, 0.0)  # p may round to just above 1
    return alpha * reward, alpha * (reward + barrier)


@dataclass(frozen=True, kw_only=True)
class AdaptiveLogBarrierSGB(TwoScalarRule):
    """LB-SGB with a barrier that weakens over time or with what was learnt (docs/adaptive.md).

        theta <- theta + alpha [R (e_a - p) + (1/eta_t)(1 - K p)]

    schedule, with A_t = sum of alpha over the steps 1..t, which is alpha t for a constant learning rate:

        "evidence"   eta_t = c A_t / sqrt(1 + E_t/K),   E_t = sum over the steps before t of alpha |R| (1 - p(a))
        "time"       eta_t = c sqrt(K A_t)
        "doubling"   the same, frozen from each power of two to the next
        "sqrt"       eta_t = c sqrt(K t)
        "power"      eta_t = c t^q
        "regret"     eta_t = c K^(-1/10) t^(1/5): the order of the regret corollary, with t for its horizon

    learning_rate: alpha, a number or a `Schedule`. c > 0: larger is a weaker barrier. q >= 0: of "power" alone.

    >>> import logbarrier as lb
    >>> rule = lb.AdaptiveLogBarrierSGB(learning_rate=0.1)
    >>> record = lb.simulate(rule, lb.GapInstances(n_arms=10), horizon=100, runs=2, seed=0)
    """

    name = "adaptive-log-barrier-sgb"
    place = "Conclusion (adaptive eta)"
    lift_and_drain = staticmethod(lift_and_drain)
    memory = ("learned", "kept")  # A_t, and what `barrier_at` keeps

    learning_rate: LearningRate
    schedule: Annotated[str, choice(*CLOCKS)] = "evidence"
    c: Positive = 3.5
    q: AtLeastZero = 0.5

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        of_arms, power = {"power": (0.0, float(self.q)), "regret": (-0.1, 0.2)}.get(self.schedule, (0.5, 0.5))
        weight = n_arms ** (1.0 - of_arms) / float(self.c)
        return (
            schedules.as_numbers(self.learning_rate),
            CLOCKS[self.schedule],
            weight,
            power,
            float(n_arms),
        )

    def eta_at(self, t: int, n_arms: int, memory: np.ndarray) -> float:
        """eta_t, given the memory before step t."""
        hyper, before = self.hyper(n_arms), self.memory_at(memory)
        learned = before.learned + learning_rate_at(t, hyper[0])
        kept = learned if self.schedule == "doubling" and t & (t - 1) == 0 else before.kept
        return float(n_arms / barrier_at(t, learned, kept, hyper))

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """alpha grad Phi at eta_t, which this step's reward does not touch."""
        n_arms = len(policy)
        gradient = policy_gradient(policy, means) + (1 - n_arms * policy) / self.eta_at(t, n_arms, memory)
        return np.asarray(learning_rate_at(t, self.hyper(n_arms)[0]) * gradient)
