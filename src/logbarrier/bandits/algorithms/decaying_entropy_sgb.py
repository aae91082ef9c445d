"""Entropy-regularised SGB with a step that decays exponentially over a known horizon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import AtLeastZero, whole
from .entropy_sgb import lift_and_drain
from .rule import TwoScalarRule, policy_gradient


@dataclass(frozen=True, kw_only=True)
class DecayingEntropySGB(TwoScalarRule):
    """ENT with an exponentially decaying step (Lu et al. 2024, as we read it).

        theta <- theta + alpha_t (R - tau log p(a)) (e_a - p),   alpha_t = alpha0 T^(-t/T)
        alpha0 = 1 / (5/2 + 5 tau (1 + log K))

    horizon: T >= 2. tau >= 0: the temperature, theirs is 0.1.
    """

    name = "decaying-entropy-sgb"
    place = "Table 2, Lu et al. 2024, entropy variant"
    lift_and_drain = staticmethod(lift_and_drain)

    horizon: Annotated[float, whole(2)]
    tau: AtLeastZero = 0.1

    def alpha0(self, n_arms: int) -> float:
        """The first step for K arms."""
        return 1 / (2.5 + 5 * self.tau * (1 + math.log(n_arms)))

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return (self.alpha0(n_arms), 0.0, math.log(self.horizon) / self.horizon), float(self.tau)

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """alpha_t grad (J + tau H)."""
        alpha = self.alpha0(len(policy)) * self.horizon ** (-t / self.horizon)
        return np.asarray(alpha * policy_gradient(policy, means - self.tau * np.log(policy)))
