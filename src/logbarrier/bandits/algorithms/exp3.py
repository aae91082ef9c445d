"""EXP3: exponential weights of importance-weighted gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import Share
from ...engine.compiled import compiled
from .. import schedules
from ..loops.policy import within_reach
from ..loops.vectors import sum_of, weigh_by_softmax
from ..schedules import LearningRate, learning_rate_at
from .vector_rule import VectorRule


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """theta += alpha R/p(a) e_a."""
    vectors[0, arm] += within_reach(learning_rate_at(t, hyper[0]) * (reward / probability))
    return True


@compiled
def weigh(t, vectors, memory, hyper, weights):
    """p = (1 - mixing) softmax(theta) + mixing/K."""
    mixing, n_arms = hyper[1], weights.shape[0]
    weigh_by_softmax(t, vectors, memory, hyper, weights)
    evenly = mixing * (sum_of(weights) / n_arms)
    for a in range(n_arms):
        weights[a] = (1.0 - mixing) * weights[a] + evenly


@dataclass(frozen=True, kw_only=True)
class EXP3(VectorRule):
    """EXP3 (Auer, Cesa-Bianchi, Freund and Schapire 2002): exponential weights, for rewards an adversary may choose.

        p = (1 - mixing) softmax(theta) + mixing/K,    theta <- theta + alpha (R/p(a)) e_a

    Theirs has rewards in [0, 1] and alpha = mixing/K. Here rewards may be negative or large and enter as they come.
    The regret bound holds only in [0, 1]. Elsewhere keep alpha |R| K/mixing, the largest step, at about 1 or less.
    No start can be set, since none could have a probability below mixing/K.

    learning_rate: alpha, a number or a `Schedule`. 0 <= mixing <= 1.
    """

    name = "exp3"
    place = "outside the paper"
    rows = ("theta",)
    has_preferences = False
    learn = staticmethod(learn)
    weigh = staticmethod(weigh)

    learning_rate: LearningRate
    mixing: Share = 0.05

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return schedules.as_numbers(self.learning_rate), float(self.mixing)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """alpha r: weighting by 1/p makes the gains unbiased."""
        return np.asarray(learning_rate_at(t, self.hyper(len(means))[0]) * means)
