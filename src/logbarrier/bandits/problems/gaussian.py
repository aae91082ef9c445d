"""Gaussian rewards."""

from __future__ import annotations

from typing import Any

from ...base import validate
from ...engine.compiled import compiled
from ...engine.random import standard_normal
from .bandit import Bandit, per_arm


@compiled
def gaussian_reward(noise, parameters, arm, stream):
    """R = r(a) + scale * N(0, 1)."""
    return parameters[0, arm] + parameters[1, arm] * noise


class GaussianBandit(Bandit):
    """R ~ N(r(a), scale^2), the paper's experiment (Appendix E).

    means (K,): r. scale: the standard deviation, one for all arms or (K,).

    >>> import logbarrier as lb
    >>> lb.GaussianBandit(means=[0.1, 0.5, 0.3], scale=1.0).optimal_arm
    1
    """

    noise = staticmethod(standard_normal)
    reward_of = staticmethod(gaussian_reward)

    def __init__(self, means: Any, scale: Any = 1.0, *, allow_ties: bool = False) -> None:
        checked = validate.vector("GaussianBandit", "means", means)
        super().__init__(checked, per_arm("GaussianBandit", "scale", scale, checked), allow_ties=allow_ties)

    def arguments(self) -> dict[str, Any]:
        return {**super().arguments(), "scale": self.parameters[1].tolist()}
