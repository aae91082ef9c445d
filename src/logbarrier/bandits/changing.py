"""Problems that change while they are played: arms that swap, drift, or follow the seasons.

A changing family stays the same for `block` steps at a time; then the simulator asks it again. So the loops know nothing of it,
and every engine runs it. The regret of a record is dynamic: each pull is charged against the best arm of its own moment.
A checkpoint is measured under the means that ruled the steps just before it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..base import validate
from ..engine.random import standard_normal, stream_key
from .loops.policy import LARGEST_REWARD
from .problems.gap_instances import GapInstances, checked_gap
from .problems.gaussian import gaussian_reward

WAVES = 6  # that a drifting mean is the sum of
LONGEST = 1e15  # steps of a period; far beyond any horizon
RUNS_KEPT = 64  # whose random numbers are remembered, so that a block need not draw them again; eight are under way in a thread


class ChangingBandits:
    """The base of families with Gaussian rewards whose means depend on the step. Subclasses say how, in `means_at`.

    block  for how many steps the means stay the same

    What a subclass keeps in its attributes are the arguments that make it again, as studies want them.
    """

    noise = staticmethod(standard_normal)
    reward_of = staticmethod(gaussian_reward)
    block: int

    def __init__(self, n_arms: int, scale: float) -> None:
        owner = type(self).__name__
        self.n_arms = validate.integer(owner, "n_arms", n_arms, 2)
        self.scale = validate.positive_up_to(owner, "scale", scale, LARGEST_REWARD)

    def means_at(self, key: np.ndarray, run: int, step: int) -> np.ndarray:
        """Mean rewards (K,) of the block that begins after `step` steps."""
        raise NotImplementedError

    def instance_at(self, key: np.ndarray, run: int, step: int) -> np.ndarray:
        """The parameters (2, K) that rule from that step to the end of its block."""
        parameters = np.empty((2, self.n_arms))
        parameters[0], parameters[1] = self.means_at(key, run, step), self.scale
        return parameters

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """The parameters of the first block."""
        return self.instance_at(key, run, 0)

    def means_along(self, steps: np.ndarray, *, seed: int, run: int = 0) -> np.ndarray:
        """Mean rewards (steps, K) that rule after each of `steps`, in a run of a seed: to look at, or to draw."""
        key = stream_key(validate.integer(type(self).__name__, "seed", seed, 0))
        blocks, places = np.unique(np.asarray(steps) // self.block, return_inverse=True)
        return np.array([self.means_at(key, run, int(block) * self.block) for block in blocks])[places]

    def arguments(self) -> dict[str, Any]:
        """Plain JSON values that make it again."""
        return dict(vars(self))

    def to_dict(self) -> dict[str, Any]:
        """What a record keeps of it."""
        return {"problem": type(self).__name__, **self.arguments()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value:g}' for name, value in self.arguments().items())})"


def _generator(key: np.ndarray, run: int, *further: int) -> np.random.Generator:
    """Random numbers that depend on seed, run and whatever else, and on nothing that was drawn before."""
    return np.random.default_rng([*map(int, key), run, *further])


class SwappingArms(ChangingBandits):
    """Abrupt: a gap instance whose means are shuffled among the arms every `period` steps.

    >>> import logbarrier as lb
    >>> record = lb.simulate(lb.AutoLogBarrier(), lb.SwappingArms(n_arms=5, period=500), horizon=1000, runs=2)
    """

    def __init__(self, n_arms: int, gap: float = 0.5, period: float = 10_000, r_max: float = 1.0, scale: float = 1.0) -> None:
        super().__init__(n_arms, scale)
        self.period = validate.integer("SwappingArms", "period", period, 1)
        self.r_max = validate.positive_up_to("SwappingArms", "r_max", r_max, LARGEST_REWARD)
        self.gap = checked_gap("SwappingArms", gap, -self.r_max, self.r_max)

    @property
    def block(self) -> int:  # type: ignore[override]
        """For how many steps the means stay the same: the period."""
        return self.period

    def means_at(self, key: np.ndarray, run: int, step: int) -> np.ndarray:
        family = GapInstances(self.n_arms, gap=self.gap, r_max=self.r_max, scale=self.scale)
        first: np.ndarray = family.instance(key, run)[0]
        era = step // self.period
        return first if era == 0 else first[_generator(key, run, era).permutation(self.n_arms)]


class DriftingArms(ChangingBandits):
    """Slow: every mean is r_max/2 times a sum of six waves, of variance 1 in all, of random phase.

    Their periods lie between time_scale and 8 time_scale steps. A mean may pass r_max, up to sqrt(3) r_max.
    """

    def __init__(
        self, n_arms: int, time_scale: float = 10_000.0, r_max: float = 1.0, scale: float = 1.0, block: float = 100
    ) -> None:
        super().__init__(n_arms, scale)
        self.block = validate.integer("DriftingArms", "block", block, 1)
        self.time_scale = validate.between("DriftingArms", "time_scale", time_scale, 1.0, LONGEST)
        self.r_max = validate.positive_up_to("DriftingArms", "r_max", r_max, LARGEST_REWARD)

    def means_at(self, key: np.ndarray, run: int, step: int) -> np.ndarray:
        lengths, phases = _waves(tuple(map(int, key)), run, self.n_arms)
        waves = np.sin(2.0 * np.pi * (step / (self.time_scale * lengths) + phases))
        return np.asarray(self.r_max * np.sqrt(2.0 / WAVES) * waves.sum(axis=0) / 2.0)


@lru_cache(maxsize=RUNS_KEPT)
def _waves(key: tuple[int, ...], run: int, n_arms: int) -> tuple[np.ndarray, np.ndarray]:
    """Lengths from 1 to 8 and phases in [0, 1) of the waves of a run, each (WAVES, K)."""
    generator = np.random.default_rng([*key, run])
    return 8.0 ** generator.random((WAVES, n_arms)), generator.random((WAVES, n_arms))


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
        super().__init__(n_arms, scale)
        self.block = validate.integer("SeasonalArms", "block", block, 1)
        self.period = validate.between("SeasonalArms", "period", period, 1.0, LONGEST)
        self.swing = validate.positive_up_to("SeasonalArms", "swing", swing, LARGEST_REWARD)
        self.r_max = validate.positive_up_to("SeasonalArms", "r_max", r_max, LARGEST_REWARD)

    def means_at(self, key: np.ndarray, run: int, step: int) -> np.ndarray:
        levels, phases = _seasons(tuple(map(int, key)), run, self.n_arms)
        return np.asarray(self.r_max * levels + self.swing * np.sin(2.0 * np.pi * (step / self.period + phases)))


@lru_cache(maxsize=RUNS_KEPT)
def _seasons(key: tuple[int, ...], run: int, n_arms: int) -> tuple[np.ndarray, np.ndarray]:
    """Levels in [-1, 1) and phases in [0, 1) of the arms of a run, each (K,)."""
    generator = np.random.default_rng([*key, run])
    return generator.uniform(-1.0, 1.0, n_arms), generator.random(n_arms)
