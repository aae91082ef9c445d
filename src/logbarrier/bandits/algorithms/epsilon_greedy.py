"""Epsilon-greedy: the best arm so far, and now and then a random one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import AtLeastZero, Share
from ...engine.compiled import compiled
from .arm_means import ArmMeanRule, draw_largest, score_by_mean, weigh_largest


@compiled
def share_explored(t, n_arms, hyper):
    """epsilon of the step that follows t others."""
    exploration, floor = hyper
    return max(floor, min(1.0, exploration * n_arms / (t + 1)))


@compiled
def weigh(t, vectors, memory, hyper, weights):
    """p(a) = epsilon/K + (1 - epsilon)/(number of best arms) where a is one of them."""
    n_arms = weights.shape[0]
    epsilon = share_explored(t, n_arms, hyper)
    several = weigh_largest(weights, score_by_mean(vectors, weights))
    for a in range(n_arms):
        weights[a] = epsilon / n_arms + (1.0 - epsilon) / several * weights[a]


@compiled
def draw(u, t, policy, vectors, memory, hyper, stream):
    """Explore where u falls below epsilon; what remains of u chooses the arm."""
    n_arms = vectors.shape[1]
    epsilon = share_explored(t, n_arms, hyper)
    if u < epsilon:
        return min(int(u / epsilon * n_arms), n_arms - 1)
    scores = np.empty(n_arms)
    return draw_largest((u - epsilon) / (1.0 - epsilon), scores, score_by_mean(vectors, scores))


@dataclass(frozen=True, kw_only=True)
class EpsilonGreedy(ArmMeanRule):
    """Epsilon-greedy with decay (Auer, Cesa-Bianchi and Fischer 2002, "epsilon_n-greedy").

        epsilon_t = max(floor, min(1, exploration K / t))

    With probability epsilon_t any arm, else the one of the largest mean reward so far; arms never pulled come first,
    equal ones share evenly.

    exploration >= 0: each arm is explored about exploration (1 + log(t / (exploration K))) times by step t. Their analysis
    asks for c/gap^2 with c above 5; the default is c = 0.3 at a gap of 0.1, where 100 wastes pulls and 3 may miss the best arm.
    0 <= floor <= 1: with exploration = 0, the constant epsilon of the textbooks.
    """

    name = "epsilon-greedy"
    weigh = staticmethod(weigh)
    draw = staticmethod(draw)

    exploration: AtLeastZero = 30.0
    floor: Share = 0.0

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return float(self.exploration), float(self.floor)
