"""SGB with a step that decays exponentially over a known horizon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import Positive, whole
from .rule import TwoScalarRule, policy_gradient
from .sgb import lift_and_drain


@dataclass(frozen=True, kw_only=True)
class DecayingSGB(TwoScalarRule):
    """SGB with an exponentially decaying step, for a horizon known beforehand (Lu et al. 2024, as we read it).

        theta <- theta + alpha_t R (e_a - p),   alpha_t = alpha0 T^(-t/T)

    so that the last step is alpha0/T. horizon: T >= 2. alpha0 > 0: theirs is 1/18.
    """

    name = "decaying-sgb"
    place = "Table 2, Lu et al. 2024, known horizon"
    lift_and_drain = staticmethod(lift_and_drain)

    horizon: Annotated[float, whole(2)]
    alpha0: Positive = 1 / 18

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return ((float(self.alpha0), 0.0, math.log(self.horizon) / self.horizon),)

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """alpha_t grad J."""
        return np.asarray(self.alpha0 * self.horizon ** (-t / self.horizon) * policy_gradient(policy, means))
