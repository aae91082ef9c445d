"""Where a run starts: uniform, given probabilities, or a description that depends on each run's instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..base import validate


class Start(Protocol):
    """Anything that turns mean rewards (K,) into starting preferences theta (K,)."""

    def theta(self, means: np.ndarray) -> np.ndarray:
        """Starting preferences."""
        ...


@dataclass(frozen=True)
class Uniform:
    """theta = 0, the paper's start."""

    def theta(self, means: np.ndarray) -> np.ndarray:
        """Zeros (K,)."""
        return np.zeros(len(means))


@dataclass(frozen=True)
class OptimalArmAt:
    """The optimal arm at `probability`, the rest equal: a bad start made to order."""

    probability: float

    def __post_init__(self) -> None:
        if not 0 < validate.number("OptimalArmAt", "probability", self.probability) < 1:
            raise ValueError(f"OptimalArmAt: probability must be between 0 and 1, got {self.probability}")

    def theta(self, means: np.ndarray) -> np.ndarray:
        """log p(a*) against log of an equal share of the rest (K,)."""
        theta = np.full(len(means), np.log((1 - self.probability) / (len(means) - 1)))
        theta[np.argmax(means)] = np.log(self.probability)
        return theta


@dataclass(frozen=True, eq=False)
class Probabilities:
    """Given probabilities (K,), the same for every run."""

    values: np.ndarray

    def theta(self, means: np.ndarray) -> np.ndarray:
        """Their logarithms (K,)."""
        return np.asarray(np.log(self.values))


def as_start(owner: str, start: Any, n_arms: int) -> Start:
    """None, K probabilities, or a description, as a Start."""
    if start is None:
        return Uniform()
    if hasattr(start, "theta"):
        return start  # type: ignore[no-any-return]
    values = validate.vector(owner, "start", start)
    if len(values) != n_arms:
        raise ValueError(f"{owner}: start must have one probability per arm, {n_arms}, got {len(values)}")
    if values.min() <= 0:
        raise ValueError(f"{owner}: start probabilities must be positive, got {values.min()}")
    if abs(values.sum() - 1.0) > 1e-9:
        raise ValueError(f"{owner}: start probabilities must sum to 1, got {values.sum()}")
    return Probabilities(values)


def starting_theta(start: Start, means: np.ndarray) -> np.ndarray:
    """Where a run with these mean rewards starts, (K,), checked: a description may be a user's own."""
    theta = validate.vector(type(start).__name__, "theta", start.theta(means))
    if len(theta) != len(means):
        raise ValueError(f"{type(start).__name__}: theta must have one entry per arm, {len(means)}, got {len(theta)}")
    return theta
