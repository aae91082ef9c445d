"""Natural policy gradient with a value baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import between, choice
from ...engine.compiled import compiled
from .. import schedules
from ..schedules import LearningRate, learning_rate_at
from .rule import TwoScalarRule


@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """theta += alpha_t (R - b)/p(a) e_a, or Mei's alpha |m(a) - b| (R - b)/(8 R_max^2) e_a; b = sum_a p(a) m(a)."""
    schedule, mei_scale = hyper  # mei_scale = 1 / (8 R_max^2), or 0 for the plain natural step
    value = memory.policy_mean
    alpha = learning_rate_at(t, schedule)
    if mei_scale > 0.0:
        return alpha * mei_scale * abs(memory.arm_mean - value) * (reward - value), 0.0
    return alpha * (reward - value) / probability, 0.0


@dataclass(frozen=True, kw_only=True)
class BaselineNPG(TwoScalarRule):
    """Natural policy gradient with a baseline (paper: Appendix E; Chung et al. 2021, Mei et al. 2022).

        theta <- theta + alpha_t (R - b)/p(a) e_a,   b = sum_a p(a) m(a)

    with m(a) the mean of arm a's rewards before this one, 0 if it was never pulled.

    learning_rate: alpha. schedule: "constant" alpha, "inverse_sqrt" alpha/sqrt(t), or "mei", the step of Mei et al. (2022)
    as we read it, alpha |m(a) - b| p(a)/(8 R_max^2) in place of alpha_t. r_max: R_max, used by "mei" alone.
    """

    name = "baseline-npg"
    place = "Table 1 and Appendix E, Mei et al. 2022"
    lift_and_drain = staticmethod(lift_and_drain)
    uses_arm_means = True
    conserves_sum = False
    drains = False

    learning_rate: LearningRate
    schedule: Annotated[str, choice("constant", "inverse_sqrt", "mei")] = "inverse_sqrt"
    r_max: Annotated[float, between(1e-100, 1e100)] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.learning_rate, schedules.Schedule) and self.schedule == "inverse_sqrt":
            raise ValueError("BaselineNPG: with a Schedule as learning_rate, schedule must be 'constant' or 'mei'")

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        scale, power, rate = schedules.as_numbers(self.learning_rate)
        if self.schedule == "inverse_sqrt":
            power = 0.5
        return (scale, power, rate), 1.0 / (8.0 * self.r_max**2) if self.schedule == "mei" else 0.0

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """alpha_t (r - b), the natural gradient; with Mei's step, weighted by p(a) |m(a) - b|."""
        schedule, mei_scale = self.hyper(len(policy))
        value = policy @ memory
        weight = mei_scale * policy * np.abs(memory - value) if mei_scale > 0 else 1.0
        return np.asarray(learning_rate_at(t, schedule) * weight * (means - value))
