"""Natural policy gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...engine.compiled import compiled
from ..episode import FIRST, REWARD, Learned, estimate, learn_values
from ..exact.point import Point
from ..problem import FiniteMDP
from .rule import ActorCritic

SMALLEST_PROBABILITY = 1e-12  # an action that was drawn all the same moves its preference by no more than A/this


@compiled
def learn(episode, count, states, tally, memory, hyper):
    """theta(s_t, a_t) += alpha gamma^t A_t / pi(a_t|s_t)."""
    trace, critic_rate, gamma, step = hyper
    visited, actions, rewards, policies, _, estimates = episode
    estimate(rewards, REWARD, 0, episode, count, states, gamma, trace)
    for t in range(count):
        probability = max(policies[t, actions[t]], SMALLEST_PROBABILITY)
        states[visited[t], FIRST + actions[t]] += step * estimates[0, t] / probability
        step *= gamma
    learn_values(REWARD, 0, critic_rate, episode, count, states)


@dataclass(frozen=True, kw_only=True)
class NPG(ActorCritic):
    """Natural policy gradient (Kakade 2001), each state's step in proportion to its visits.

        theta(s_t, a_t) <- theta(s_t, a_t) + alpha gamma^t A_t / pi(a_t|s_t)

    In the mean alpha/(1 - gamma) d(s) A(s, a). The fastest of all with exact gradients; with sampled ones it commits early.

    >>> from logbarrier import mdps
    >>> record = mdps.simulate(mdps.NPG(learning_rate=0.1), mdps.RiverSwim(4), horizon=1000, runs=2, seed=0)
    """

    name = "natural-pg"  # the bandits have an "npg"
    learn = staticmethod(learn)

    def expected_update(self, mdp: FiniteMDP, learned: Learned) -> np.ndarray:
        """alpha/(1 - gamma) d(s) A(s, a)."""
        point = Point(mdp, learned.theta)
        return np.asarray(self.learning_rate / mdp.normaliser * point.occupancy[:, None] * point.advantage(mdp.R))
