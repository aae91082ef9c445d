"""Rules that keep their own vectors, for what two scalars per step cannot express."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..loops.vectors import draw_by_policy, weigh_by_softmax
from .rule import Rule


@dataclass(frozen=True, kw_only=True)
class VectorRule(Rule):
    """A rule that keeps vectors (V, K), a few numbers for every arm, and says how they weigh the arms.

    rows   the names of its vectors; row 0 is theta if `has_preferences`, the last row is the true means if `knows_means`
    never_negative  the names of those in which a negative number is damage, such as counts
    is_table        column a holds statistics of arm a alone, that of a new arm is as at the start, `weigh` works on any subset
                    of the columns, and `learn` does not read the policy: then agents may restrict, add and remove arms
    counts_pending  agents count pending decisions in the row "pending" and, in all, in memory.pending; they set memory.stale
                    when arms come or go; simulations leave all three at 0
    learn  compiled (arm, reward, probability, t, policy, vectors, memory, hyper) -> whether the policy may have moved;
           policy (K,) is what the arm was drawn from, probability its entry, never 0; t = 1, 2, ...
    weigh  compiled (t, vectors, memory, hyper, weights): fills weights (K,), at least 0 and not all 0;
           after t steps p = weights / sum(weights); softmax of row 0 unless the rule says otherwise
    uses_features  whether it knows features of the arms (`FeatureRule`)
    draw   compiled (u, t, policy, vectors, memory, hyper, stream) -> arm. Only for a rule that can draw without
           knowing p; its `learn` must not read the policy, which is then up to date only where it is measured
    """

    rows: ClassVar[tuple[str, ...]]
    uses_features: ClassVar[bool] = False
    never_negative: ClassVar[tuple[str, ...]] = ()
    is_table: ClassVar[bool] = False
    counts_pending: ClassVar[bool] = False
    learn: ClassVar[Any]
    weigh: ClassVar[Any] = staticmethod(weigh_by_softmax)
    draw: ClassVar[Any] = staticmethod(draw_by_policy)

    @property
    def draws_by_policy(self) -> bool:
        """Whether arms are drawn by the policy, rather than by the rule's own `draw`."""
        return self.draw is draw_by_policy

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """E[change of row 0] at step t that the rule claims, (K,); means (K,) are the true mean rewards."""
        raise NotImplementedError

    def row_names(self, count: int) -> tuple[str, ...]:
        """The names of `count` vectors."""
        return self.rows

    def vectors_with(self, theta: np.ndarray, means: np.ndarray | None, features: np.ndarray | None) -> np.ndarray:
        """`new_vectors` for a problem whose arms have features (m, K), or None; a rule without features ignores them."""
        return self.new_vectors(theta, means)

    def new_vectors(self, theta: np.ndarray, means: np.ndarray | None) -> np.ndarray:
        """The vectors (V, K) before the first step, from log start probabilities and, if it knows them, the true means."""
        vectors = np.zeros((len(self.rows), len(theta)))
        if self.has_preferences:
            vectors[0] = theta
        if self.knows_means:
            vectors[-1] = means
        return vectors
