"""MDPs with features at which the statements are tried, and F and b at them.

F(mu) = sum mu g g', g = phi - E_pi phi, h = log det F, b = g' F^-1 g (docs/features.md).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .mdp_points import ANY_SIZE, ONE_STATE, MDPInstances, MDPPoints

MOST_FEATURES = 3
SPREAD = 0.15  # how far features are from those that mark one action each


@dataclass(frozen=True)
class FeatureCases(MDPInstances):
    """MDPs with features (n, S, K, m) and features of states (n, S, m)."""

    features: np.ndarray
    of_states: np.ndarray

    def describe(self, index: int) -> dict[str, Any]:
        own = {"features": self.features[index].tolist(), "of_states": self.of_states[index].tolist()}
        return {**super().describe(index), **own}


@dataclass(frozen=True)
class FeaturePoints(MDPPoints):
    """Points with min(S (K - 1), 3) features, so that F has an inverse."""

    def draw(self, generator: np.random.Generator, count: int, size: tuple[int, int], /) -> np.ndarray:
        S, K = size
        bare = super().draw(generator, count, size)
        return np.concatenate([bare, generator.normal(size=(count, (S * K + S) * n_features(size)))], axis=1)

    def decode(self, free: np.ndarray, size: tuple[int, int], /) -> FeatureCases:
        S, K = size
        m = n_features(size)
        cut = free.shape[1] - (S * K + S) * m
        bare = super().decode(free[:, :cut], size)
        features, of_states = np.split(SPREAD * np.tanh(free[:, cut:]), [S * K * m], axis=1)
        known = {field.name: getattr(bare, field.name) for field in fields(bare)}
        marked = np.zeros((S, K, m))  # each feature marks an action of its own, so that F has an inverse
        marked.reshape(S * K, m)[[K * (j // (K - 1)) + 1 + j % (K - 1) for j in range(m)], np.arange(m)] = 1.0
        states = np.eye(S, m) + of_states.reshape(-1, S, m)
        return FeatureCases(**known, features=marked + features.reshape(-1, S, K, m), of_states=states)


def n_features(size: tuple[int, int]) -> int:
    """m for MDPs of S states and K actions."""
    return min(size[0] * (size[1] - 1), MOST_FEATURES)


def centred(x: FeatureCases, mu: np.ndarray) -> np.ndarray:
    """g (n, S, K, m) at measures mu (n, S, K)."""
    policy = mu / mu.sum(axis=2, keepdims=True)
    return np.asarray(x.features - np.einsum("nsa,nsam->nsm", policy, x.features)[:, :, None])


def fisher(x: FeatureCases, mu: np.ndarray) -> np.ndarray:
    """F (n, m, m)."""
    g = centred(x, mu)
    return np.asarray(np.einsum("nsa,nsam,nsak->nmk", mu, g, g))


def bonus(x: FeatureCases, mu: np.ndarray) -> np.ndarray:
    """b (n, S, K)."""
    g = centred(x, mu)
    return np.asarray(np.einsum("nsam,nmk,nsak->nsa", g, np.linalg.inv(fisher(x, mu)), g))


def log_det(matrices: np.ndarray) -> np.ndarray:
    """Logarithms of determinants (n,)."""
    return np.asarray(np.linalg.slogdet(matrices)[1])


def condition(x: FeatureCases, mu: np.ndarray) -> np.ndarray:
    """Condition number of F (n,)."""
    return np.asarray(np.linalg.cond(fisher(x, mu)))


POINTS = FeaturePoints(ANY_SIZE.RANDOM_SIZES, ANY_SIZE.SEARCHED_SIZES)
BANDITS = FeaturePoints(ONE_STATE.RANDOM_SIZES, ONE_STATE.SEARCHED_SIZES)
FEWER = FeaturePoints(((2, 3), (3, 3), (4, 2), (5, 3)), ((3, 3), (4, 2)))  # fewer features than S (K - 1)
