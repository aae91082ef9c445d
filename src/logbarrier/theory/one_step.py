"""The lemmas about one step of LB-SGB: each returns both sides. Expectations are exact sums over arms and reward values.

Shapes: theta and means (..., K); rewards and chances (..., K, M): arm a pays rewards[a, m] with probability chances[a, m];
eta, r_max, gap and learning_rate numbers or (...,). Arm 0 stands for the pulled arm where a statement holds for every arm.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bandits.softmax import softmax
from . import objective as phi
from .constants import curvature_limit, growth_constant, largest_sampled_gradient, noise_floor
from .sides import Sides


def sample_gradient_norm(theta: np.ndarray, reward: Any, eta: Any, r_max: Any) -> Sides:
    """||G|| <= sqrt(2) R (1 - p(a)) + 2K/eta for the pulled arm a = 0 (Lemma, Upper Bound on the Sample Gradient Norm).

    It needs the sampled reward in [-R, R]; a bounded mean is not enough (erratum 3).
    """
    norm = np.linalg.norm(phi.sampled_gradient(theta, 0, reward, eta), axis=-1)
    n_arms = np.shape(theta)[-1]
    others = softmax(theta)[..., 1:].sum(axis=-1)  # 1 - p(0)
    return Sides(norm, np.sqrt(2.0) * r_max * others + 2.0 * n_arms / np.asarray(eta))


def smoothness_between_iterates(
    theta: np.ndarray, means: np.ndarray, reward: Any, eta: Any, r_max: Any, learning_rate: Any
) -> Sides:
    """|Phi' - Phi - <grad Phi, theta' - theta>| <= (3 ||grad Phi||/(2 - 6 alpha G) + 15K/eta) ||theta' - theta||^2.

    G = sqrt(2) R + 2K/eta, alpha < 1/(6 G) (Lemma, Non-uniform Smoothness Between Iterates).
    """
    return _between_iterates(theta, means, reward, eta, r_max, learning_rate, 15.0 * np.shape(theta)[-1])


def smoothness_between_iterates_sharpened(
    theta: np.ndarray, means: np.ndarray, reward: Any, eta: Any, r_max: Any, learning_rate: Any
) -> Sides:
    """The same with (K + 1)/eta for 15K/eta, which the sharpened curvature bound gives (erratum 1)."""
    return _between_iterates(theta, means, reward, eta, r_max, learning_rate, np.shape(theta)[-1] + 1.0)


def _between_iterates(
    theta: np.ndarray, means: np.ndarray, reward: Any, eta: Any, r_max: Any, learning_rate: Any, offset: float
) -> Sides:
    step = np.asarray(learning_rate)[..., None] * phi.sampled_gradient(theta, 0, reward, eta)
    first_order = (phi.gradient(theta, means, eta) * step).sum(axis=-1)
    change = phi.performance_change(theta, step, means) + phi.barrier_change(theta, step) / eta
    length = np.linalg.norm(step, axis=-1)
    largest = largest_sampled_gradient(np.shape(theta)[-1], eta, r_max)
    factor = 3.0 * phi.gradient_norm(theta, means, eta) / (2.0 - 6.0 * learning_rate * largest) + offset / np.asarray(eta)
    return Sides(np.abs(change - first_order), factor * length**2, rounding=1e-14 * length * largest)


def barrier_difference(theta: np.ndarray, reward: Any, eta: Any, learning_rate: Any) -> Sides:
    """sum_a [log p'(a) - log p(a)] <= 2 alpha K ||G|| (Lemma, Difference Between Barriers Among Iterates)."""
    return _barrier_growth(theta, reward, eta, learning_rate, 2.0)


def barrier_difference_sharpened(theta: np.ndarray, reward: Any, eta: Any, learning_rate: Any) -> Sides:
    """The same with alpha K ||G||: G sums to 0, so its first term vanishes (erratum 5)."""
    return _barrier_growth(theta, reward, eta, learning_rate, 1.0)


def _barrier_growth(theta: np.ndarray, reward: Any, eta: Any, learning_rate: Any, factor: float) -> Sides:
    step = np.asarray(learning_rate)[..., None] * phi.sampled_gradient(theta, 0, reward, eta)
    length = np.linalg.norm(step, axis=-1)
    n_arms = np.shape(theta)[-1]
    return Sides(phi.barrier_change(theta, step), factor * n_arms * length, rounding=1e-14 * n_arms * length)


def self_bounding(
    theta: np.ndarray, means: np.ndarray, rewards: np.ndarray, chances: np.ndarray, eta: Any, r_max: Any, gap: Any
) -> Sides:
    """E||G||^2 <= 16 M ||grad Phi|| + (2K/eta)(4K/eta + 16 M), M = R^3 K^(3/2)/Delta^2 (Lemma, Self-bounding Property)."""
    n_arms = np.shape(theta)[-1]
    second_moment = expected(theta, chances, np.square(_samples(theta, rewards, eta)).sum(axis=-1))
    growth = 16.0 * growth_constant(n_arms, gap, r_max)
    floor = noise_floor(n_arms, gap, r_max, eta)
    return Sides(second_moment, growth * phi.gradient_norm(theta, means, eta) + floor)


def descent(
    theta: np.ndarray, means: np.ndarray, rewards: np.ndarray, chances: np.ndarray,
    eta: Any, r_max: Any, gap: Any, learning_rate: Any,
) -> Sides:  # fmt: skip
    """(J - E J')/alpha + (1 - L alpha) ||grad Phi||^2 <= (K/eta)(2 ||grad Phi|| + 2 sqrt(2) R + 5K/eta), L = 80 M/3.

    The descent lemma divided by alpha, with the gradient's term moved to the left so that the right side is positive.
    """
    kept = 1.0 - learning_rate * curvature_limit(np.shape(theta)[-1], gap, r_max)
    return _descent(theta, means, rewards, chances, eta, r_max, learning_rate, kept)


def constant_learning_rate(
    theta: np.ndarray, means: np.ndarray, rewards: np.ndarray, chances: np.ndarray, eta: Any, r_max: Any, learning_rate: Any
) -> Sides:
    """(J - E J')/alpha + ||grad Phi||^2/2 <= (K/eta)(2 ||grad Phi|| + 2 sqrt(2) R + 5K/eta) (Constant Learning Rates)."""
    return _descent(theta, means, rewards, chances, eta, r_max, learning_rate, 0.5)


def _descent(
    theta: np.ndarray,
    means: np.ndarray,
    rewards: np.ndarray,
    chances: np.ndarray,
    eta: Any,
    r_max: Any,
    learning_rate: Any,
    kept: Any,
) -> Sides:
    norm, k_over_eta = phi.gradient_norm(theta, means, eta), np.shape(theta)[-1] / np.asarray(eta)
    steps = np.asarray(learning_rate)[..., None, None, None] * _samples(theta, rewards, eta)
    changes = phi.performance_change(theta[..., None, None, :], steps, means[..., None, None, :])
    fall = -expected(theta, chances, changes) / learning_rate
    largest = largest_sampled_gradient(np.shape(theta)[-1], eta, r_max)
    greater = k_over_eta * (2.0 * norm + 2.0 * np.sqrt(2.0) * r_max + 5.0 * k_over_eta)
    return Sides(fall + kept * norm**2, greater, rounding=1e-14 * largest**2)


def bias_terms(n_arms: int, gap: Any, r_max: Any, eta: Any, learning_rate: Any) -> Sides:
    """The three steps that turn the descent lemma's leftovers into its bias, (..., 3), each divided by alpha.

    With c = 15K/eta and d = (2K/eta)(4K/eta + 16M): (5/3) alpha d <= K/eta, 16 alpha M c <= K/eta, alpha c d <= K^2/eta^2.
    The second and third fail at the printed alpha, by up to 3.2 and 6.4 times (erratum 6).
    """
    k_over_eta = n_arms / np.asarray(eta)
    c, d = 15.0 * k_over_eta, noise_floor(n_arms, gap, r_max, eta)
    growth = 16.0 * growth_constant(n_arms, gap, r_max)
    lesser = np.stack(np.broadcast_arrays(5.0 / 3.0 * learning_rate * d, growth * learning_rate * c, learning_rate * c * d), -1)
    return Sides(lesser, np.stack(np.broadcast_arrays(k_over_eta, k_over_eta, k_over_eta**2), -1))


def expected(theta: np.ndarray, chances: np.ndarray, values: np.ndarray) -> Any:
    """sum_a p(a) sum_m chances[a, m] values[a, m] (...,)."""
    return (softmax(theta) * (chances * values).sum(axis=-1)).sum(axis=-1)


def _samples(theta: np.ndarray, rewards: np.ndarray, eta: Any) -> np.ndarray:
    """The sampled gradient (..., K, M, K) for every pulled arm and reward value."""
    p = softmax(theta)
    n_arms = p.shape[-1]
    scores = np.eye(n_arms) - p[..., None, :]
    push = (1.0 - n_arms * p) / np.asarray(eta)[..., None]
    return np.asarray(rewards[..., None] * scores[..., :, None, :] + push[..., None, None, :])
