"""Random MDPs, without structure: what holds on them holds widely, but exploration is not hard on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ...base import validate
from ...engine.compiled import compiled, from_python
from ...engine.elementary import log
from ..problem import FiniteMDP
from .family import Family, uniforms


@compiled
def as_exponentials(uniforms: Any) -> None:
    """uniforms (n, m) <- -log uniforms, to the same bits on every machine."""
    for i in range(uniforms.shape[0]):
        for j in range(uniforms.shape[1]):
            uniforms[i, j] = -log(uniforms[i, j])


class RandomMDPs(Family):
    """A fresh MDP for every run: (s, a) leads to `branching` states with Dirichlet(1) weights and pays uniformly on [0, 1].

    One of its successors is s + 1 (modulo S) for action 0, so that every state can be reached; the first state is uniform.

    ending  the probability that the episode ends after a step

    >>> from logbarrier import mdps
    >>> mdps.RandomMDPs(8, 3).problem(seed=0, run=3)
    RandomMDPs(8, 3)(8 states, 3 actions, gamma=0.9)
    """

    def __init__(self, n_states: int, n_actions: int, *, branching: int = 4, ending: float = 0.0, gamma: float = 0.9) -> None:
        self.n_states = validate.integer("RandomMDPs", "n_states", n_states, 1)
        self.n_actions = validate.integer("RandomMDPs", "n_actions", n_actions, 1)
        self.branching = validate.integer("RandomMDPs", "branching", branching, 1)
        self.ending = validate.between_zero_and_one("RandomMDPs", "ending", ending)
        self.gamma = validate.between_zero_and_one("RandomMDPs", "gamma", gamma)
        self.name = f"RandomMDPs({n_states}, {n_actions})"

    def instance(self, key: np.ndarray, run: int) -> FiniteMDP:
        """The MDP that run number `run` faces."""
        S, pairs = self.n_states, self.n_states * self.n_actions
        drawn = uniforms(key, run, (2 * self.branching + 1) * pairs)
        successors = (drawn[: self.branching * pairs] * S).astype(np.int64).reshape(pairs, self.branching)
        successors[:: self.n_actions, 0] = (np.arange(S) + 1) % S
        weights = drawn[self.branching * pairs : 2 * self.branching * pairs].reshape(pairs, self.branching).copy()
        from_python(as_exponentials)(weights)
        weights *= (1.0 - self.ending) / weights.sum(axis=1, keepdims=True)
        offsets = np.arange(pairs + 1) * self.branching
        P = csr_array((weights.ravel(), successors.ravel(), offsets), shape=(pairs, S))
        R = drawn[2 * self.branching * pairs :].reshape(S, self.n_actions)
        return FiniteMDP(P=P, R=R, rho=np.full(S, 1.0 / S), gamma=self.gamma, name=self.name)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        return {
            "problem": "RandomMDPs", "n_states": self.n_states, "n_actions": self.n_actions, "branching": self.branching,
            "ending": self.ending, "gamma": self.gamma,
        }  # fmt: skip
