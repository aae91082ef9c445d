"""A needle in a haystack: all arms but one are equal."""

from __future__ import annotations

import numpy as np

from ...base import validate
from ..loops.policy import LARGEST_REWARD
from .family import Family, instance_uniforms
from .gaussian import GaussianBandit


class NeedleInstances(Family):
    """Gaussian rewards; one arm at a random place has mean level + gap, all others have mean level.

    gap > 0; scale: the standard deviation of a reward. The hardest placement of K means with a given gap.
    """

    bandit = GaussianBandit

    def __init__(self, n_arms: int, gap: float = 0.1, level: float = 0.0, scale: float = 1.0) -> None:
        self.n_arms = validate.integer("NeedleInstances", "n_arms", n_arms, 2)
        self.level = validate.between("NeedleInstances", "level", level, -LARGEST_REWARD, LARGEST_REWARD)
        self.gap = validate.positive_up_to("NeedleInstances", "gap", gap, LARGEST_REWARD)
        self.scale = validate.positive_up_to("NeedleInstances", "scale", scale, LARGEST_REWARD)
        if self.level + self.gap <= self.level:
            raise ValueError(f"NeedleInstances: gap must be large enough to tell the best mean apart, got {self.gap}")

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """Return the parameters (2, K) of a run: means and scale."""
        places, _ = instance_uniforms(key, run, self.n_arms)
        parameters = np.full((2, self.n_arms), self.level)
        parameters[0, int(places[0] * self.n_arms)] = self.level + self.gap
        parameters[1] = self.scale
        return parameters
