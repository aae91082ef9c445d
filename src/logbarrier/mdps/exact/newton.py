"""Newton's method in the occupancy measure, for the spectral objective.

In mu(s, a) = d(s) pi(a|s) the objective is eta <R, mu> + h(mu), h = sum_s [sum_a log mu(s, a) - log d(s)]. It is strictly
concave. The flow constraints are E mu = start, where (E mu)(s) = sum_a mu(s, a) - gamma sum P[., ., s] mu. The inverse of
minus the Hessian of h is known in closed form, state by state:

    W_s = d^2 [diag pi^2 + pi^2 (pi^2)' / (1 - |pi|^2)],        W grad h = mu

A step is W (eta (R - E' lambda) + grad h) with the multipliers lambda of the flow. Written as lambda = V + c, V the values of
the present policy with the bonus (K - 1)/(eta d) and A its advantages without it,

    step/mu = 1 + eta W (A - E' c)/mu,        eta E W E' c = E (mu + eta W A)

so c vanishes at the maximum, and with it the rounding errors of values that are much larger than 1/eta. After each step mu is
computed again from its policy by elimination: errors do not add up, and tiny occupancies stay precise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_array, eye_array, issparse, kron

from ..elimination import Elimination, LargeChain
from ..problem import FiniteMDP

DECREMENT = 1e-12  # of Newton's method: below it a step changes the policy by less than this part
QUADRATIC = 0.25  # a decrement below this falls quadratically
MOST_SMALL = 50  # states; above, the flow constraints are a sparse matrix
STEPS = 2000  # a probability can double in each, so this is enough from 1e-300
INSIDE = 0.95  # of the way to the boundary mu = 0 is the longest step
SHORTEST = 1e-12


@dataclass(frozen=True)
class Iterate:
    """policy (S, K), occupancy d (S,) and Newton's decrement there."""

    policy: np.ndarray
    occupancy: np.ndarray
    decrement: float


def newton(mdp: FiniteMDP, eta: float, policy: np.ndarray) -> Iterator[Iterate]:
    """The iterates from a policy without zeros; the last one has converged, or is the last within double precision."""
    flow = (kron(eye_array(mdp.n_states), np.ones((mdp.n_actions, 1))) - mdp.gamma * mdp.rows).tocsr()  # E', (S K, S)
    if mdp.n_states <= MOST_SMALL:
        flow = flow.toarray()
    before = np.inf
    for _ in range(STEPS):
        chain = mdp.chain(policy)
        d = chain.visits(mdp.normaliser * mdp.rho)
        advantage = _advantage(mdp, eta, policy, d, chain)
        change = _relative_change(eta, flow, policy, d, advantage)
        if not np.isfinite(change).all():
            return
        decrement = _decrement(policy, change)
        yield Iterate(policy, d, decrement)
        if decrement <= DECREMENT or (before < QUADRATIC and decrement > 0.9 * before):  # rounding is all that is left
            return
        before = decrement
        length = 1.0 if decrement < QUADRATIC else _length(eta, policy, d, advantage, change)
        policy = policy * (1.0 + length * change)
        policy /= policy.sum(axis=1, keepdims=True)
        if policy.min() <= 0.0:
            return


def _advantage(mdp: FiniteMDP, eta: float, policy: np.ndarray, d: np.ndarray, chain: Elimination | LargeChain) -> np.ndarray:
    """A (S, K) = R + gamma P V - V, of values with the bonus: sum_a pi A = -(K - 1)/(eta d).

    Where pi is near 1 A is near 0: there it is what that sum leaves, not a difference of large numbers.
    """
    bonus = (mdp.n_actions - 1) / (eta * d)
    value = chain.values((policy * mdp.R).sum(axis=1) + bonus)
    advantage = mdp.action_value(value) - value[:, None]
    everyone, likely = np.arange(mdp.n_states), policy.argmax(axis=1)
    weighted = policy * advantage
    weighted[everyone, likely] = 0.0
    advantage[everyone, likely] = -(bonus + weighted.sum(axis=1)) / policy[everyone, likely]
    return np.asarray(advantage)


def _relative_change(eta: float, flow: Any, policy: np.ndarray, d: np.ndarray, advantage: np.ndarray) -> np.ndarray:
    """step/mu (S, K). The unknown is d c, whose matrix has entries of order 1."""
    S, K = policy.shape
    spread = (policy * others(policy)).sum(axis=1)  # 1 - |pi|^2
    squares = csr_array(((policy**2).ravel(), np.arange(S * K), np.arange(S + 1) * K), shape=(S, S * K))
    scaled = flow * (1.0 / d)
    first = scaled * (np.repeat(d, K) * policy.ravel())[:, None]
    second = (squares @ scaled) * (d / np.sqrt(spread))[:, None]
    free = _weighted(eta, policy, d, spread, advantage)
    right = scaled.T @ (d[:, None] * policy * (1.0 + free)).ravel()
    matrix = first.T @ first + second.T @ second
    matrix = matrix.toarray() if issparse(matrix) else matrix
    if not (np.isfinite(matrix).all() and np.isfinite(right).all()):
        return np.full_like(policy, np.nan)
    try:
        correction = cho_solve(cho_factor(matrix), right) / d
    except LinAlgError:
        correction = np.linalg.lstsq(matrix, right)[0] / d
    return np.asarray(1.0 + free - _weighted(1.0, policy, d, spread, (flow @ correction).reshape(S, K)))


def _weighted(eta: float, policy: np.ndarray, d: np.ndarray, spread: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """eta W costs / mu (S, K)."""
    scaled = d[:, None] * costs  # first, since costs may be as large as 1/d
    common = (policy**2 * scaled).sum(axis=1) / spread
    return np.asarray(eta * policy * (scaled + common[:, None]))


def _decrement(policy: np.ndarray, change: np.ndarray) -> float:
    """sqrt(sum_s [|w|^2 - (pi . w)^2]), w = change, with the two terms of a probability near 1 as the product they are."""
    everyone, likely = np.arange(len(policy)), policy.argmax(axis=1)
    top = change[everyone, likely]
    below = (policy * (top[:, None] - change)).sum(axis=1)  # top - pi . w
    rest = change.copy()
    rest[everyone, likely] = 0.0
    return float(np.sqrt(max((rest**2).sum() + (below * (2.0 * top - below)).sum(), 0.0)))


def _length(eta: float, policy: np.ndarray, d: np.ndarray, advantage: np.ndarray, change: np.ndarray) -> float:
    """How far to go: inside mu > 0, and halved until the objective does not fall; mu + length change keeps the flow."""
    slope = eta * float((d[:, None] * policy * change * advantage).sum())  # <R, change mu>: E' V adds nothing to it
    length = min(1.0, INSIDE / max(-float(change.min()), 1e-300))
    while length > SHORTEST:
        barrier = np.log1p(length * change).sum() - np.log1p(length * (policy * change).sum(axis=1)).sum()
        if length * slope + barrier >= 0.0:
            break
        length /= 2.0
    return length


def others(policy: np.ndarray) -> np.ndarray:
    """1 - pi (S, K), as the sum of the other probabilities: nothing is lost where pi is close to 1."""
    K = policy.shape[1]
    return np.asarray(policy @ (1.0 - np.eye(K)))
