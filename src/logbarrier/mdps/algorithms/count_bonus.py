"""Policy gradient with a bonus for states seldom visited: not the gradient of a fixed objective, but hard to beat."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...engine.compiled import compiled
from ..episode import VISITS
from .novelty import NoveltyPG, follow_both


@compiled
def learn(episode, count, states, tally, memory, hyper):
    """The novelty of s is 1/sqrt(n(s) + 1), n the visits in earlier episodes."""
    visited, signals = episode[0], episode[4]
    for t in range(count):
        signals[1, t] = 1.0 / math.sqrt(states[visited[t], VISITS] + 1.0)
    follow_both(episode, count, states, hyper)


@dataclass(frozen=True, kw_only=True)
class CountBonus(NoveltyPG):
    """Policy gradient of r + scale/sqrt(n(s) + 1) (Strehl and Littman 2008; Bellemare et al. 2016), a critic for each part.

    scale > 0 is in units of reward.

    >>> from logbarrier import mdps
    >>> rule = mdps.CountBonus(learning_rate=1.0, scale=0.1)
    >>> record = mdps.simulate(rule, mdps.RiverSwim(4), horizon=1000, runs=2, seed=0)
    """

    name = "count-bonus"
    learn = staticmethod(learn)

    def novelty(self, visits: np.ndarray, occupancy: np.ndarray) -> np.ndarray:
        return np.asarray(1.0 / np.sqrt(visits + 1.0))
