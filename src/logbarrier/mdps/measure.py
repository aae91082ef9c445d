"""What is measured at a checkpoint: the exact performance of the policy in play, and of the greedy one, and what was seen."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..engine.compiled import compiled, from_python
from .episode import Learned
from .problem import FiniteMDP

RANGES = {  # metric -> the least and the greatest value it can have
    "score": (-math.inf, 1.0),
    "return": (-math.inf, math.inf),
    "coverage": (0.0, 1.0),
    "min_occupancy": (0.0, math.inf),  # with gamma 1 it counts visits
    "regret": (-math.inf, math.inf),  # rewards are drawn, and may be better than the mean of the optimal policy
}
METRICS = tuple(RANGES)
UNSETTLED = 1e-13  # the share of all visits that may be missing from an occupancy


@compiled
def settle(offsets, successors, probabilities, policy, gamma, pending, settled):
    """Occupancy by pushing: a state's pending visits are settled, and the visits that follow are added to its successors.

    pending (S,) holds the first visits and is emptied; settled (S,) gains every visit. All terms are positive, so small
    occupancies keep their digits. Sweeps go up and down, which settles a chain of states in few of them.
    """
    n_states, n_actions = policy.shape
    total = pending.sum()
    least = UNSETTLED * total * (1.0 - gamma if gamma < 1.0 else 1.0)
    upwards = True
    while pending.sum() > least:
        for i in range(n_states):
            state = i if upwards else n_states - 1 - i
            here = pending[state]
            if here == 0.0:
                continue
            settled[state] += here
            pending[state] = 0.0
            for a in range(n_actions):
                share = gamma * here * policy[state, a]
                if share > 0.0:
                    for place in range(offsets[state * n_actions + a], offsets[state * n_actions + a + 1]):
                        pending[successors[place]] += share * probabilities[place]
        upwards = not upwards


class Evaluator:
    """Measures policies on one MDP.

    score          J of the greedy policy, 0 for uniform play and 1 for the optimum
    return         J of the policy in play
    coverage       share of the states visited so far
    min_occupancy  the smallest occupancy d(s) of the policy in play
    regret         optimal reward per step, times the steps, minus the rewards received; optimal is the policy that maximises J
    """

    def __init__(self, mdp: FiniteMDP) -> None:
        self.mdp = mdp
        self._settle = from_python(settle)
        self._uniform, _ = self.evaluate(mdp.uniform_policy)
        self._optimal, _ = self.evaluate(mdp.optimal_policy)
        self._pace = reward_per_step(mdp, np.asarray(mdp.optimal_policy))
        self._greedy: dict[bytes, float] = {}

    def evaluate(self, policy: np.ndarray) -> tuple[float, float]:
        """J and the smallest occupancy of a policy (S, K)."""
        mdp = self.mdp
        pending, settled = mdp.normaliser * mdp.rho, np.zeros(mdp.n_states)
        self._settle(mdp.offsets, mdp.successors, mdp.probabilities, policy, mdp.gamma, pending, settled)
        return float(settled @ (policy * mdp.R).sum(axis=1)), float(settled.min())

    def greedy_score(self, greedy: np.ndarray) -> float:
        """The score of the deterministic policy with these actions (S,); the same ones come again and again."""
        name = greedy.tobytes()
        if name not in self._greedy:
            performance, _ = self.evaluate(np.eye(self.mdp.n_actions)[greedy])
            span = self._optimal - self._uniform
            self._greedy[name] = (performance - self._uniform) / span if span > 0.0 else 1.0
        return self._greedy[name]

    def measure(self, names: Sequence[str], policy: np.ndarray, learned: Learned, steps: int, rewards: float) -> list[float]:
        """The metrics of these names; policy (S, K) is the one in play, rewards the sum of those received in `steps` steps."""
        found = {"coverage": float((learned.visits > 0.0).mean()), "regret": self._pace * steps - rewards}
        if "score" in names:
            found["score"] = self.greedy_score(learned.theta.argmax(axis=1))
        if "return" in names or "min_occupancy" in names:
            found["return"], found["min_occupancy"] = self.evaluate(policy)
        return [found[name] for name in names]


def reward_per_step(mdp: FiniteMDP, policy: np.ndarray) -> float:
    """Mean reward per step of a policy in episodes that are cut at `episode_length`: reward by steps of an episode."""
    present, rewards, steps = mdp.rho.copy(), 0.0, 0.0
    paid = (policy * mdp.R).sum(axis=1)
    weights = policy.ravel()[np.repeat(np.arange(policy.size), np.diff(mdp.offsets))] * mdp.probabilities
    origin = np.repeat(np.arange(policy.size) // mdp.n_actions, np.diff(mdp.offsets))
    for _ in range(mdp.episode_length):
        rewards += float(present @ paid)
        steps += float(present.sum())
        present = np.bincount(mdp.successors, weights=weights * present[origin], minlength=mdp.n_states)
    return rewards / steps
