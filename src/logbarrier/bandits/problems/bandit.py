"""What a problem is, and the base of problems with one fixed instance."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np

from ...base import validate
from ..loops.policy import LARGEST_REWARD


class ProblemSource(Protocol):
    """What the simulator asks of a problem or a family."""

    noise: Any
    reward_of: Any

    @property
    def n_arms(self) -> int:
        """K."""
        ...

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """The parameters (P, K) that run number `run` faces; row 0 holds the mean rewards."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        ...


class Bandit:
    """One fixed instance. Subclasses name a distribution.

    allow_ties: the theory needs all means to differ (Assumption 2.1), so ties are refused unless this is True.
    """

    noise: Any
    reward_of: Any

    def __init__(self, means: Any, *further: np.ndarray, allow_ties: bool = False) -> None:
        owner = type(self).__name__
        checked = validate.vector(owner, "means", means)
        if np.abs(checked).max() > LARGEST_REWARD:
            raise ValueError(f"{owner}: means must be at most {LARGEST_REWARD:g} in size, got {np.abs(checked).max()}")
        if not allow_ties:
            order = np.argsort(checked, kind="stable")
            tied = np.flatnonzero(np.diff(checked[order]) == 0)
            if len(tied):
                a, b = sorted((int(order[tied[-1]]), int(order[tied[-1] + 1])))
                raise ValueError(
                    f"{owner}: means must differ (Assumption 2.1), got {checked[a]} for arms {a} and {b}; "
                    "pass allow_ties=True to run it anyway"
                )
        self.parameters = np.vstack([checked, *further])
        self.parameters.setflags(write=False)

    @classmethod
    def of(cls, parameters: np.ndarray) -> Self:
        """Return the problem with parameters (P, K) that a family drew; means may be equal."""
        problem = cls.__new__(cls)
        problem.parameters = np.array(parameters)
        problem.parameters.setflags(write=False)
        return problem

    @property
    def means(self) -> np.ndarray:
        """Mean rewards r (K,)."""
        return np.asarray(self.parameters[0])

    @property
    def n_arms(self) -> int:
        """K."""
        return int(self.parameters.shape[1])

    @property
    def optimal_arm(self) -> int:
        """a*, the arm of the largest mean."""
        return int(np.argmax(self.means))

    @property
    def optimal_reward(self) -> float:
        """r(a*)."""
        return float(self.means.max())

    @property
    def optimal_gap(self) -> float:
        """Delta* = r(a*) minus the second largest mean."""
        second, first = np.sort(self.means)[-2:]
        return float(first - second)

    @property
    def minimum_gap(self) -> float:
        """Delta, the smallest difference between any two means."""
        return float(np.diff(np.sort(self.means)).min())

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """The same parameters for every run."""
        return self.parameters

    def arguments(self) -> dict[str, Any]:
        """Plain JSON values that make it again, `type(self)(**arguments)`; a subclass that takes more adds them."""
        return {"means": self.means.tolist(), **self.ties()}

    def ties(self) -> dict[str, bool]:
        """Return the argument that allows equal means, where some are equal."""
        return {"allow_ties": True} if len(np.unique(self.means)) < self.n_arms else {}

    def to_dict(self) -> dict[str, Any]:
        """What a record keeps of it: the parameters themselves, equal for equal instances however they were written."""
        return {"problem": type(self).__name__, "parameters": self.parameters.tolist()}

    def __repr__(self) -> str:
        with np.printoptions(threshold=8, precision=4):
            return f"{type(self).__name__}(means={self.means})"


def per_arm(owner: str, name: str, value: Any, means: np.ndarray, most: float = LARGEST_REWARD) -> np.ndarray:
    """Return one positive number for each arm, (K,), from one for all or one for each."""
    if np.ndim(value) == 0:
        return np.full(len(means), validate.positive_up_to(owner, name, value, most))
    given = validate.vector(owner, name, value)
    if len(given) != len(means):
        raise ValueError(f"{owner}: {name} must have one entry per arm, {len(means)}, got {len(given)}")
    if given.min() <= 0:
        raise ValueError(f"{owner}: {name} must be positive, got {given.min()}")
    if given.max() > most:
        raise ValueError(f"{owner}: {name} must be at most {most:g}, got {given.max()}")
    return given
