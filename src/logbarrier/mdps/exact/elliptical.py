"""Objectives with features: the log-determinant of the covariance of features under the occupancy measure.

With mu(s, a) = d(s) pi(a|s) and centred features g(s, a) = phi(s, a) - sum_b pi(b|s) phi(s, b),

    F = sum mu g g',    h = log det F,    dh/dmu(s, a) = b(s, a) = g' F^-1 g >= 0,    sum mu b = m

F is the Fisher matrix of the policy softmax(w . phi). It is concave in mu as a matrix, so h is concave in mu. The gradient
of h, in any parameters of the policy, is a policy gradient with the reward b: an elliptical bonus. At the maximum of
J + h/eta over all policies, J* - J <= (m - sum mu* b)/eta <= m/eta, whatever the number of states.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ...base import validate
from ..checks import finite_array
from ..problem import FiniteMDP
from .objectives import Objective
from .point import Change, Point

INDEPENDENT = 1e-10  # of the largest singular value: a direction of features with less than this counts as none


@dataclass(frozen=True)
class Ellipse:
    """F = sum weights x x' + ridge I of vectors x (S, A, r) with weights (S, A), factored; A is K, or 1 for features of states.

    log_det    log det F
    whitened   (S, A, r) L^-1 x, F = L L'
    leverage   (S, A) x' F^-1 x, the derivative of log det F in the weights
    dimension  sum weights leverage = r - ridge tr F^-1, which is r without a ridge
    factor     L (r, r)
    """

    log_det: float
    whitened: np.ndarray
    leverage: np.ndarray
    dimension: float
    factor: np.ndarray


def ellipse_of(owner: str, vectors: np.ndarray, weights: np.ndarray, ridge: float) -> Ellipse:
    """The ellipse of vectors (S, A, r) with weights (S, A); ValueError where F has no inverse in double precision."""
    flat, size = vectors.reshape(-1, vectors.shape[2]), vectors.shape[2]
    F = flat.T @ (weights.reshape(-1, 1) * flat) + ridge * np.eye(size)
    singular = (
        f"{owner}: the policy must visit states and actions whose features span {size} dimensions, but F has no inverse; "
        "use a policy without zeros, mdp.pruned(), or ridge="
    )
    try:
        factor = np.linalg.cholesky(F)
    except np.linalg.LinAlgError:
        raise ValueError(singular) from None
    whitened = np.ascontiguousarray(solve_triangular(factor, flat.T, lower=True, check_finite=False).T).reshape(vectors.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        leverage = np.einsum("sam,sam->sa", whitened, whitened)
    if not np.isfinite(leverage).all():
        raise ValueError(singular)
    log_det = 2.0 * float(np.log(np.diag(factor)).sum())
    return Ellipse(log_det, whitened, leverage, float((weights * leverage).sum()), factor)


@dataclass(frozen=True, kw_only=True, eq=False)
class Elliptical(Objective):
    """J + log det(F + ridge I)/eta; subclasses say which features F is made of."""

    features: Any
    eta: float
    ridge: float = 0.0
    coordinates: np.ndarray = field(init=False, repr=False)  # (S, A, r) features in a basis of what they span

    def __post_init__(self) -> None:
        owner = type(self).__name__
        given = finite_array(owner, "features", self.features)
        given.setflags(write=False)
        for name, value in (
            ("features", given),
            ("eta", validate.positive(owner, "eta", self.eta)),
            ("ridge", validate.at_least_zero(owner, "ridge", self.ridge)),
            ("coordinates", self._coordinates(given)),
        ):
            object.__setattr__(self, name, value)

    def _coordinates(self, features: np.ndarray) -> np.ndarray:
        """The features (S, A, r) that F is made of."""
        raise NotImplementedError

    def vectors(self, policy: np.ndarray) -> np.ndarray:
        """What F is the second moment of, (S, A, r)."""
        raise NotImplementedError

    def weights(self, mu: np.ndarray) -> np.ndarray:
        """The weights (S, A) of these vectors, from a measure mu (S, K), or from a change of one."""
        raise NotImplementedError

    def vectors_change(self, change: Change) -> np.ndarray:
        """The derivative of the vectors along a direction, (S, 1, r)."""
        raise NotImplementedError

    def ellipse(self, occupancy: np.ndarray, policy: np.ndarray, ridge: float | None = None) -> Ellipse:
        """F at a policy (S, K) with its occupancy (S,); its own ridge unless another one is given."""
        weights = self.weights(occupancy[:, None] * policy)
        return ellipse_of(type(self).__name__, self.vectors(policy), weights, self.ridge if ridge is None else ridge)

    def check(self, mdp: FiniteMDP) -> None:
        """Refuse features of other states or actions than those of the MDP."""
        shape = mdp.R.shape[: self.features.ndim - 1]
        if self.features.shape[:-1] != shape:
            wanted = ", ".join(map(str, shape))
            raise ValueError(
                f"{type(self).__name__}: features must have shape ({wanted}, m) for {mdp.name}, got {self.features.shape}"
            )

    def at(self, point: Point) -> Ellipse:
        """F at a point."""
        self.check(point.mdp)
        return self.ellipse(point.occupancy, point.policy)

    def regulariser(self, point: Point) -> float:
        """log det(F + ridge I)/eta."""
        return self.at(point).log_det / self.eta

    def bonus(self, point: Point) -> np.ndarray:
        """x' F^-1 x / eta: what lies outside the ellipse of the features seen so far pays."""
        return np.asarray(self.at(point).leverage / self.eta) + np.zeros(point.policy.shape)

    def bonus_change(self, point: Point, change: Change) -> np.ndarray:
        """With y = L^-1 x: (2 y . dy - y' [sum dw y y'] y)/eta."""
        here = self.at(point)
        y = here.whitened
        weights = self.weights(change.occupancy[:, None] * point.policy + point.occupancy[:, None] * change.policy)
        turned = np.einsum("sa,sam,san->mn", weights, y, y)
        dy = solve_triangular(here.factor, self.vectors_change(change)[:, 0].T, lower=True).T[:, None]
        db = 2.0 * (y * dy).sum(axis=2) - np.einsum("sam,mn,san->sa", y, turned, y)
        return np.asarray(db / self.eta) + np.zeros(point.policy.shape)

    def bias_bound(self, point: Point) -> float:
        """m/eta; with a ridge (m - ridge tr F^-1)/eta."""
        return self.at(point).dimension / self.eta


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureSpectral(Elliptical):
    """J + log det F/eta, F the covariance of the features phi (S, K, m) of states and actions around their mean in each state.

    The bias of the maximum is at most m/eta, whatever the number of states. One-hot features give `Spectral`.

    features  (S, K, m); only differences between actions of a state count. If they span r < m dimensions, log det is the
              logarithm of the pseudo-determinant, the product of the r positive eigenvalues, and r takes the place of m
    eta       > 0: larger is a weaker barrier
    ridge     >= 0: log det(F + ridge I) in place of log det F; m becomes m - ridge tr (F + ridge I)^-1

    >>> import numpy as np
    >>> from logbarrier import mdps
    >>> mdp = mdps.RandomMDPs(50, 3).problem(seed=0, run=0)
    >>> phi = np.random.default_rng(0).normal(size=(50, 3, 5))
    >>> best = mdps.exact.maximise(mdp, mdps.FeatureSpectral(features=phi, eta=100.0))
    >>> bool(best.bias <= best.certificate + best.gap), round(best.bias_bound, 3)      # at most 5/100
    (True, 0.05)
    """

    def _coordinates(self, features: np.ndarray) -> np.ndarray:
        if features.ndim != 3:
            raise ValueError(f"FeatureSpectral: features must have shape (S, K, m), got {features.shape}")
        centred = features - features.mean(axis=1, keepdims=True)
        return np.asarray(features @ _basis("FeatureSpectral", centred, "differ between the actions of a state", self.ridge))

    def vectors(self, policy: np.ndarray) -> np.ndarray:
        return np.asarray(self.coordinates - policy[:, None, :] @ self.coordinates)

    def weights(self, mu: np.ndarray) -> np.ndarray:
        return mu

    def vectors_change(self, change: Change) -> np.ndarray:
        return np.asarray(-(change.policy[:, None, :] @ self.coordinates))


@dataclass(frozen=True, kw_only=True, eq=False)
class StateSpectral(Elliptical):
    """J + log det B/eta, B = sum_s d(s) z(s) z(s)' with features z (S, p) of states: the part that visits states.

    The bonus is z' B^-1 z, the bias of the maximum at most p/eta. ridge and dependent features as in `FeatureSpectral`.

    >>> import numpy as np
    >>> from logbarrier import mdps
    >>> z = np.column_stack([np.ones(12), np.linspace(-1.0, 1.0, 12)])
    >>> best = mdps.exact.maximise(mdps.RiverSwim(12), mdps.StateSpectral(features=z, eta=1000.0))
    >>> round(best.bias_bound, 6)
    0.002
    """

    def _coordinates(self, features: np.ndarray) -> np.ndarray:
        if features.ndim != 2:
            raise ValueError(f"StateSpectral: features must have shape (S, p), got {features.shape}")
        states = features[:, None, :]
        return np.asarray(states @ _basis("StateSpectral", states, "not all be 0", self.ridge))

    def vectors(self, policy: np.ndarray) -> np.ndarray:
        return self.coordinates

    def weights(self, mu: np.ndarray) -> np.ndarray:
        return np.asarray(mu.sum(axis=1, keepdims=True))

    def vectors_change(self, change: Change) -> np.ndarray:
        return np.zeros_like(self.coordinates)


def _basis(owner: str, vectors: np.ndarray, demand: str, ridge: float) -> np.ndarray:
    """(m, r) an orthonormal basis of what the vectors (S, A, m) span; the identity if r is m or there is a ridge."""
    size = vectors.shape[2]
    sizes, directions = np.linalg.svd(vectors.reshape(-1, size), full_matrices=False)[1:]
    rank = int((sizes > INDEPENDENT * sizes[0]).sum()) if len(sizes) and sizes[0] > 0.0 else 0
    if rank == 0:
        raise ValueError(f"{owner}: features must {demand}, got {size} features that do not")
    return np.eye(size) if rank == size or ridge > 0.0 else directions[:rank].T
