"""DeepSea (Osband, Van Roy, Russo and Wen 2019): one path among 2^n leads to the treasure, and its first steps cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ...base import validate
from ..problem import FiniteMDP
from .family import Family, uniforms


class DeepSea(FiniteMDP):
    """A triangle of n(n+1)/2 states: from row r, column c, one step down, to column c + 1 (right) or c - 1 (left, at least 0).

    Right costs .01/n and pays 1 in the far corner; after n steps the episode ends. Which of the two actions is right differs
    from state to state and follows from `seed`.

    >>> from logbarrier import mdps
    >>> sea = mdps.DeepSea(20, gamma=1.0)                                        # gamma 1: J is the return of an episode
    >>> sea.n_states, sea.episode_length, round(sea.optimal_performance, 3)
    (210, 20, 0.99)
    """

    def __init__(self, n: int, *, seed: int = 0, gamma: float = 0.99) -> None:
        self.n = validate.integer("DeepSea", "n", n, 2)
        self.seed = validate.integer("DeepSea", "seed", seed, 0, 2**32 - 1)
        right = uniforms(np.array([self.seed, 0], dtype=np.uint64), 0, self.n * (self.n + 1) // 2) < 0.5
        super().__init__(**_arrays(self.n, right.astype(np.int64), gamma))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        return {"problem": "DeepSea", "n": self.n, "seed": self.seed, "gamma": self.gamma}


class RandomDeepSeas(Family):
    """A DeepSea with a fresh action map for every run."""

    def __init__(self, n: int, *, gamma: float = 0.99) -> None:
        self.n = self.episode_length = validate.integer("RandomDeepSeas", "n", n, 2)
        self.n_states, self.n_actions = self.n * (self.n + 1) // 2, 2
        self.gamma = validate.between_zero_and_one("RandomDeepSeas", "gamma", gamma)
        self.name = f"RandomDeepSeas({n})"

    def instance(self, key: np.ndarray, run: int) -> FiniteMDP:
        """The sea that run number `run` faces."""
        return FiniteMDP(**_arrays(self.n, (uniforms(key, run, self.n_states) < 0.5).astype(np.int64), self.gamma))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        return {"problem": "RandomDeepSeas", "n": self.n, "gamma": self.gamma}


def _arrays(n: int, right: np.ndarray, gamma: float) -> dict[str, Any]:
    """What FiniteMDP takes, for the action (S,) that is right in each state; state r (r + 1)/2 + c is row r, column c."""
    row = np.repeat(np.arange(n), np.arange(1, n + 1))
    column = np.arange(len(row)) - row * (row + 1) // 2
    everyone, below = np.arange(len(row)), (row + 1) * (row + 2) // 2
    targets = np.empty((len(row), 2), dtype=np.int64)
    targets[everyone, right] = below + column + 1
    targets[everyone, 1 - right] = below + np.maximum(column - 1, 0)
    R = np.zeros((len(row), 2))
    R[everyone, right] = -0.01 / n
    R[-1, right[-1]] += 1.0
    moving = np.repeat(row < n - 1, 2)
    offsets = np.concatenate([[0], np.cumsum(moving)])
    P = csr_array((np.ones(moving.sum()), targets.ravel()[moving], offsets), shape=(2 * len(row), len(row)))
    return {
        "P": P, "R": R, "rho": np.eye(1, len(row))[0], "gamma": gamma, "name": f"DeepSea({n})", "episode_length": n,
        "shape": (n, n), "states": row * n + column,
    }  # fmt: skip
