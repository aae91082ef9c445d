"""Policy gradient with an entropy bonus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base.parameters import Positive
from ...engine.compiled import compiled
from ...engine.elementary import log
from ..episode import REWARD, Learned, follow
from ..exact import Entropy, gradient
from ..problem import FiniteMDP
from .rule import ActorCritic

SMALLEST_PROBABILITY = 1e-300  # log takes normal numbers


@compiled
def learn(episode, count, states, tally, memory, hyper):
    """Policy gradient of the reward r - tau log pi(a|s)."""
    actions, rewards, policies, signals = episode[1], episode[2], episode[3], episode[4]
    for t in range(count):
        signals[0, t] = rewards[t] - hyper[4] * log(max(policies[t, actions[t]], SMALLEST_PROBABILITY))
    follow(signals[0], REWARD, 0, hyper[3], hyper, episode, count, states)


@dataclass(frozen=True, kw_only=True)
class EntropyPG(ActorCritic):
    """Policy gradient on J + tau sum_s d(s) H(pi_s), the discounted entropy of Mei et al. (2020).

    tau > 0 is in units of reward: larger is more random. It makes actions random, not visits even.

    >>> from logbarrier import mdps
    >>> rule = mdps.EntropyPG(learning_rate=1.0, tau=0.01)
    >>> record = mdps.simulate(rule, mdps.RiverSwim(4), horizon=1000, runs=2, seed=0)
    """

    name = "entropy-pg"
    learn = staticmethod(learn)

    tau: Positive

    def hyper(self, mdp: FiniteMDP) -> tuple[float, ...]:
        return *super().hyper(mdp), float(self.tau)

    def expected_update(self, mdp: FiniteMDP, learned: Learned) -> np.ndarray:
        """alpha/(1 - gamma) grad [J + tau sum_s d(s) H(pi_s)]."""
        return np.asarray(self.learning_rate / mdp.normaliser * gradient(mdp, learned.theta, Entropy(tau=self.tau)))
