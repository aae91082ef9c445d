"""Policy gradient, the rule that all others change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...engine.compiled import compiled
from ..episode import REWARD, Learned, follow
from ..exact import NoRegulariser, gradient
from ..problem import FiniteMDP
from .rule import ActorCritic


@compiled
def learn(episode, count, states, tally, memory, hyper):
    """theta += alpha gamma^t A_t grad log pi(a_t|s_t)."""
    follow(episode[2], REWARD, 0, hyper[3], hyper, episode, count, states)


@dataclass(frozen=True, kw_only=True)
class PG(ActorCritic):
    """Actor-critic policy gradient with generalised advantages; with trace=1 and critic_rate=0 it is REINFORCE.

        theta(s_t) <- theta(s_t) + alpha gamma^t A_t (e_a - pi(s_t))

    In the mean alpha/(1 - gamma) times the gradient of J, which vanishes where an action's probability does: it does not
    explore on purpose.

    >>> from logbarrier import mdps
    >>> record = mdps.simulate(mdps.PG(learning_rate=1.0), mdps.RiverSwim(4), horizon=1000, runs=2, seed=0)
    """

    name = "pg"
    learn = staticmethod(learn)

    def expected_update(self, mdp: FiniteMDP, learned: Learned) -> np.ndarray:
        """alpha/(1 - gamma) grad J."""
        return np.asarray(self.learning_rate / mdp.normaliser * gradient(mdp, learned.theta, NoRegulariser()))
