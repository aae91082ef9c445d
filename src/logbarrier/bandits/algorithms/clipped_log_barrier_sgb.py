"""Log-barrier SGB in phases of doubling length, with clipping at each phase's end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import Positive
from ...engine.compiled import compiled
from ...engine.elementary import exp, log
from .rule import TwoScalarRule, policy_gradient

LN2 = math.log(2.0)


@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """In phase l, step k: theta += step_k [R (e_a - p) + (lambda_l/K)(1 - K p)]; memory.length is 2^l."""
    c, lambda0 = hyper
    length = max(memory.length, 1.0)
    while t >= 2.0 * length:
        length *= 2.0
    memory.length = length
    k = t - length
    step = c / (math.sqrt(k + 3.0) * (log(k + 3.0) / LN2))
    barrier = lambda0 * exp(-log(length) / 6.0)
    return step * reward, step * (reward + barrier)


@compiled
def mixing(t, hyper):
    """Step t ends a phase when t + 1 is a power of two: p <- eps + (1 - K eps) p with eps = 1/(2K)."""
    return 0.5 if t & (t + 1) == 0 else 0.0


@dataclass(frozen=True, kw_only=True)
class ClippedLogBarrierSGB(TwoScalarRule):
    """Log-barrier SGB with clipping (paper: Appendix E; Zhang et al. 2021, as we read it).

    Phases l = 0, 1, ... last T_l = 2^l steps with barrier weight lambda_l = lambda0 T_l^(-1/6); step k = 0, 1, ... is

        theta <- theta + step_k [R (e_a - p) + (lambda_l/K)(1 - K p)],   step_k = c / (sqrt(k + 3) log2(k + 3))

    and at each phase's end p <- 1/(2K) + p/2.

    c > 0: the scale of the steps (the theory's 1/(2 (8 + 2 lambda)) never learns). lambda0 > 0: the first barrier weight.
    """

    name = "clipped-log-barrier-sgb"
    place = "Tables 1 and 2 and Appendix E, Zhang et al. 2021"
    lift_and_drain = staticmethod(lift_and_drain)
    mixing = staticmethod(mixing)
    memory = ("length",)  # of the phase, in steps

    c: Positive = 1.0
    lambda0: Positive = 0.5

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return float(self.c), float(self.lambda0)

    def expected_update(self, t: int, policy: np.ndarray, means: np.ndarray, memory: np.ndarray) -> np.ndarray:
        """step_k grad (J + (lambda_l/K) sum log p)."""
        length = 2.0 ** math.floor(math.log2(t))
        k = t - length
        step = self.c / (math.sqrt(k + 3) * math.log2(k + 3))
        barrier = self.lambda0 * length ** (-1 / 6)
        return np.asarray(step * (policy_gradient(policy, means) + barrier * (1 / len(policy) - policy)))
