"""Policy gradient with a log barrier on the actions of each state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base.parameters import Positive
from ...engine.compiled import compiled
from ..episode import REWARD, Learned, follow, level, rarity
from ..exact import ActionBarrier, gradient
from ..problem import FiniteMDP
from .rule import ActorCritic


@compiled
def learn(episode, count, states, tally, memory, hyper):
    """Policy gradient, and theta(s_t) += (alpha/eta) gamma^t (1 - K pi(s_t))/d(s_t): on average the same in every state."""
    visited, policies = episode[0], episode[3]
    gamma, alpha, eta, normaliser, ceiling = hyper[2], hyper[3], hyper[4], hyper[5], hyper[6]
    follow(episode[2], REWARD, 0, alpha, hyper, episode, count, states)
    step = alpha / eta
    for t in range(count):
        level(states, visited[t], policies[t], step * rarity(states, visited[t], tally, normaliser, ceiling))
        step *= gamma


@dataclass(frozen=True, kw_only=True)
class ActionBarrierPG(ActorCritic):
    """Policy gradient on J + (1/eta) sum_{s,a} log pi(a|s), the barrier of Agarwal et al. (2021).

    eta > 0: larger is a weaker barrier. The barrier keeps every action alive, yet a state that is hardly ever visited hardly
    ever learns. d(s) is estimated from the visits of earlier episodes; 1/d is at most `ceiling` times the states found.

    >>> from logbarrier import mdps
    >>> rule = mdps.ActionBarrierPG(learning_rate=1.0, eta=1e4)
    >>> record = mdps.simulate(rule, mdps.RiverSwim(4), horizon=1000, runs=2, seed=0)
    """

    name = "action-barrier-pg"
    learn = staticmethod(learn)

    eta: Positive
    ceiling: Positive = 100.0

    def hyper(self, mdp: FiniteMDP) -> tuple[float, ...]:
        return *super().hyper(mdp), float(self.eta), mdp.normaliser, float(self.ceiling)

    def expected_update(self, mdp: FiniteMDP, learned: Learned) -> np.ndarray:
        """alpha/(1 - gamma) grad [J + (1/eta) sum log pi]."""
        return np.asarray(self.learning_rate / mdp.normaliser * gradient(mdp, learned.theta, ActionBarrier(eta=self.eta)))
