"""Gap instances: the best mean r_max, the second r_max - gap, the rest below, at random places."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import validate
from ...engine.compiled import compiled, from_python
from ...engine.elementary import exp, log
from ..loops.policy import LARGEST_REWARD
from .bounded import BernoulliBandit
from .family import Family, instance_uniforms
from .gaussian import GaussianBandit
from .student import StudentBandit, checked_df


def gap_means(places: np.ndarray, uniforms: np.ndarray, lowest: float, best: float, gap: float) -> np.ndarray:
    """Return means (K,): one `best`, one `best - gap`, the rest uniform on [lowest, best - gap)."""
    n_arms = len(uniforms)
    first, second = int(places[0] * n_arms), int(places[1] * (n_arms - 1))
    second += second >= first
    means: np.ndarray = lowest + uniforms * (best - gap - lowest)
    means[second] = best - gap
    means[first] = best
    return means


def checked_gap(owner: str, gap: Any, lowest: float, best: float) -> float:
    """Return a gap that leaves the second mean below the best and above the lowest, in float64 too."""
    checked = validate.positive(owner, "gap", gap)
    if best - checked <= lowest:
        raise ValueError(f"{owner}: gap must be below {best - lowest:g}, got {checked}")
    if best - checked >= best:
        raise ValueError(f"{owner}: gap must be large enough to tell the two best means apart, got {checked}")
    return checked


class GapInstances(Family):
    """The paper's family (Appendix E): a fresh Gaussian instance for every run.

    The best mean is r_max, the second r_max - gap, the rest uniform on [-r_max, r_max - gap); places are random; rewards
    are N(r(a), scale^2). Run number i of a seed faces the same instance whatever the rule.

    >>> import logbarrier as lb
    >>> lb.GapInstances(n_arms=5, gap=0.1).problem(seed=0, run=3).optimal_reward
    1.0
    """

    bandit = GaussianBandit

    def __init__(self, n_arms: int, gap: float = 0.1, r_max: float = 1.0, scale: float = 1.0) -> None:
        owner = type(self).__name__
        self.n_arms = validate.integer(owner, "n_arms", n_arms, 2)
        self.r_max = validate.positive_up_to(owner, "r_max", r_max, LARGEST_REWARD)
        self.gap = checked_gap(owner, gap, -self.r_max, self.r_max)
        self.scale = validate.positive_up_to(owner, "scale", scale, LARGEST_REWARD)

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """Return the parameters (2, K) of a run: means and scale."""
        places, uniforms = instance_uniforms(key, run, self.n_arms)
        parameters = np.empty((2, self.n_arms))
        parameters[0] = gap_means(places, uniforms[0], -self.r_max, self.r_max, self.gap)
        parameters[1] = self.scale
        return parameters


class BernoulliGapInstances(Family):
    """The gap construction with Bernoulli rewards: best mean r_max, second r_max - gap, the rest on [0, r_max - gap)."""

    bandit = BernoulliBandit

    def __init__(self, n_arms: int, gap: float = 0.1, r_max: float = 0.9) -> None:
        self.n_arms = validate.integer("BernoulliGapInstances", "n_arms", n_arms, 2)
        self.r_max = validate.positive("BernoulliGapInstances", "r_max", r_max)
        if self.r_max > 1:
            raise ValueError(f"BernoulliGapInstances: r_max must be at most 1, got {self.r_max}")
        self.gap = checked_gap("BernoulliGapInstances", gap, 0.0, self.r_max)

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """Return the parameters (1, K) of a run: means."""
        places, uniforms = instance_uniforms(key, run, self.n_arms)
        return gap_means(places, uniforms[0], 0.0, self.r_max, self.gap)[np.newaxis]


class StudentInstances(Family):
    """The gap construction with heavy tails: R = r(a) + scale T, T with Student's t distribution of df degrees of freedom."""

    bandit = StudentBandit

    def __init__(self, n_arms: int, gap: float = 0.1, r_max: float = 1.0, scale: float = 1.0, df: float = 3.0) -> None:
        self.n_arms = validate.integer("StudentInstances", "n_arms", n_arms, 2)
        self.r_max = validate.positive_up_to("StudentInstances", "r_max", r_max, LARGEST_REWARD)
        self.gap = checked_gap("StudentInstances", gap, -self.r_max, self.r_max)
        self.scale = validate.positive_up_to("StudentInstances", "scale", scale, LARGEST_REWARD)
        self.df = checked_df("StudentInstances", df)

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """Return the parameters (3, K) of a run: means, scale and degrees of freedom."""
        places, uniforms = instance_uniforms(key, run, self.n_arms)
        means = gap_means(places, uniforms[0], -self.r_max, self.r_max, self.gap)
        return np.vstack([means, np.full(self.n_arms, self.scale), np.full(self.n_arms, self.df)])


@compiled
def spread_logarithmically(uniforms, smallest, largest):
    """Map uniforms (K,) to numbers between smallest and largest whose logarithm is uniform."""
    for a in range(uniforms.shape[0]):
        uniforms[a] = smallest * exp(uniforms[a] * log(largest / smallest))


class UnequalNoiseInstances(Family):
    """The gap construction with Gaussian rewards of unequal noise: each arm's standard deviation is log-uniform.

    smallest, largest > 0: the limits of the standard deviations.
    """

    bandit = GaussianBandit

    def __init__(self, n_arms: int, gap: float = 0.1, r_max: float = 1.0, smallest: float = 0.1, largest: float = 3.0) -> None:
        self.n_arms = validate.integer("UnequalNoiseInstances", "n_arms", n_arms, 2)
        self.r_max = validate.positive_up_to("UnequalNoiseInstances", "r_max", r_max, LARGEST_REWARD)
        self.gap = checked_gap("UnequalNoiseInstances", gap, -self.r_max, self.r_max)
        self.largest = validate.positive_up_to("UnequalNoiseInstances", "largest", largest, LARGEST_REWARD)
        self.smallest = validate.positive_up_to("UnequalNoiseInstances", "smallest", smallest, self.largest)

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """Return the parameters (2, K) of a run: means and standard deviations."""
        places, uniforms = instance_uniforms(key, run, self.n_arms)
        parameters = np.vstack([gap_means(places, uniforms[0], -self.r_max, self.r_max, self.gap), uniforms[1]])
        from_python(spread_logarithmically)(parameters[1], self.smallest, self.largest)
        return parameters
