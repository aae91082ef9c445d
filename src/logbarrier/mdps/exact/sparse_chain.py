"""Visits and values of policies of a large sparse MDP, to rounding in the large, by elimination or by Krylov iteration.

`mdp.chain` gives every entry to full relative precision, which objectives without features need. Sums over many states, of
which features are made, do not need it, and these solvers are faster. Where transitions lead to neighbours, as on a grid,
sparse factors stay sparse. Where they lead anywhere, factors fill up, but the chain mixes fast and few iterations suffice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import gmres, splu

from ..problem import FiniteMDP

MOST_WORK = 500_000_000  # additions, at most, for elimination in place of iteration
PRECISE = 1e-13  # residual, relative to the right-hand side
KRYLOV = 60  # iterations before a restart, of which there are two


class SparseChains:
    """The discounted chains of the policies of one MDP."""

    def __init__(self, mdp: FiniteMDP) -> None:
        self.mdp = mdp
        moves = self.moves(mdp.uniform_policy)
        order = reverse_cuthill_mckee(moves)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        rows, columns = moves.nonzero()
        band = int(np.abs(place[rows] - place[columns]).max(initial=0))
        self.eliminated = band * band * mdp.n_states <= MOST_WORK

    def moves(self, policy: np.ndarray) -> csr_array:
        """M = gamma P_pi (S, S)."""
        S, K = policy.shape
        weights = csr_array((policy.ravel(), np.arange(S * K), np.arange(S + 1) * K), shape=(S, S * K))
        return csr_array(self.mdp.gamma * (weights @ self.mdp.rows))

    def of(self, policy: np.ndarray) -> SparseChain:
        """The chain of a policy (S, K)."""
        return SparseChain(self.moves(policy), self.eliminated)

    def occupancy(self, policy: np.ndarray) -> np.ndarray:
        """d (S,)."""
        return self.of(policy).visits(self.mdp.normaliser * self.mdp.rho)


class SparseChain:
    """The chain M (S, S) of one policy: visits solve x = start + M' x, values solve v = reward + M v."""

    def __init__(self, moves: csr_array, eliminated: bool) -> None:
        self._moves = moves
        self._factors: Any = splu((eye_array(moves.shape[0]) - moves).tocsc()) if eliminated else None

    def visits(self, start: np.ndarray) -> np.ndarray:
        """x (S,)."""
        if self._factors is not None:
            return np.asarray(np.maximum(self._factors.solve(start, trans="T"), 0.0))
        return np.asarray(np.maximum(_iterated(csr_array(self._moves.T), start, start), 0.0))

    def values(self, reward: np.ndarray, guess: np.ndarray) -> np.ndarray:
        """v (S,), from a guess."""
        if self._factors is not None:
            return np.asarray(self._factors.solve(reward))
        return _iterated(self._moves, reward, guess)


def _iterated(moves: csr_array, right: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """x = right + moves x by generalised minimal residuals; what they leave over, by the series of powers."""
    found, _ = gmres(
        (eye_array(len(right)) - moves).tocsr(), right, x0=guess, rtol=PRECISE, atol=0.0, restart=KRYLOV, maxiter=2
    )
    left = right - found + moves @ found
    enough = 10.0 * PRECISE * np.linalg.norm(right)
    while np.linalg.norm(left) > enough:
        found, left = found + left, moves @ left
    return np.asarray(found)
