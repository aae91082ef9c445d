"""Problems that change while they are played: arms that swap, drift, or follow the seasons.

A changing family stays the same for `block` steps at a time; then the simulator asks it again. So the loops know nothing of it,
every engine runs it, and the regret of a record is dynamic: each pull is charged against the best arm of its own moment.
A checkpoint is measured under the means that ruled the steps just before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import validate
from ..engine.random import standard_normal
from .loops.policy import LARGEST_REWARD
from .problems import GapInstances, gaussian_reward

WAVES = 6  # that a drifting mean is the sum of


class ChangingBandits:
    """The base of families with Gaussian rewards whose means depend on the step. Subclasses say how, in `means_at`."""

    noise = staticmethod(standard_normal)
    reward_of = staticmethod(gaussian_reward)

    def __init__(self, owner: str, n_arms: int, scale: float, block: float) -> None:
        self.n_arms = validate.integer(owner, "n_arms", n_arms, 2)
        self.scale = validate.positive_up_to(owner, "scale", scale, LARGEST_REWARD)
        self.block = validate.integer(owner, "block", block, 1)

    def means_at(self, key: np.ndarray, run: int, step: int) -> np.ndarray:
        """Mean rewards (K,) of the block that begins after `step` steps."""
        raise NotImplementedError

    def instance_at(self, key: np.ndarray, run: int, step: int) -> np.ndarray:
        """The parameters (2, K) that rule from that step to the end of its block."""
        return np.vstack([self.means_at(key, run, step), np.full(self.n_arms, self.scale)])

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """The parameters of the first block."""
        return self.instance_at(key, run, 0)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        return {"problem": type(self).__name__, **vars(self)}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in vars(self).items())})"


def _generator(key: np.ndarray, run: int, *further: int) -> np.random.Generator:
    """Random numbers that depend on seed, run and whatever else, and on nothing that was drawn before."""
    return np.random.default_rng([*map(int, key), run, *further])


class SwappingArms(ChangingBandits):
    """Abrupt: a gap instance whose means are shuffled among the arms every `period` steps.

    >>> import logbarrier as lb
    >>> record = lb.simulate(lb.AutoLogBarrier(), lb.SwappingArms(n_arms=5, period=500), horizon=1000, runs=2)
    """

    def __init__(self, n_arms: int, gap: float = 0.5, period: float = 10_000, r_max: float = 1.0, scale: float = 1.0) -> None:
        super().__init__("SwappingArms", n_arms, scale, validate.integer("SwappingArms", "period", period, 1))
        self.period, self.r_max, self.gap = self.block, float(r_max), float(gap)
        self._family()

    def _family(self) -> GapInstances:
        return GapInstances(self.n_arms, gap=self.gap, r_max=self.r_max, scale=self.scale)

    def means_at(self, key: np.ndarray, run: int, step: int) -> np.ndarray:
        first: np.ndarray = self._family().instance(key, run)[0]
        era = step // self.block
        return first if era == 0 else first[_generator(key, run, era).permutation(self.n_arms)]


class DriftingArms(ChangingBandits):
    """Slow: every mean is r_max times the mean of waves of random phase, with periods from time_scale to 8 time_scale steps."""

    def __init__(
        self, n_arms: int, time_scale: float = 10_000.0, r_max: float = 1.0, scale: float = 1.0, block: float = 100
    ) -> None:
        super().__init__("DriftingArms", n_arms, scale, block)
        self.time_scale = validate.positive("DriftingArms", "time_scale", time_scale)
        self.r_max = validate.positive_up_to("DriftingArms", "r_max", r_max, LARGEST_REWARD)

    def means_at(self, key: np.ndarray, run: int, step: int) -> np.ndarray:
        generator = _generator(key, run)
        periods = self.time_scale * 8.0 ** generator.random((WAVES, self.n_arms))
        phases = generator.random((WAVES, self.n_arms))
        waves = np.sin(2.0 * np.pi * (step / periods + phases))
        return np.asarray(self.r_max * np.sqrt(2.0 / WAVES) * waves.sum(axis=0) / 2.0)


class SeasonalArms(ChangingBandits):
    """Periodic: every mean swings by `swing` around its own level, all with the same period, each with its own phase."""

    def __init__(
        self,
        n_arms: int,
        period: float = 20_000.0,
        swing: float = 0.5,
        r_max: float = 1.0,
        scale: float = 1.0,
        block: float = 100,
    ) -> None:
        super().__init__("SeasonalArms", n_arms, scale, block)
        self.period = validate.positive("SeasonalArms", "period", period)
        self.swing = validate.positive_up_to("SeasonalArms", "swing", swing, LARGEST_REWARD)
        self.r_max = validate.positive_up_to("SeasonalArms", "r_max", r_max, LARGEST_REWARD)

    def means_at(self, key: np.ndarray, run: int, step: int) -> np.ndarray:
        generator = _generator(key, run)
        levels = self.r_max * generator.uniform(-1.0, 1.0, self.n_arms)
        phases = generator.random(self.n_arms)
        return np.asarray(levels + self.swing * np.sin(2.0 * np.pi * (step / self.period + phases)))
