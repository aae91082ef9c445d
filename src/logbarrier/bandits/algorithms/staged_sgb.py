"""SGB with exponentially decaying steps in stages of doubling length: no horizon needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import Positive, whole
from ...engine.compiled import compiled
from ...engine.elementary import exp, log
from .rule import TwoScalarRule, policy_gradient


@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """In step k of a stage of length L: theta += alpha0 L^(-k/L) R (e_a - p)."""
    alpha0, first_stage = hyper
    if memory.length == 0.0:
        memory.length = first_stage
    while t > memory.before + memory.length:
        memory.before += memory.length
        memory.length *= 2.0
    length, k = memory.length, t - memory.before
    step = alpha0 * exp(-k / length * log(length)) * reward
    return step, step


@dataclass(frozen=True, kw_only=True)
class StagedSGB(TwoScalarRule):
    """SGB with decaying steps that start afresh in stages of doubling length (Lu et al. 2024, as we read it).

    In step k = 1 .. L of a stage of length L = first_stage, 2 first_stage, 4 first_stage, ...

        theta <- theta + alpha0 L^(-k/L) R (e_a - p)

    theta is carried from stage to stage. alpha0 > 0: theirs is 1/18. first_stage >= 2: theirs is 5000.
    """

    name = "staged-sgb"
    place = "Table 2, Lu et al. 2024, doubling stages"
    lift_and_drain = staticmethod(lift_and_drain)
    memory = ("length", "before")  # of the stage: L, and the steps before it

    alpha0: Positive = 1 / 18
    first_stage: Annotated[float, whole(2)] = 5000

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return float(self.alpha0), float(self.first_stage)

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """The stage's step times grad J."""
        stage = int(np.log2((t - 1) / self.first_stage + 1))
        length = self.first_stage * 2**stage
        k = t - self.first_stage * (2**stage - 1)
        return np.asarray(self.alpha0 * length ** (-k / length) * policy_gradient(policy, means))
