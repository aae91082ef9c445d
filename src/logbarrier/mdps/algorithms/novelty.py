"""The base of the rules that pay for novelty: a second critic for a signal of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base.parameters import Positive
from ...engine.compiled import inlined
from ..episode import NOVELTY, REWARD, Learned, follow
from ..exact.point import Point
from ..problem import FiniteMDP
from .rule import ActorCritic


@inlined
def follow_both(episode, count, states, hyper):
    """Policy gradient of the rewards, and of `scale` times what signals[1] holds; hyper[3] is alpha, hyper[4] the scale."""
    follow(episode[2], REWARD, 0, hyper[3], hyper, episode, count, states)
    follow(episode[4][1], NOVELTY, 2, hyper[3] * hyper[4], hyper, episode, count, states)


@dataclass(frozen=True, kw_only=True)
class NoveltyPG(ActorCritic):
    """Policy gradient of the reward r + scale x novelty(s)."""

    scale: Positive

    def hyper(self, mdp: FiniteMDP) -> tuple[float, ...]:
        return *super().hyper(mdp), float(self.scale), mdp.normaliser

    def novelty(self, visits: np.ndarray, occupancy: np.ndarray) -> np.ndarray:
        """What a visit of each state pays besides, (S,), from the visits so far and d."""
        raise NotImplementedError

    def expected_update(self, mdp: FiniteMDP, learned: Learned) -> np.ndarray:
        """alpha d(s) pi(a|s) A(s, a)/(1 - gamma), A the advantage of r + scale x novelty with the visits as they are."""
        point = Point(mdp, learned.theta)
        paid = mdp.R + self.scale * self.novelty(learned.visits, point.occupancy)[:, None]
        weights = point.occupancy[:, None] * point.policy * point.advantage(paid)
        return np.asarray(self.learning_rate / mdp.normaliser * weights)
