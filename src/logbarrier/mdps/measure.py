"""What is measured at a checkpoint: the exact performance of the policy in play, and of the greedy one, and what was seen."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np

from .episode import Learned
from .occupancy import solver_of
from .problem import FiniteMDP

RANGES = {  # metric -> the least and the greatest value it can have
    "score": (-math.inf, 1.0),
    "return": (-math.inf, math.inf),
    "coverage": (0.0, 1.0),
    "min_occupancy": (0.0, math.inf),  # with gamma 1 it counts visits
    "regret": (-math.inf, math.inf),  # rewards are drawn, and may be better than the mean of the optimal policy
}
METRICS = tuple(RANGES)


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
        self._occupancy = solver_of(mdp)
        self._uniform, _ = self.evaluate(mdp.uniform_policy)
        self._optimal, _ = self.evaluate(mdp.optimal_policy)
        self._pace = reward_per_step(mdp, np.asarray(mdp.optimal_policy))
        self._greedy: dict[bytes, float] = {}

    def evaluate(self, policy: np.ndarray) -> tuple[float, float]:
        """J and the smallest occupancy of a policy (S, K)."""
        occupancy = self._occupancy(policy)
        return float((occupancy * (policy * self.mdp.R).sum(axis=1)).sum()), float(occupancy.min())

    def greedy_score(self, greedy: np.ndarray) -> float:
        """The score of the deterministic policy with these actions (S,); the same ones come again and again."""
        name = hashlib.sha256(greedy.tobytes()).digest()
        if name not in self._greedy:
            performance, _ = self.evaluate(np.eye(self.mdp.n_actions)[greedy])
            span = self._optimal - self._uniform
            self._greedy[name] = (performance - self._uniform) / span if span > 0.0 else 1.0
        return self._greedy[name]

    def measure(self, names: Sequence[str], policy: np.ndarray, learned: Learned, steps: int, rewards: float) -> list[float]:
        """The metrics of these names; policy (S, K) is the one in play, rewards the sum of those received in `steps` steps."""
        found = {"coverage": np.count_nonzero(learned.visits > 0.0) / self.mdp.n_states, "regret": self._pace * steps - rewards}
        if "score" in names:
            found["score"] = self.greedy_score(learned.theta.argmax(axis=1))
        if "return" in names or "min_occupancy" in names:
            found["return"], found["min_occupancy"] = self.evaluate(policy)
        return [found[name] for name in names]


def reward_per_step(mdp: FiniteMDP, policy: np.ndarray) -> float:
    """Mean reward per step of a policy in episodes that are cut at `episode_length`: reward by steps of an episode."""
    present, rewards, steps = mdp.rho.copy(), 0.0, 0.0
    paid, arriving = (policy * mdp.R).sum(axis=1), mdp.moves(policy).T.tocsr()
    for _ in range(mdp.episode_length):
        rewards += float((present * paid).sum())
        steps += float(present.sum())
        present = arriving @ present
    return rewards / steps
