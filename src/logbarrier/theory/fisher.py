"""Exploration as the spectrum of the Fisher matrix F = diag p - p p^T (Section 4).

F is the covariance of the one-hot arm under p (Proposition 1), so an eigenvalue near 0 is an unexplored direction. F has
one eigenvalue that is always 0 (the direction 1, which softmax ignores). What is left can be read in two ways:
    tangent   the other K - 1 eigenvalues of F, the geometry of the K-parameter policy the algorithms run
    reduced   the Fisher matrix of the (K - 1)-parameter policy, last arm's preference held at 0 (the paper's choice)
Both smallest eigenvalues are roots of one scalar equation, found here to full relative accuracy, where a dense
eigenvalue routine would only see rounding below 1e-17.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from ..bandits.softmax import log_softmax, softmax


def tangent_smallest_eigenvalue(theta: np.ndarray) -> float:
    """The second smallest eigenvalue of F: the root of sum_a p(a)/(p(a) - x) = 0 between the two smallest probabilities.

    So it is at least min_a p(a): whatever keeps arms alive keeps F non-degenerate on the directions that matter.

    >>> tangent_smallest_eigenvalue(np.zeros(4))
    0.25
    """
    p = np.sort(softmax(theta))
    if p[1] - p[0] <= 4e-16 * p[1]:
        return float(p[0])
    ratios = p[1:] / p[0]
    gap, excess = ratios[0] - 1.0, ratios - ratios[0]

    def secular(x: float) -> float:  # the eigenvalue is p[0] (1 + gap x); the poles at x = 0 and 1 are multiplied away
        return float(gap * x * _softened(ratios, excess, gap, 1.0 - x).sum() - (1.0 - x))

    return float(p[0] * (1.0 + gap * brentq(secular, 0.0, 1.0, xtol=1e-300, rtol=1e-15)))


def reduced_smallest_eigenvalue(theta: np.ndarray) -> float:
    """mu_F of the reparametrised policy at theta: the root of p(last) = x sum_{a not last} p(a)/(p(a) - x) below min p(a).

    It is at most min_a p(a) over the first K - 1 arms, so no constant bounds it for all theta: softmax violates
    Fisher-non-degeneracy (Definition 4.1). theta (K,); only differences to theta's last entry count.

    >>> round(reduced_smallest_eigenvalue(np.zeros(2)), 12)
    0.25
    """
    p = softmax(theta)
    least, ratios = p[:-1].min(), p[:-1] / p[:-1].min()
    last, excess = p[-1] / least, ratios - 1.0

    def secular(x: float) -> float:  # the eigenvalue is least * x; the pole at x = 1 is multiplied away
        return float(last * (1.0 - x) - x * _softened(ratios, excess, 1.0, 1.0 - x).sum())

    return float(least * brentq(secular, 0.0, 1.0, xtol=1e-300, rtol=1e-15))


def _softened(ratios: np.ndarray, excess: np.ndarray, gap: float, left: float) -> np.ndarray:
    """ratios * left / (excess + gap * left), with its limit ratios/gap where excess and left are both 0."""
    return np.where(excess == 0.0, ratios / gap, ratios * left / (excess + gap * left + (excess == 0.0)))


def condition_number(theta: np.ndarray) -> float:
    """Largest over smallest eigenvalue of F on the tangent directions."""
    p = softmax(theta)
    largest = np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[-1]
    return float(max(largest / tangent_smallest_eigenvalue(theta), 1.0))


@dataclass(frozen=True)
class NonDegeneracy:
    """The Fisher-non-degeneracy constant along a trajectory: its smallest eigenvalue and the index it was seen at."""

    constant: float
    index: int


def non_degeneracy_along(thetas: np.ndarray) -> NonDegeneracy:
    """The smallest tangent eigenvalue over a trajectory thetas (T, K): the mu_F that trajectory satisfies.

    >>> non_degeneracy_along(np.array([[0.0, 0.0], [5.0, 0.0]])).index
    1
    """
    constants = [tangent_smallest_eigenvalue(theta) for theta in np.atleast_2d(thetas)]
    return NonDegeneracy(constant=float(min(constants)), index=int(np.argmin(constants)))


def guaranteed_non_degeneracy(n_arms: int, eta: float, reward_range: float) -> float:
    """1/(K + eta (max r - min r)): the tangent eigenvalue is at least this at the maximiser of Phi_eta."""
    return 1.0 / (n_arms + eta * reward_range)


def natural_direction(theta: np.ndarray, arm: int) -> np.ndarray:
    """The least-norm solution x (K,) of F x = e_arm - p: (e_arm - 1/K)/p(arm). NPG adds alpha R x to theta."""
    direction = np.full(len(theta), -1.0 / len(theta))
    direction[arm] += 1.0
    return np.asarray(direction * np.exp(-log_softmax(theta)[arm]))


def natural_step_second_moment(theta: np.ndarray) -> float:
    """E ||x||^2 = (1 - 1/K) sum_a 1/p(a) over a ~ p: NPG's step has no bound as an arm's probability vanishes."""
    return float((1.0 - 1.0 / len(theta)) * np.exp(-log_softmax(theta)).sum())


def score_second_moment(theta: np.ndarray) -> float:
    """E ||e_a - p||^2 = 1 - sum_a p(a)^2 <= 1 over a ~ p: SGB's step vanishes there instead."""
    p = softmax(theta)
    return float((p * (1.0 - p)).sum())
