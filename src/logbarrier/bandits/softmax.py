"""The softmax policy and its information geometry, as small NumPy functions.

Shapes: theta (K,), reduced (K - 1,) is theta with the last arm's preference held at 0. `softmax` and `log_softmax` also take
a stack of them, (..., K).
"""

from __future__ import annotations

import numpy as np


def log_softmax(theta: np.ndarray) -> np.ndarray:
    """log p(a) = theta_a - log sum_b exp(theta_b) (..., K), finite at any finite theta."""
    shifted = np.asarray(theta, dtype=np.float64) - np.max(theta, axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def softmax(theta: np.ndarray) -> np.ndarray:
    """p(a) = exp(theta_a) / sum_b exp(theta_b) (..., K) (paper: Equation 1).

    >>> softmax(np.array([0.0, 1e4]))
    array([0., 1.])
    """
    shifted = np.asarray(theta, dtype=np.float64) - np.max(theta, axis=-1, keepdims=True)  # shift: exp cannot overflow
    weights = np.exp(shifted)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def score(theta: np.ndarray, arm: int) -> np.ndarray:
    """grad log p(arm) = e_arm - p (K,)."""
    gradient = -softmax(theta)
    gradient[arm] += 1.0
    return gradient


def reduced_softmax(reduced: np.ndarray) -> np.ndarray:
    """p (K,) of the reparametrised policy: exp(reduced_a)/(1 + sum_b exp(reduced_b)), last arm the rest (Section 4)."""
    return softmax(np.append(reduced, 0.0))


def fisher(theta: np.ndarray) -> np.ndarray:
    """F(theta) = diag p - p p^T (K, K): the covariance of e_a under p (Proposition 1). Singular: F 1 = 0."""
    p = softmax(theta)
    return np.asarray(np.diag(p) - np.outer(p, p))


def reduced_fisher(reduced: np.ndarray) -> np.ndarray:
    """The Fisher matrix (K - 1, K - 1) of the reparametrised policy: positive definite inside the simplex."""
    p = reduced_softmax(reduced)[:-1]
    return np.asarray(np.diag(p) - np.outer(p, p))


def fisher_log_determinant(reduced: np.ndarray) -> float:
    """log det of the reduced Fisher matrix, which is sum_a log p(a): the log barrier (Equation 2)."""
    return float(log_softmax(np.append(reduced, 0.0)).sum())
