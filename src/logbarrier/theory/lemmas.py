"""The lemmas that hold at a point theta: each returns both sides. One step of the algorithm is in one_step.py.

Shapes: theta, means and direction (..., K); eta and r_max numbers or (...,).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bandits.softmax import log_softmax, softmax
from . import objective as phi
from .sides import Sides, equality


def non_uniform_smoothness(theta: np.ndarray, means: np.ndarray, eta: Any, direction: np.ndarray) -> Sides:
    """|y^T H y| <= 3 (||grad Phi|| + 5K/eta) ||y||^2, as printed (Lemma, Non-uniform Smoothness).

    >>> sides = non_uniform_smoothness(np.zeros(3), np.array([1.0, 0.5, 0.0]), 10.0, np.array([1.0, -1.0, 0.0]))
    >>> bool(sides.lesser <= sides.greater)
    True
    """
    return _smoothness(theta, means, eta, direction, 15.0 * np.shape(theta)[-1])


def non_uniform_smoothness_sharpened(theta: np.ndarray, means: np.ndarray, eta: Any, direction: np.ndarray) -> Sides:
    """|y^T H y| <= (3 ||grad Phi|| + (K + 1)/eta) ||y||^2: what the proof gives once its slips are corrected (erratum 1).

    With g = grad Phi, y^T H y = (g - 1/eta)^T (y*y) - (2g - 2/eta + (K/eta) p)^T y (p^T y), and ||2 - K p|| = K ||p||.
    """
    return _smoothness(theta, means, eta, direction, np.shape(theta)[-1] + 1.0)


def _smoothness(theta: np.ndarray, means: np.ndarray, eta: Any, direction: np.ndarray, offset: float) -> Sides:
    length = (direction**2).sum(axis=-1)
    greater = (3.0 * phi.gradient_norm(theta, means, eta) + offset / np.asarray(eta)) * length
    return Sides(np.abs(phi.curvature(theta, means, eta, direction)), greater)


def weak_lojasiewicz(theta: np.ndarray, means: np.ndarray, eta: Any) -> Sides:
    """(p(a*)(r* - J) - (K - 1)/eta)^+ <= ||grad Phi|| (Lemma, Weak Non-Uniform Lojasiewicz)."""
    best = np.argmax(means, axis=-1)[..., None]
    p = np.take_along_axis(softmax(theta), best, axis=-1)[..., 0]
    distance = np.take_along_axis(phi.advantage(theta, means), best, axis=-1)[..., 0]
    lesser = np.maximum(p * distance - (np.shape(theta)[-1] - 1.0) / np.asarray(eta), 0.0)
    return Sides(lesser, phi.gradient_norm(theta, means, eta))


def barrier_gradient_norm(theta: np.ndarray) -> Sides:
    """||1 - K p|| <= 2K, as used throughout."""
    return Sides(_barrier_slope(theta), 2.0 * np.shape(theta)[-1])


def barrier_gradient_norm_sharpened(theta: np.ndarray) -> Sides:
    """||1 - K p|| <= sqrt(K (K - 1)), reached at a vertex (erratum 2): ||1 - K p||^2 = K^2 ||p||^2 - K."""
    n_arms = np.shape(theta)[-1]
    return Sides(_barrier_slope(theta), np.sqrt(n_arms * (n_arms - 1.0)), rounding=1e-14 * n_arms)


def _barrier_slope(theta: np.ndarray) -> Any:
    p = softmax(theta)
    return np.linalg.norm(1.0 - p.shape[-1] * p, axis=-1)


def gradient_norm_bound(theta: np.ndarray, means: np.ndarray, eta: Any) -> Sides:
    """||grad Phi|| <= 2 (r* - J) + 2K/eta (Lemma, Upper Bound on Gradient Norm)."""
    distance = phi.advantage(theta, means).max(axis=-1)
    return Sides(phi.gradient_norm(theta, means, eta), 2.0 * distance + 2.0 * np.shape(theta)[-1] / np.asarray(eta))


def gradient_norm_by_range(theta: np.ndarray, means: np.ndarray, eta: Any, r_max: Any) -> Sides:
    """||grad Phi|| <= 2R + 2K/eta, as the local convergence proof uses it (erratum 9); even ||grad J||_1 <= R is true."""
    return Sides(phi.gradient_norm(theta, means, eta), 2.0 * r_max + 2.0 * np.shape(theta)[-1] / np.asarray(eta))


def performance_gradient_one_norm(theta: np.ndarray, means: np.ndarray, r_max: Any) -> Sides:
    """||grad J||_1 <= R when |r| <= R: a mean absolute deviation is at most a standard deviation (erratum 9)."""
    return Sides((softmax(theta) * np.abs(phi.advantage(theta, means))).sum(axis=-1), r_max, rounding=1e-14 * r_max)


def performance_difference(theta: np.ndarray, other: np.ndarray, means: np.ndarray) -> Sides:
    """J(other) - J(theta) = sum_a p_other(a) A_theta(a), an equality (Lemma, Performance Difference)."""
    left = phi.performance(other, means) - phi.performance(theta, means)
    right = (softmax(other) * phi.advantage(theta, means)).sum(axis=-1)
    return equality(left, right, np.abs(means).max(axis=-1))


def approximate_optimality(theta: np.ndarray, means: np.ndarray, eta: Any) -> Sides:
    """J* - J <= K/eta, for a theta with ||grad Phi|| <= 1/eta (Lemma, Approximate Global Optimality).

    The lemma says nothing elsewhere: where ||grad Phi|| > 1/eta the lesser side is given as 0.
    """
    near = phi.gradient_norm(theta, means, eta) * eta <= 1.0
    distance = phi.advantage(theta, means).max(axis=-1)
    return Sides(np.where(near, distance, 0.0), np.shape(theta)[-1] / np.asarray(eta))


def squared_positive_part(x: Any, y: Any) -> Sides:
    """x^2 <= ((x - y)^+)^2 + 2xy for x, y >= 0, which is the lemma with 2xy on the other side."""
    return Sides(np.square(x), np.maximum(x - y, 0.0) ** 2 + 2.0 * x * y)


def covariance_identity(theta: np.ndarray) -> Sides:
    """diag p - p p^T = sum_a p(a) (e_a - p)(e_a - p)^T, the covariance of e_a (Proposition 1), by its largest entry."""
    p = softmax(theta)
    centred = np.eye(p.shape[-1]) - p[..., None, :]
    covariance = np.einsum("...a,...ai,...aj->...ij", p, centred, centred)
    fisher = p[..., None] * np.eye(p.shape[-1]) - p[..., :, None] * p[..., None, :]
    return Sides(np.abs(fisher - covariance).max(axis=(-2, -1)), 1e-9 * np.ones(p.shape[:-1]))


def determinant_identity(theta: np.ndarray) -> Sides:
    """log det of the reduced Fisher matrix = sum_a log p(a), an equality (Equation 2), with the likeliest arm left out.

    The determinant is that of D^(-1/2) F D^(-1/2) times prod p, D = diag p: no digit is lost near a corner.
    """
    log_p = np.sort(log_softmax(theta), axis=-1)
    roots = np.exp(log_p[..., :-1] / 2.0)
    scaled = np.eye(roots.shape[-1]) - roots[..., :, None] * roots[..., None, :]
    log_determinant = np.linalg.slogdet(scaled)[1] + log_p[..., :-1].sum(axis=-1)
    total = log_p.sum(axis=-1)
    return equality(log_determinant, total, 1.0 + np.abs(total))
