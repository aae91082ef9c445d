"""Heavy tails: Student-t rewards."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base import validate
from ...engine.compiled import compiled
from ...engine.elementary import exp, log
from ...engine.random import reward_uniform
from .bandit import Bandit, per_arm
from .bounded import uniform_noise

LARGEST_DF = 1e6  # beyond, the distribution is Gaussian for every purpose


@compiled
def student_variate(df, stream):
    """Return a Student-t variate by Bailey's polar method (1994): T = x sqrt(df (w^(-2/df) - 1)/w), w = x^2 + y^2 < 1."""
    block = 0
    while True:
        block += 1
        u, v = reward_uniform(block, stream)
        x, y = 2.0 * u - 1.0, 2.0 * v - 1.0
        w = x * x + y * y
        if w < 1.0:
            return x * math.sqrt(df * (exp(-2.0 / df * log(w)) - 1.0) / w)


@compiled
def student_reward(noise, parameters, arm, stream):
    """R = r(a) + scale T(df)."""
    return parameters[0, arm] + parameters[1, arm] * student_variate(parameters[2, arm], stream)


def checked_df(owner: str, df: Any) -> float:
    """Return degrees of freedom for which the mean exists."""
    checked = validate.number(owner, "df", df)
    if not 1.0 < checked <= LARGEST_DF:
        raise ValueError(f"{owner}: df must be above 1, so that the mean exists, and at most {LARGEST_DF:g}, got {checked}")
    return checked


class StudentBandit(Bandit):
    """R = r(a) + scale T, T with Student's t distribution of df degrees of freedom: heavy tails.

    means (K,): r. scale: one for all arms or (K,); the standard deviation is scale sqrt(df/(df - 2)), infinite for df <= 2.
    df > 1.

    >>> import logbarrier as lb
    >>> lb.StudentBandit(means=[0.0, 0.1], df=3).optimal_arm
    1
    """

    noise = staticmethod(uniform_noise)
    reward_of = staticmethod(student_reward)

    def __init__(self, means: Any, scale: Any = 1.0, df: float = 3.0, *, allow_ties: bool = False) -> None:
        checked = validate.vector("StudentBandit", "means", means)
        scales = per_arm("StudentBandit", "scale", scale, checked)
        super().__init__(checked, scales, np.full(len(checked), checked_df("StudentBandit", df)), allow_ties=allow_ties)

    def arguments(self) -> dict[str, Any]:
        return {**super().arguments(), "scale": self.parameters[1].tolist(), "df": float(self.parameters[2, 0])}
