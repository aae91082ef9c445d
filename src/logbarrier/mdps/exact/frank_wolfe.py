"""Fully corrective Frank-Wolfe in the occupancy measure, for the objectives with features.

The objective eta J + h is concave in mu, on a polytope whose linear programmes policy iteration solves. An iteration at mu

1. computes the reward eta R + b, b the gradient of h, and a policy that is optimal for it. The values of that policy certify
   the gap: no policy is better than mu by more (weak duality);
2. adds the measures of that policy, and of two policies pi exp(tilt A) closer by (A the advantage of the same reward), to the
   measures found before;
3. maximises the objective over all mixtures of these measures by Newton's method with an active set (`mixtures`).

Step 3 makes the method fast: without it Frank-Wolfe needs thousands of iterations. The closer policies change every state at
its own rate. Mixtures of vertices alone need several times as many iterations where there are many states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..problem import FiniteMDP
from .elliptical import Ellipse, Elliptical
from .mixtures import Mixture, Target, best_mixture, policy_of
from .sparse_chain import SparseChains

ITERATIONS = 1000
TRUSTED = 0.05  # of the gap may be missing from the values of step 1
CLOSER = (0.3, 3.0)  # tilts, relative to the root mean square of A
POLICY_ITERATIONS = 100
BETTER = 1e-14  # of the largest value: an action must be better by this for policy iteration to switch
SINGULAR = 1e-6  # ratio of the eigenvalues of F below which ridges lead the way
WARM, COOLING = 1e-3, 0.03  # the first ridge, relative to the largest eigenvalue of F, and the ratio of one to the next
WARM_ITERATIONS = 15


@dataclass(frozen=True)
class Iterate:
    """Where an iteration stands.

    mixture  of measures; mixture.mu (S, K) is the measure, mixture.policy (S, K) its policy
    ellipse  F there
    values   (S,) of the policy that is optimal for the reward eta R + b
    gap      eta times what is missing to the maximum is at most this
    """

    mixture: Mixture
    ellipse: Ellipse
    values: np.ndarray
    gap: float


def frank_wolfe(mdp: FiniteMDP, objective: Elliptical, start: np.ndarray) -> Iterator[Iterate]:
    """The iterates from a policy without zeros; the last one cannot be improved in double precision.

    Where the start hardly sees some direction of the features, ridges that shrink lead there first: they keep F invertible.
    """
    chains = SparseChains(mdp)
    mixture = Mixture((chains.occupancy(start)[:, None] * start)[None], np.ones(1), start)
    spread = _eigenvalues(objective, mixture.mu)
    ridge = WARM * spread[-1]
    while objective.ridge == 0.0 and spread[0] < SINGULAR * spread[-1] and spread[0] < ridge:
        target = Target(mdp, objective, ridge)
        for _, stand in zip(range(WARM_ITERATIONS), _ascend(target, chains, mixture), strict=False):
            mixture = stand.mixture
            if stand.gap <= stand.ellipse.dimension:
                break
        ridge, spread = COOLING * ridge, _eigenvalues(objective, mixture.mu)
    yield from _ascend(Target(mdp, objective, objective.ridge), chains, mixture)


def _eigenvalues(objective: Elliptical, mu: np.ndarray) -> np.ndarray:
    """Of F without a ridge, ascending."""
    vectors, weights = objective.vectors(policy_of(mu, mu)), objective.weights(mu)
    flat = vectors.reshape(-1, vectors.shape[2])
    return np.asarray(np.linalg.eigvalsh(flat.T @ (weights.reshape(-1, 1) * flat)))


def _ascend(target: Target, chains: SparseChains, mixture: Mixture) -> Iterator[Iterate]:
    """Iterate from a mixture."""
    mdp = target.mdp
    values, present, gap = np.zeros(mdp.n_states), np.zeros(mdp.n_states), np.inf
    oracle = PolicyIteration(chains)
    for _ in range(ITERATIONS):
        mu, ellipse = mixture.mu, target.ellipse(mixture.mu)
        reward = target.reward(ellipse)
        values, greedy, missing = oracle.optimal(reward, values, TRUSTED * gap)
        costs = mdp.expected_next(values) - values[:, None]  # change all measures alike, and leave small numbers to compare
        gap = missing - float((mu * (reward + costs)).sum())
        mixture = Mixture(mixture.measures, mixture.shares, greedy)
        yield Iterate(mixture, ellipse, values, gap)
        policy = mixture.policy
        present = chains.of(policy).values((policy * reward).sum(axis=1), present)
        advantage = reward + mdp.expected_next(present) - present[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            size = np.sqrt((mu * advantage**2).sum() / mu.sum())
        if not np.isfinite(size):
            return
        tilts = [tilt / size for tilt in CLOSER] if size > 0.0 else []  # a deterministic policy stays the same
        policies = [greedy, *(_tilted(policy, tilt * advantage) for tilt in tilts)]
        found = np.array([chains.occupancy(one)[:, None] * one for one in policies])
        better = best_mixture(target, mixture.joined(found), costs, gap)
        if better is None:
            return
        mixture = better


class PolicyIteration:
    """Optimal policies for one reward after another, each from the values of the one before."""

    def __init__(self, chains: SparseChains) -> None:
        self._chains, mdp = chains, chains.mdp
        self._longest = 1.0  # discounted, normalised steps of an episode, at most
        if mdp.gamma == 1.0:
            self._longest = FiniteMDP(P=mdp.rows, R=np.ones_like(mdp.R), rho=mdp.rho, gamma=1.0).optimal_performance

    def optimal(self, reward: np.ndarray, values: np.ndarray, missing: float) -> tuple[np.ndarray, np.ndarray, float]:
        """Values (S,) and policy (S, K) for a reward (S, K), and a bound on what is missing to the optimum."""
        mdp, everyone = self._chains.mdp, np.arange(len(reward))
        quality = reward + mdp.expected_next(values)
        chosen = quality.argmax(axis=1)
        for _ in range(POLICY_ITERATIONS):
            values = self._chains.of(np.eye(mdp.n_actions)[chosen]).values(reward[everyone, chosen], values)
            quality = reward + mdp.expected_next(values)
            left = max(float((quality.max(axis=1) - values).max()), 0.0) * self._longest
            better = quality.max(axis=1) > quality[everyone, chosen] + BETTER * np.abs(values).max()
            if left <= missing or not better.any():
                break
            chosen = np.where(better, quality.argmax(axis=1), chosen)
        return values, np.eye(mdp.n_actions)[chosen], left


def _tilted(policy: np.ndarray, advantage: np.ndarray) -> np.ndarray:
    """pi exp(A), normalised."""
    weights = policy * np.exp(advantage - advantage.max(axis=1, keepdims=True))
    return policy_of(weights, policy)
