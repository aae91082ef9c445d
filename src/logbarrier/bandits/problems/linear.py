"""Bandits whose arms have known features: mean rewards are linear in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import validate
from ...engine.compiled import compiled, from_python
from ...engine.random import INSTANCE, philox, standard_normal, stream_key, uniform
from ..loops.policy import LARGEST_REWARD
from .bandit import Bandit, per_arm
from .family import Family
from .gap_instances import checked_gap
from .gaussian import gaussian_reward


@compiled
def fill_normals(values, key, run):
    """values (n,) <- independent normals of a run's instance; returns a uniform number besides."""
    for i in range(values.shape[0]):
        values[i] = standard_normal(uniform(philox(1 + i, 0, run, INSTANCE, key)[0]))
    return uniform(philox(0, 0, run, INSTANCE, key)[0])


def products(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """features (K, m) . weights (m,), added up in order: the same bits on every machine."""
    total = np.zeros(len(features))
    for j in range(len(weights)):
        total += features[:, j] * weights[j]
    return total


class LinearBandit(Bandit):
    """R ~ N(w . phi_a, scale^2), where the features phi_a of the arms are known and w is not.

    features  (K, m), one row per arm
    weights   (m,): w
    scale     the standard deviation, one for all arms or (K,)

    The parameters of an instance are means, scale and the features, (2 + m, K). Rules without features see the means' bandit.

    >>> import logbarrier as lb
    >>> lb.LinearBandit(features=[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], weights=[0.25, 0.75]).means.tolist()
    [0.25, 0.75, 0.5]
    """

    noise = staticmethod(standard_normal)
    reward_of = staticmethod(gaussian_reward)

    def __init__(self, features: Any, weights: Any, scale: Any = 1.0, *, allow_ties: bool = False) -> None:
        phi = checked_features("LinearBandit", features, None)
        w = validate.array("LinearBandit", "weights", weights, "a sequence of numbers")
        if w.shape != phi.shape[1:] or not np.isfinite(w).all():
            raise ValueError(f"LinearBandit: weights must be {phi.shape[1]} finite numbers, got shape {w.shape}")
        means = products(phi, w)
        super().__init__(means, per_arm("LinearBandit", "scale", scale, means), *phi.T, allow_ties=allow_ties)
        self.weights, self.n_features = w, phi.shape[1]

    @property
    def features(self) -> np.ndarray:
        """(K, m)."""
        return np.asarray(self.parameters[2:].T)

    def arguments(self) -> dict[str, Any]:
        """Plain JSON values that make it again."""
        tied = len(np.unique(self.means)) < self.n_arms
        own = {"features": self.features.tolist(), "weights": self.weights.tolist(), "scale": self.parameters[1].tolist()}
        return {**own, **({"allow_ties": True} if tied else {})}


class FeatureInstances(Family):
    """A fresh bandit with features for every run: m features per arm, mean rewards linear in them.

    Features are N(0, I/m), so that their norms are near 1, and w has a random direction. w is scaled so that the best of the
    other arms has the mean r_max - gap; the best arm's features are moved along w until its mean is r_max. Rewards are
    N(r(a), scale^2). Run number i of a seed faces the same instance whatever the rule.

    >>> import logbarrier as lb
    >>> problem = lb.FeatureInstances(n_arms=50, n_features=4, gap=0.1).problem(seed=0, run=3)
    >>> round(problem.optimal_reward, 9), round(problem.optimal_gap, 9), problem.features.shape
    (1.0, 0.1, (50, 4))
    """

    bandit = LinearBandit

    def __init__(self, n_arms: int, n_features: int, gap: float = 0.1, r_max: float = 1.0, scale: float = 1.0) -> None:
        self.n_arms = validate.integer("FeatureInstances", "n_arms", n_arms, 2)
        self.n_features = validate.integer("FeatureInstances", "n_features", n_features, 1)
        self.r_max = validate.positive_up_to("FeatureInstances", "r_max", r_max, LARGEST_REWARD)
        self.gap = checked_gap("FeatureInstances", gap, 0.0, self.r_max)
        self.scale = validate.positive_up_to("FeatureInstances", "scale", scale, LARGEST_REWARD)

    def drawn(self, key: np.ndarray, run: int) -> tuple[np.ndarray, np.ndarray]:
        """Features (K, m) and w (m,) of a run: a pure function of key and run."""
        m, normals = self.n_features, np.empty((self.n_arms + 1) * self.n_features)
        best = int(from_python(fill_normals)(normals, key, run) * self.n_arms)
        phi, w = normals[m:].reshape(self.n_arms, m) / np.sqrt(m), normals[:m]
        others = np.delete(products(phi, w), best).max()
        if others <= 0.0:  # turn w round: then the best of the others is above 0
            w, others = -w, np.delete(-products(phi, w), best).max()
        w = w * ((self.r_max - self.gap) / others)
        length = products(w[None], w)[0]
        phi[best] += (self.r_max - products(phi[best][None], w)[0]) / length * w
        return phi, w

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """The parameters (2 + m, K) of a run: means, scale and features."""
        phi, w = self.drawn(key, run)
        return np.vstack([products(phi, w), np.full(self.n_arms, self.scale), phi.T])

    def problem(self, seed: int, run: int) -> LinearBandit:
        """The instance that run number `run` of `seed` faces, as a problem in itself."""
        key = stream_key(validate.integer("FeatureInstances.problem", "seed", seed, 0))
        number = validate.integer("FeatureInstances.problem", "run", run, 0, 2**32 - 1)
        phi, w = self.drawn(key, number)
        return LinearBandit(phi, w, self.scale, allow_ties=True)


def checked_features(owner: str, features: Any, n_arms: int | None) -> np.ndarray:
    """Features (K, m), finite, one row per arm."""
    phi = validate.array(owner, "features", features, "an array of numbers")
    if phi.ndim != 2 or phi.shape[1] < 1 or (n_arms is not None and len(phi) != n_arms):
        rows = "one row per arm" if n_arms is None else f"{n_arms} rows, one per arm"
        raise ValueError(f"{owner}: features must have {rows} and a column per feature, got shape {phi.shape}")
    if not np.isfinite(phi).all():
        raise ValueError(f"{owner}: features must be finite, got {phi[~np.isfinite(phi)][0]}")
    return phi
