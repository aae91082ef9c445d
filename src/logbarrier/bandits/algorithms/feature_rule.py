"""What the rules share that learn about arms through their features phi (m, K): known numbers that describe each arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...engine.codegen.lane_access import lane_sum, load, splat
from ...engine.codegen.lanes import WIDTH
from ...engine.compiled import compiled
from ..loops.policy import within_reach
from .vector_rule import VectorRule


@compiled
def dot(values, others):
    """sum values others of two rows (K,), eight side by side."""
    whole = values.shape[0] // WIDTH * WIDTH
    sums = splat(0.0)
    for i in range(0, whole, WIDTH):
        sums = sums + load(values, i) * load(others, i)
    total = lane_sum(sums)
    for i in range(whole, values.shape[0]):
        total += values[i] * others[i]
    return total


@compiled
def add_along(target, direction, features):
    """target (K,) += sum_j direction (m,)[j] features (m, K)[j]."""
    for j in range(features.shape[0]):
        step = within_reach(direction[j])
        row = features[j]
        for a in range(target.shape[0]):
            target[a] += step * row[a]


@compiled
def n_features_in(rows, first, n_arms):
    """m, where `rows` rows of K numbers hold `first` rows, m rows of features, and m x m numbers in rows of their own."""
    m = 0
    while first + m + (m * m + n_arms - 1) // n_arms < rows:
        m += 1
    return m


@dataclass(frozen=True, kw_only=True)
class FeatureRule(VectorRule):
    """The base of rules that know features (m, K) of the arms; a problem without features has one for each arm.

    squares  whether it keeps m x m numbers besides, in rows of their own after the features
    """

    uses_features: ClassVar[bool] = True
    squares: ClassVar[bool] = False

    def new_vectors(self, theta: np.ndarray, means: np.ndarray | None) -> np.ndarray:
        return self.vectors_with(theta, means, None)

    def vectors_with(self, theta: np.ndarray, means: np.ndarray | None, features: np.ndarray | None) -> np.ndarray:
        """The rule's own rows, then the features (m, K), then room for m x m numbers where it keeps them."""
        n_arms, first = len(theta), len(self.rows)
        given = np.eye(n_arms) if features is None else features
        m = len(given)
        vectors = np.zeros((first + m + (-(-m * m // n_arms) if self.squares else 0), n_arms))
        if self.has_preferences:
            vectors[0] = theta
        vectors[first : first + m] = given
        return vectors

    def features_in(self, vectors: np.ndarray) -> np.ndarray:
        """The features (m, K) among the vectors."""
        first, n_arms = len(self.rows), vectors.shape[1]
        m = int(n_features_in(len(vectors), first, n_arms)) if self.squares else len(vectors) - first
        return np.asarray(vectors[first : first + m])

    def row_names(self, count: int) -> tuple[str, ...]:
        return (*self.rows, *(f"features[{j}]" for j in range(count - len(self.rows))))
