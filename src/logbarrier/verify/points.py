"""Points at which a statement is tried: drawn at random, or steered by an optimiser through free coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

VECTORS = ("theta", "means", "direction", "other")
NUMBERS = ("r_max", "eta", "fraction", "spread", "reward")
RANDOM_SIZES = (2, 3, 5, 10, 30)  # K of the random points
SEARCHED_SIZES = (2, 3, 4, 5)  # and of those the optimiser looks for


@dataclass(frozen=True)
class Instances:
    """n points of K arms.

    theta, other      preferences (n, K) within +-35
    means             mean rewards (n, K) within +-r_max
    direction         any vector (n, K)
    r_max, eta        (n,), 0.1 to 10 and 0.01 to 1e6
    fraction, spread  (n,), of the largest learning rate allowed, 0.001 to 0.999; of the widest reward law, 0 to 1
    reward            (n,), a sampled reward within +-r_max
    """

    theta: np.ndarray
    means: np.ndarray
    direction: np.ndarray
    other: np.ndarray
    r_max: np.ndarray
    eta: np.ndarray
    fraction: np.ndarray
    spread: np.ndarray
    reward: np.ndarray

    @property
    def n_arms(self) -> int:
        """K."""
        return int(self.theta.shape[1])

    @property
    def gap(self) -> np.ndarray:
        """Delta (n,), the smallest difference between two means; above 0 by 1e-9 of r_max even for ties."""
        return np.asarray(np.maximum(np.diff(np.sort(self.means, axis=1), axis=1).min(axis=1), 1e-9 * self.r_max))

    def reward_law(self) -> tuple[np.ndarray, np.ndarray]:
        """Two rewards per arm and their chances, each (n, K, 2), with the given means: certain at spread 0, +-r_max at 1."""
        r_max, spread = self.r_max[:, None], self.spread[:, None]
        high = self.means + spread * (r_max - self.means)
        low = self.means - spread * (r_max + self.means)
        chance = (r_max + self.means) / (2.0 * r_max)
        return np.stack([high, low], axis=-1), np.stack([chance, 1.0 - chance], axis=-1)

    def describe(self, index: int) -> dict[str, Any]:
        """One point as plain JSON values: enough to evaluate the statement there again."""
        vectors = {name: getattr(self, name)[index].tolist() for name in VECTORS}
        return vectors | {name: float(getattr(self, name)[index]) for name in NUMBERS}


def coordinates(n_arms: int) -> int:
    """How many free coordinates a point of K arms has."""
    return len(VECTORS) * n_arms + len(NUMBERS)


def decode(free: np.ndarray, n_arms: int) -> Instances:
    """Free coordinates (n, D) as points; every real vector is a valid point, which suits an optimiser."""
    theta, means, direction, other = np.split(free[:, : 4 * n_arms], 4, axis=1)
    r_max, eta, fraction, spread, reward = free[:, 4 * n_arms :].T
    unit = 10.0 ** np.tanh(r_max)
    return Instances(
        theta=35.0 * np.tanh(theta / 35.0),
        means=unit[:, None] * np.tanh(means),
        direction=direction,
        other=35.0 * np.tanh(other / 35.0),
        r_max=unit,
        eta=10.0 ** (2.0 + 4.0 * np.tanh(eta)),
        fraction=0.5 + 0.499 * np.tanh(fraction),
        spread=0.5 * (1.0 + np.tanh(spread)),
        reward=unit * np.tanh(reward),
    )


def draw(generator: np.random.Generator, count: int, n_arms: int) -> np.ndarray:
    """Free coordinates (count, D): from near-uniform to near-deterministic policies, from close to distant means."""
    free = generator.normal(size=(count, coordinates(n_arms)))
    free[:, :n_arms] *= generator.choice([0.1, 1.0, 4.0, 12.0], size=(count, 1))
    free[:, n_arms : 2 * n_arms] *= generator.choice([0.1, 1.0, 3.0], size=(count, 1))
    return np.asarray(free)
