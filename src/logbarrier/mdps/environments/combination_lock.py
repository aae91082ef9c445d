"""The combination lock: one right action in each state, and every mistake leads back to the start."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ...base import validate
from ..problem import FiniteMDP
from .family import Family, uniforms


class Lock(FiniteMDP):
    """n states in a row, K actions, start in the first. The right action moves on, any other goes back to the start.

    The right action in the last state pays 1 and stays there. Which one is right in each state follows from `seed`.

    >>> from logbarrier import mdps
    >>> lock = mdps.Lock(20)
    >>> round(lock.performance(lock.optimal_policy), 3), lock.n_states, lock.n_actions
    (0.826, 20, 2)
    """

    def __init__(self, n: int, n_actions: int = 2, *, seed: int = 0, gamma: float = 0.99) -> None:
        n, n_actions = validate.integer("Lock", "n", n, 2), validate.integer("Lock", "n_actions", n_actions, 2)
        self.seed = validate.integer("Lock", "seed", seed, 0, 2**32 - 1)
        right = (uniforms(np.array([self.seed, 0], dtype=np.uint64), 0, n) * n_actions).astype(np.int64)
        super().__init__(**_arrays(right, n_actions, gamma))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        return {
            "problem": "Lock", "n": self.n_states, "n_actions": self.n_actions, "seed": self.seed, "gamma": self.gamma
        }  # fmt: skip


class RandomLocks(Family):
    """A lock with fresh right actions for every run.

    >>> from logbarrier import mdps
    >>> mdps.RandomLocks(10, 4).problem(seed=0, run=3)
    Lock(10, 4)(10 states, 4 actions, gamma=0.99)
    """

    def __init__(self, n: int, n_actions: int = 2, *, gamma: float = 0.99) -> None:
        self.n = self.n_states = validate.integer("RandomLocks", "n", n, 2)
        self.n_actions = validate.integer("RandomLocks", "n_actions", n_actions, 2)
        self.gamma = validate.between_zero_and_one("RandomLocks", "gamma", gamma)
        self.name = f"RandomLocks({n}, {n_actions})"

    def instance(self, key: np.ndarray, run: int) -> FiniteMDP:
        """The lock that run number `run` faces."""
        right = (uniforms(key, run, self.n) * self.n_actions).astype(np.int64)
        return FiniteMDP(**_arrays(right, self.n_actions, self.gamma))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        return {"problem": "RandomLocks", "n": self.n, "n_actions": self.n_actions, "gamma": self.gamma}


def _arrays(right: np.ndarray, n_actions: int, gamma: float) -> dict[str, Any]:
    """What FiniteMDP takes, for the right action (n,) of each state."""
    n = len(right)
    ahead = np.minimum(np.arange(n) + 1, n - 1)
    successors = np.zeros((n, n_actions), dtype=np.int64)
    successors[np.arange(n), right] = ahead
    R = np.zeros((n, n_actions))
    R[n - 1, right[n - 1]] = 1.0
    pairs = n * n_actions
    P = csr_array((np.ones(pairs), successors.ravel(), np.arange(pairs + 1)), shape=(pairs, n))
    return {"P": P, "R": R, "rho": np.eye(1, n)[0], "gamma": gamma, "name": f"Lock({n}, {n_actions})", "shape": (1, n)}
