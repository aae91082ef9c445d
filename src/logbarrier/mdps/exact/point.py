"""A softmax policy on an MDP with everything that gradients need of it, and how all that changes along a direction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import checks
from ..elimination import Elimination, LargeChain
from ..problem import FiniteMDP


class Point:
    """theta (S, K) on an MDP: log pi, pi, the factored chain and the occupancy d, each computed once."""

    def __init__(self, mdp: FiniteMDP, theta: Any) -> None:
        self.mdp = mdp
        self.theta = checks.parameters("theta", theta, mdp.n_states, mdp.n_actions)
        shifted = self.theta - self.theta.max(axis=1, keepdims=True)
        self.log_policy = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        self.policy = np.exp(self.log_policy)

    @cached_property
    def chain(self) -> Elimination | LargeChain:
        """The discounted chain of the policy."""
        return self.mdp.chain(self.policy)

    @cached_property
    def occupancy(self) -> np.ndarray:
        """d (S,)."""
        return self.chain.visits(self.mdp.normaliser * self.mdp.rho)

    @property
    def visited(self) -> np.ndarray:
        """d (S,), refused where it is 0: its logarithm would not be a number."""
        d = self.occupancy
        if d.min() <= 0.0:
            count = int((~self.mdp.reachable).sum())
            if count:
                raise ValueError(f"{self.mdp.name}: every state must be reachable, got {count} that are not; use mdp.pruned()")
            raise ValueError(f"{self.mdp.name}: every state must be visited with a weight above 1e-308, got {d.min()}")
        return d

    @cached_property
    def performance(self) -> float:
        """J."""
        return float((self.occupancy[:, None] * self.policy * self.mdp.R).sum())

    def advantage(self, reward: np.ndarray) -> np.ndarray:
        """A (S, K) of another reward (S, K), not normalised."""
        quality, value = self.action_value(reward)
        return np.asarray(quality - value[:, None])

    def action_value(self, reward: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Q (S, K) and V (S,) of another reward (S, K)."""
        value = self.chain.values((self.policy * reward).sum(axis=1))
        return reward + self.mdp.expected_next(value), value

    def along(self, direction: np.ndarray) -> Change:
        """How the policy and the occupancy change when theta moves in a direction (S, K)."""
        log_policy = direction - (self.policy * direction).sum(axis=1, keepdims=True)
        policy = self.policy * log_policy
        flow = self.mdp.arriving(policy * self.occupancy[:, None])
        return Change(log_policy, policy, self.chain.visits(flow))


@dataclass(frozen=True)
class Change:
    """Derivatives along a direction: of log pi (S, K), of pi (S, K) and of d (S,)."""

    log_policy: np.ndarray
    policy: np.ndarray
    occupancy: np.ndarray
