"""Discounted visits and values of a Markov chain, each entry to full relative precision, however small it is.

A chain moves from i to j with weight M[i, j] >= 0 and leaves from i with weight exit[i] > 0 somewhere ahead; row sums and exits
add to 1. Two linear systems are asked of it:

    visits  x = start + M' x        (S,) how often each state is seen
    values  v = reward + M v        (S,) what is collected from each state on

States are eliminated one by one, and what a path through an eliminated state adds is added to those that stay. The pivot
1 - M[n, n] is written as exit[n] + sum of the other M[n, j] (Grassmann, Taksar and Heyman 1985), so nothing is ever subtracted.
A state visited with weight 1e-300 is as precise as one visited with weight 1.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

PANEL = 32  # states that are eliminated together, with one product of matrices for all others
MOST_DENSE = 1500  # states; above, the series of what happens step by step
NEGLIGIBLE = 1e-18  # a term of the series, relative to the sum


class Elimination:
    """The factors of one chain, for any number of right-hand sides.

    >>> import numpy as np
    >>> chain = Elimination(np.array([[0.5, 1e-200], [0.0, 0.5]]), np.array([0.5, 0.5]))
    >>> chain.visits(np.array([1.0, 0.0])).tolist()
    [2.0, 4e-200]
    """

    def __init__(self, moves: np.ndarray, exits: np.ndarray) -> None:
        M, leave = np.array(moves, dtype=np.float64), np.array(exits, dtype=np.float64)
        pivots = np.empty(len(leave))
        for end in range(len(leave), 0, -PANEL):
            first = max(end - PANEL, 0)
            rows, sources = M[first:end], np.flatnonzero(M[:first, first:end].any(axis=1))
            columns, leaving = M[sources, first:end], leave[sources]
            for k in range(end - first - 1, -1, -1):  # one state after the other, in the rows and columns of the panel alone
                n = first + k
                pivots[n] = leave[n] + rows[k, :n].sum()
                rows[k, :n] /= pivots[n]
                leave[n] /= pivots[n]
                rows[:k, :n] += np.multiply.outer(rows[:k, n], rows[k, :n])
                leave[first:n] += rows[:k, n] * leave[n]
                columns[:, :k] += np.multiply.outer(columns[:, k], rows[k, first:n])
                leaving += columns[:, k] * leave[n]
            M[sources, first:end], leave[sources] = columns, leaving
            M[sources, :first] += columns @ rows[:, :first]
        self._factors, self._pivots = M, pivots  # row n: where n goes, by pivot; column n: who comes to n

    def visits(self, start: np.ndarray) -> np.ndarray:
        """x = start + M' x for start (S,), or for each column of start (S, m)."""
        x = np.array(start, dtype=np.float64)
        M = self._factors
        for n in range(len(x) - 1, 0, -1):
            x[:n] += np.multiply.outer(M[n, :n], x[n])
        for n in range(len(x)):
            x[n] = (x[n] + M[:n, n] @ x[:n]) / self._pivots[n]
        return x

    def values(self, reward: np.ndarray) -> np.ndarray:
        """v = reward + M v for reward (S,), or for each column of reward (S, m)."""
        v = np.array(reward, dtype=np.float64)
        M = self._factors
        for n in range(len(v) - 1, -1, -1):
            v[n] /= self._pivots[n]
            v[:n] += np.multiply.outer(M[:n, n], v[n])
        for n in range(1, len(v)):
            v[n] += M[n, :n] @ v[:n]
        return v


class LargeChain:
    """The same for a sparse chain of many states, by adding up what happens after 0, 1, 2, ... steps.

    Visits add only numbers that are not negative, so here too small entries are precise; the cost grows like 1/(1 - gamma).
    """

    def __init__(self, moves: csr_array) -> None:
        self._moves, self._back = moves, moves.T.tocsr()

    def visits(self, start: np.ndarray) -> np.ndarray:
        """x = start + M' x."""
        return _series(self._back, start)

    def values(self, reward: np.ndarray) -> np.ndarray:
        """v = reward + M v."""
        return _series(self._moves, reward)


def _series(matrix: csr_array, first: np.ndarray) -> np.ndarray:
    """first + matrix first + matrix^2 first + ..."""
    term = np.array(first, dtype=np.float64)
    total = term.copy()
    while np.abs(term).max() > NEGLIGIBLE * np.abs(total).max():
        term = matrix @ term
        total += term
    return total
