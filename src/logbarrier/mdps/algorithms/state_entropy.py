"""Policy gradient with the entropy of state visitation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...engine.compiled import compiled
from ...engine.elementary import log
from ..episode import rarity
from .novelty import NoveltyPG, follow_both

CEILING = 100.0  # 1/d is taken to be at most this times the states found


@compiled
def learn(episode, count, states, tally, memory, hyper):
    """The novelty of s is -log d(s) - 1, the derivative of the entropy."""
    visited, signals, normaliser = episode[0], episode[4], hyper[5]
    for t in range(count):
        signals[1, t] = log(rarity(states, visited[t], tally, normaliser, CEILING)) - 1.0
    follow_both(episode, count, states, hyper)


@dataclass(frozen=True, kw_only=True)
class StateEntropy(NoveltyPG):
    """Policy gradient on J + scale x H(d), H(d) = -sum_s d(s) log d(s) (Hazan et al. 2019; Islam et al. 2019).

    scale > 0 is in units of reward. d is estimated from the visits of earlier episodes.

    >>> from logbarrier import mdps
    >>> rule = mdps.StateEntropy(learning_rate=1.0, scale=0.01)
    >>> record = mdps.simulate(rule, mdps.RiverSwim(4), horizon=1000, runs=2, seed=0)
    """

    name = "state-entropy"
    learn = staticmethod(learn)

    def novelty(self, visits: np.ndarray, occupancy: np.ndarray) -> np.ndarray:
        return np.asarray(-np.log(occupancy) - 1.0)
