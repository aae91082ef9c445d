"""What the rules that estimate each arm's mean reward share: how the means are learnt, and the choice of a largest score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...engine.compiled import compiled
from ..loops.dense import learn_mean
from ..loops.vectors import largest, sum_of
from .vector_rule import VectorRule


@compiled
def learn_arm_mean(arm, reward, probability, t, policy, vectors, memory, hyper):
    """m(a) is the mean of arm a's rewards, n(a) their number."""
    means, counts = vectors
    learn_mean(means, counts, arm, reward)
    return True


@compiled
def score_by_mean(vectors, scores):
    """scores (K,) <- m(a), infinite for arms never pulled: they come first; returns the largest."""
    means, counts = vectors
    for a in range(means.shape[0]):
        scores[a] = means[a] if counts[a] > 0.0 else math.inf
    return largest(scores)


@compiled
def weigh_largest(scores, top):
    """scores (K,) <- 1 where the score is `top`, else 0; returns how many are."""
    for a in range(scores.shape[0]):
        scores[a] = 1.0 if scores[a] == top else 0.0
    return sum_of(scores)


@compiled
def draw_largest(u, scores, top):
    """An arm whose score is `top`, each as likely as the other, at u in [0, 1]."""
    several, last = 0, 0
    for a in range(scores.shape[0]):
        several += scores[a] == top
        last = max(last, a * (scores[a] == top))
    if several == 1:  # nearly always
        return last
    passed, arm = min(int(u * several), several - 1), 0
    while arm < scores.shape[0] - 1 and (scores[arm] != top or passed > 0):
        passed -= scores[arm] == top
        arm += 1
    return arm


def by_largest(fill_scores: Any) -> tuple[Any, Any]:
    """`weigh` and `draw` of a rule that pulls an arm of the largest score.

    fill_scores: compiled (t, vectors, hyper, scores), fills scores (K,) and returns the largest
    """

    @compiled
    def weigh(t, vectors, memory, hyper, weights):
        """All on the largest score, evenly where several are largest."""
        weigh_largest(weights, fill_scores(t, vectors, hyper, weights))

    @compiled
    def draw(u, t, policy, vectors, memory, hyper, stream):
        """An arm of the largest score."""
        scores = np.empty(vectors.shape[1])
        return draw_largest(u, scores, fill_scores(t, vectors, hyper, scores))

    return weigh, draw


@dataclass(frozen=True, kw_only=True)
class ArmMeanRule(VectorRule):
    """The base of rules that choose by m(a), the mean of arm a's rewards, and n(a), their number."""

    place = "outside the paper"
    rows: ClassVar[tuple[str, ...]] = ("means", "counts")
    never_negative = ("counts", "widths")
    is_table = True
    has_preferences = False
    learn = staticmethod(learn_arm_mean)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """p(a) (r(a) - m(a)) / (n(a) + 1)."""
        return np.asarray(policy * (means - vectors[0]) / (vectors[1] + 1))
