"""Occupancies by sweeps over the states, for large MDPs whose states fit into no band: a Krylov method finds where to start."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from ...engine.compiled import compiled, from_python
from ..problem import FiniteMDP
from .band import origins_of

TOLERANCE = 1e-13  # sweeps end when no occupancy changes by more than this times itself
SMALLEST = 1e-300  # occupancies below are not waited for
MOST_ITERATIONS = 300  # of the Krylov method, each as dear as four sweeps


@compiled
def fill(offsets, probabilities, places, policy, gamma, weights, leaving):
    """weights[places[e]] += gamma pi(a|s) P[s, a, s'] for entry e of P, and leaving[s] the same; staying has no place."""
    n_states, n_actions = policy.shape
    for state in range(n_states):
        for action in range(n_actions):
            weight = gamma * policy[state, action]
            if weight > 0.0:
                for entry in range(offsets[state * n_actions + action], offsets[state * n_actions + action + 1]):
                    if places[entry] >= 0:
                        weights[places[entry]] += weight * probabilities[entry]
                        leaving[state] += weight * probabilities[entry]


@compiled
def sweep(begins, origins, weights, leaving, source, x):
    """x_j <- (source_j + sum_{i != j} M[i, j] x_i) / leaving_j for every state j upwards, and then downwards."""
    n_states = x.shape[0]
    for turn in range(2 * n_states):
        j = turn if turn < n_states else 2 * n_states - 1 - turn
        total = source[j]
        for entry in range(begins[j], begins[j + 1]):
            total += weights[entry] * x[origins[entry]]
        x[j] = total / leaving[j]


@compiled
def dot(x, y):
    """Sum of products, in one order on every machine."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@compiled
def krylov(begins, origins, weights, leaving, source, x):
    """Solve x = source + M' x from x = 0 to about 1e-13 of its size: BiCGSTAB (van der Vorst 1992) on sweep(0) = x - sweep(x).

    The second sweep is one without a source.
    """
    nothing, residual = np.zeros_like(source), np.zeros_like(source)
    sweep(begins, origins, weights, leaving, source, residual)
    shadow, direction = residual.copy(), residual.copy()
    along, across = np.empty_like(source), np.empty_like(source)
    size = product = dot(shadow, residual)
    for _ in range(MOST_ITERATIONS):
        along[:] = direction
        sweep(begins, origins, weights, leaving, nothing, along)
        along[:] = direction - along
        alpha = product / dot(shadow, along)
        x += alpha * direction
        residual -= alpha * along
        across[:] = residual
        sweep(begins, origins, weights, leaving, nothing, across)
        across[:] = residual - across
        square = dot(across, across)
        if square == 0.0:
            return
        omega = dot(across, residual) / square
        x += omega * residual
        residual -= omega * across
        if not dot(residual, residual) > TOLERANCE**2 * size:  # also where it is not a number
            return
        before, product = product, dot(shadow, residual)
        direction[:] = residual + product / before * alpha / omega * (direction - omega * along)


@compiled
def settle(begins, origins, weights, leaving, source, x):
    """Sweep over x (S,), which must not be negative, until no entry changes by more than TOLERANCE of itself.

    All terms are positive and sweeps converge from everywhere, so small entries are as precise as large ones.
    """
    before = np.empty_like(x)
    changes = True
    while changes:
        before[:] = x
        sweep(begins, origins, weights, leaving, source, x)
        changes = False
        for j in range(x.shape[0]):
            if abs(x[j] - before[j]) > TOLERANCE * x[j] and x[j] > SMALLEST:
                changes = True


class Sweeps:
    """Computes occupancies of policies on an MDP."""

    def __init__(self, mdp: FiniteMDP) -> None:
        S = mdp.n_states
        self._mdp, self._start = mdp, mdp.normaliser * mdp.rho
        origins = origins_of(mdp)
        moving = origins != mdp.successors
        links = csr_array((np.ones(int(moving.sum())), (mdp.successors[moving], origins[moving])), shape=(S, S))
        links.sum_duplicates()
        self._begins, self._origins = links.indptr.astype(np.int64), links.indices.astype(np.int64)
        names = np.repeat(np.arange(S), np.diff(links.indptr)) * S + links.indices  # of links, ascending
        self._places = np.where(moving, np.searchsorted(names, mdp.successors * S + origins), -1)
        self._fill, self._krylov, self._settle = map(from_python, (fill, krylov, settle))

    def __call__(self, policy: np.ndarray) -> np.ndarray:
        """d (S,) of a policy (S, K)."""
        mdp, weights = self._mdp, np.zeros(len(self._origins))
        exits = (1.0 - mdp.gamma) + mdp.gamma * (policy * mdp.missing).sum(axis=1)
        leaving = exits.copy()
        self._fill(mdp.offsets, mdp.probabilities, self._places, policy, mdp.gamma, weights, leaving)
        chain = self._begins, self._origins, weights, leaving, self._start
        x = np.zeros(mdp.n_states)
        self._krylov(*chain, x)
        certain = np.isfinite(x) & (x > TOLERANCE * x.max())  # the others are left to the sweeps
        d = np.where(certain, x, 0.0)
        self._settle(*chain, d)
        return np.asarray(d * (self._start.sum() / (exits * d).sum()))  # every episode that starts ends
