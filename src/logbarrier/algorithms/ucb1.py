"""UCB1: optimism, no policy gradient."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import validate
from ..engine.compiled import compiled
from ..engine.elementary import log
from .vector_rule import VectorRule


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """m(a) is the mean of arm a's rewards, n(a) their number."""
    means, counts = vectors
    counts[arm] += 1.0
    means[arm] += (reward - means[arm]) / counts[arm]
    return True


@compiled
def weigh(t, vectors, memory, hyper, weights):
    """All on the largest m(a) + c sqrt(log t / n(a)), evenly where several are largest; arms never pulled come first."""
    means, counts = vectors
    best = -math.inf
    for a in range(means.shape[0]):
        bound = math.inf if counts[a] == 0.0 else means[a] + hyper[0] * math.sqrt(log(float(t)) / counts[a])
        if bound > best:
            best = bound
            for b in range(a):
                weights[b] = 0.0
        weights[a] = 1.0 if bound == best else 0.0


@dataclass(frozen=True, kw_only=True)
class UCB1(VectorRule):
    """UCB1 (Auer, Cesa-Bianchi and Fischer 2002): pull the arm of the largest upper confidence bound.

        m(a) + c sqrt(log t / n(a))

    with t the pulls so far. c > 0: sqrt(2) is the paper's, for rewards in an interval of length 1; Gaussian rewards of
    deviation sigma ask for 2 sigma.
    """

    name = "ucb1"
    place = "outside the paper"
    rows = ("means", "counts")
    prefers = False
    learn = staticmethod(learn)
    weigh = staticmethod(weigh)

    c: float = 2.0

    def __post_init__(self) -> None:
        validate.positive("UCB1", "c", self.c)

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return (float(self.c),)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """p(a) (r(a) - m(a)) / (n(a) + 1)."""
        return np.asarray(policy * (means - vectors[0]) / (vectors[1] + 1))
