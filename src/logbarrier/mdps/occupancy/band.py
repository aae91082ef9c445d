"""Occupancies by elimination in a band: neighbouring states get neighbouring places, and entries outside the band are 0."""

from __future__ import annotations

import threading

import numpy as np
from numba import uint64
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ...engine.compiled import compiled, from_python
from ..problem import FiniteMDP

PANEL = 4  # states that are eliminated together, so that a row is loaded and stored once for all of them


@compiled
def fill_band(offsets, columns, probabilities, place, policy, gamma, band):
    """band[i, column] += gamma pi(a|s) P[s, a, s'] for state s in place i; column is that of s' in the row of s."""
    n_states, n_actions = policy.shape
    for state in range(n_states):
        row = band[place[state]]
        for action in range(n_actions):
            weight = gamma * policy[state, action]
            if weight > 0.0:
                for entry in range(offsets[state * n_actions + action], offsets[state * n_actions + action + 1]):
                    row[uint64(columns[entry])] += weight * probabilities[entry]


@compiled
def eliminate(band, width, exits, visits):
    """Solve x = visits + M' x in place for M (S, S), given as band[i, j - i + W] with W at least width + PANEL.

    exits (S,) is 1 - the row sums of M. The states are eliminated from the last to the first. What flows through an
    eliminated state is added to those that stay, and nothing is subtracted (Grassmann, Taksar and Heyman 1985).
    """
    n_states = visits.shape[0]
    pivots = np.empty(n_states)
    end = n_states
    while end > 0:
        first = max(end - PANEL, 0)
        low = max(first - width, 0)  # no state of the panel has a neighbour before `low`
        for n in range(end - 1, first - 1, -1):
            pivots[n] = eliminate_one(band, n, first, low, exits, visits)
        if first > low:
            carry_over(band, first, low)
        end = first
    middle = band.shape[1] // 2
    for n in range(n_states):
        visits[n] /= pivots[n]
        here, row, onward = visits[n], band[n, middle + 1 : middle + 1 + width], visits[n + 1 : n + 1 + width]
        for j in range(onward.shape[0]):
            onward[j] += row[j] * here


@compiled
def eliminate_one(band, n, first, low, exits, visits):
    """Eliminate state n from the rows and columns of its panel first .. end; returns the pivot 1 - M[n, n]."""
    middle = band.shape[1] // 2
    row = band[n, low - n + middle : middle]
    pivot = exits[n]
    for j in range(row.shape[0]):
        pivot += row[j]
    share = 1.0 / pivot
    for j in range(row.shape[0]):
        row[j] *= share
    exits[n] *= share
    for i in range(low, n):
        weight = band[i, n - i + middle]
        if weight > 0.0:
            exits[i] += weight * exits[n]
            begin = low if i >= first else first
            target, source = band[i, begin - i + middle : n - i + middle], row[begin - low :]
            for j in range(target.shape[0]):
                target[j] += weight * source[j]
    here, onward = visits[n], visits[low:n]
    for j in range(row.shape[0]):
        onward[j] += row[j] * here
    return pivot


@compiled
def carry_over(band, first, low):
    """Add what flows through the four states of a panel to the rows and columns low .. first."""
    middle = band.shape[1] // 2
    a, b = band[first, low - first + middle : middle], band[first + 1, low - first - 1 + middle : middle - 1]
    c, d = band[first + 2, low - first - 2 + middle : middle - 2], band[first + 3, low - first - 3 + middle : middle - 3]
    for i in range(low, first):
        place = first - i + middle
        to_a, to_b, to_c, to_d = band[i, place], band[i, place + 1], band[i, place + 2], band[i, place + 3]
        if to_a > 0.0 or to_b > 0.0 or to_c > 0.0 or to_d > 0.0:
            target = band[i, low - i + middle : place]
            for j in range(target.shape[0]):
                target[j] += (to_a * a[j] + to_b * b[j]) + (to_c * c[j] + to_d * d[j])


def order_of(mdp: FiniteMDP) -> tuple[np.ndarray, int]:
    """Return the place (S,) of each state in a narrow band, and how many places apart two neighbours can be."""
    origins = origins_of(mdp)
    links = csr_array((np.ones(len(origins)), (origins, mdp.successors)), shape=(mdp.n_states, mdp.n_states))
    place = np.empty(mdp.n_states, dtype=np.int64)
    place[reverse_cuthill_mckee(links + links.T, symmetric_mode=True)] = np.arange(mdp.n_states)
    return place, int(np.abs(place[origins] - place[mdp.successors]).max(initial=0))


def origins_of(mdp: FiniteMDP) -> np.ndarray:
    """The state that each entry of P starts from."""
    return np.repeat(np.arange(mdp.n_states), np.diff(mdp.offsets[:: mdp.n_actions]))


class Band:
    """Computes occupancies of policies on an MDP whose states have these places."""

    def __init__(self, mdp: FiniteMDP, place: np.ndarray, width: int) -> None:
        self._mdp, self._place = mdp, place
        columns = (place[mdp.successors] - place[origins_of(mdp)] + width + PANEL).astype(np.int32)
        self._rows, self._width = (mdp.offsets, columns, mdp.probabilities, place), width
        self._start = np.empty(mdp.n_states)
        self._start[place] = mdp.normaliser * mdp.rho
        self._of_thread = threading.local()

    def __call__(self, policy: np.ndarray) -> np.ndarray:
        """d (S,) of a policy (S, K)."""
        mdp, place = self._mdp, self._place
        if not hasattr(self._of_thread, "work"):
            self._of_thread.work = _Work(self._rows, self._width, mdp)
        work: _Work = self._of_thread.work
        work.policy[:], work.band[:], work.visits[:] = policy, 0.0, self._start
        work.fill()
        work.exits[place] = (1.0 - mdp.gamma) + mdp.gamma * (policy * mdp.missing).sum(axis=1)
        work.eliminate()
        return np.asarray(work.visits[place])


class _Work:
    """The arrays that one thread computes in, and the compiled functions bound to them."""

    def __init__(self, rows: tuple[np.ndarray, ...], width: int, mdp: FiniteMDP) -> None:
        self.policy, self.band = np.empty(mdp.R.shape), np.empty((mdp.n_states, 2 * (width + PANEL) + 1))
        self.exits, self.visits = np.empty(mdp.n_states), np.empty(mdp.n_states)
        self.fill = from_python(fill_band).bound((*rows, self.policy, mdp.gamma, self.band), (), ())
        self.eliminate = from_python(eliminate).bound((self.band, width, self.exits, self.visits), (), ())
