"""The objective LB-SGB ascends: Phi_eta = J + (1/eta) sum_a log p(a), its derivatives, and how much one step changes it.

Shapes: theta, means and steps (..., K); eta a number or (...,). Results lose the last axis unless a shape is given. Everything
is exact to rounding at any finite theta: differences r_a - J are taken against the likeliest arm, so they survive p -> 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bandits.softmax import log_softmax, softmax


def performance(theta: np.ndarray, means: np.ndarray) -> np.ndarray:
    """J = sum_a p(a) r(a), the expected reward (Section 2)."""
    return np.asarray((softmax(theta) * means).sum(axis=-1))


def barrier(theta: np.ndarray, eta: Any) -> np.ndarray:
    """B_eta = (1/eta) sum_a log p(a), at most -(K log K)/eta, and lower the closer an arm is to being lost."""
    return np.asarray(log_softmax(theta).sum(axis=-1) / eta)


def objective(theta: np.ndarray, means: np.ndarray, eta: Any) -> np.ndarray:
    """Phi_eta = J + B_eta (Equation 3).

    >>> round(float(objective(np.zeros(2), np.array([1.0, 0.0]), eta=10.0)), 6)
    0.361371
    """
    return np.asarray(performance(theta, means) + barrier(theta, eta))


def advantage(theta: np.ndarray, means: np.ndarray) -> np.ndarray:
    """A(a) = r(a) - J (..., K), without cancellation where one arm holds nearly all of the probability."""
    likeliest = np.argmax(theta, axis=-1)[..., None]
    relative = means - np.take_along_axis(np.broadcast_to(means, np.shape(theta)), likeliest, axis=-1)
    return np.asarray(relative - (softmax(theta) * relative).sum(axis=-1, keepdims=True))


def gradient(theta: np.ndarray, means: np.ndarray, eta: Any) -> np.ndarray:
    """grad Phi_eta = (diag p - p p^T) r + (1/eta)(1 - K p), (..., K). eta = inf gives grad J.

    >>> gradient(np.zeros(2), np.array([1.0, 0.0]), eta=10.0)
    array([ 0.25, -0.25])
    """
    p = softmax(theta)
    return np.asarray(p * advantage(theta, means) + (1.0 - p.shape[-1] * p) / np.asarray(eta)[..., None])


def gradient_norm(theta: np.ndarray, means: np.ndarray, eta: Any) -> np.ndarray:
    """||grad Phi_eta||_2."""
    return np.asarray(np.linalg.norm(gradient(theta, means, eta), axis=-1))


def sampled_gradient(theta: np.ndarray, arm: int, reward: Any, eta: Any) -> np.ndarray:
    """What LB-SGB follows after pulling `arm`: R (e_arm - p) + (1/eta)(1 - K p), (..., K) (Algorithm 4).

    reward R and eta: numbers or (...,). Its mean over arm ~ p and R is `gradient`.
    """
    p = softmax(theta)
    chosen = np.eye(p.shape[-1])[arm]
    return np.asarray(np.asarray(reward)[..., None] * (chosen - p) + (1.0 - p.shape[-1] * p) / np.asarray(eta)[..., None])


def hessian(theta: np.ndarray, means: np.ndarray, eta: Any) -> np.ndarray:
    """The second derivatives of Phi_eta (..., K, K) (Appendix, Hessian of the regularised objective).

    H_ij = delta_ij p_i (A_i - K/eta) - p_i p_j (A_i + A_j - K/eta), with A = r - J.
    """
    p, a = softmax(theta), advantage(theta, means)
    k_over_eta = (p.shape[-1] / np.asarray(eta))[..., None]
    diagonal = (p * (a - k_over_eta))[..., None] * np.eye(p.shape[-1])
    products = p[..., :, None] * p[..., None, :]
    return np.asarray(diagonal - products * (a[..., :, None] + a[..., None, :] - k_over_eta[..., None]))


def curvature(theta: np.ndarray, means: np.ndarray, eta: Any, direction: np.ndarray) -> np.ndarray:
    """y^T H y for a direction y (..., K), in order K operations."""
    p, a = softmax(theta), advantage(theta, means)
    k_over_eta = p.shape[-1] / np.asarray(eta)
    along = (p * direction).sum(axis=-1)
    squares = (p * (a - k_over_eta[..., None]) * direction**2).sum(axis=-1)
    return np.asarray(squares - 2.0 * (p * a * direction).sum(axis=-1) * along + k_over_eta * along**2)


def performance_change(theta: np.ndarray, step: np.ndarray, means: np.ndarray) -> np.ndarray:
    """J(theta + step) - J(theta), with full relative accuracy for tiny steps.

    Since sum_a p(a) A(a) = 0, it is sum_a p(a) A(a) expm1(step_a) / (1 + sum_a p(a) expm1(step_a)).
    """
    growth = softmax(theta) * np.expm1(step)
    return np.asarray((growth * advantage(theta, means)).sum(axis=-1) / (1.0 + growth.sum(axis=-1)))


def barrier_change(theta: np.ndarray, step: np.ndarray) -> np.ndarray:
    """sum_a [log p'(a) - log p(a)] for theta' = theta + step: sum(step) - K log(1 + sum_a p(a) expm1(step_a))."""
    growth = (softmax(theta) * np.expm1(step)).sum(axis=-1)
    return np.asarray(np.sum(step, axis=-1) - np.shape(step)[-1] * np.log1p(growth))
