"""The constants of the analysis, as printed and as the proofs support them. Errata numbers refer to docs/errata.md.

Symbols: K arms, Delta the smallest gap between two means, R = r_max bounds the sampled reward, G the sampled gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def growth_constant(n_arms: int, gap: Any, r_max: Any) -> Any:
    """M = R^3 K^(3/2) / Delta^2, in which the strong growth condition of Mei et al. 2024 is measured."""
    return r_max**3 * n_arms**1.5 / gap**2


def largest_sampled_gradient(n_arms: int, eta: Any, r_max: Any) -> Any:
    """sqrt(2) R + 2 K/eta >= ||G||, whatever the arm and the reward in [-R, R]."""
    return np.sqrt(2.0) * r_max + 2.0 * n_arms / eta


def noise_floor(n_arms: int, gap: Any, r_max: Any, eta: Any) -> Any:
    """S/eta = (2K/eta)(4K/eta + 16 M), the part of E||G||^2 that does not vanish with the gradient (the paper's b(eta))."""
    return 2.0 * n_arms / eta * (4.0 * n_arms / eta + 16.0 * growth_constant(n_arms, gap, r_max))


def stationarity_constant(n_arms: int, gap: Any, r_max: Any, eta: Any) -> Any:
    """W of the local convergence theorem: W alpha^2/eta is what the noise can cost Phi_eta in a step.

    W = (5/3 S + 240 M K)(2 R + 2K/eta) + 15 K S/eta, which is of order R^4 K^(5/2) / Delta^2.
    """
    floor = eta * noise_floor(n_arms, gap, r_max, eta)
    growth = 240.0 * n_arms * growth_constant(n_arms, gap, r_max)
    return (5.0 / 3.0 * floor + growth) * (2.0 * r_max + 2.0 * n_arms / eta) + 15.0 * n_arms * floor / eta


def curvature_limit(n_arms: int, gap: Any, r_max: Any) -> Any:
    """L = 80 M/3: below 1/(2L) a step keeps at least half of its first-order gain."""
    return 80.0 / 3.0 * growth_constant(n_arms, gap, r_max)


def largest_smooth_learning_rate(n_arms: int, eta: Any, r_max: Any) -> Any:
    """1/(30 (sqrt 2 R + 2K/eta)): up to here the factor 5/3 of the descent argument is right (erratum 19)."""
    return 1.0 / (30.0 * largest_sampled_gradient(n_arms, eta, r_max))


def printed_learning_rate(n_arms: int, gap: Any, r_max: Any, eta: Any) -> Any:
    """3 Delta^2 / (160 K^(3/2) R^2 (sqrt 2 R + 2K/eta)), from the lemma on constant learning rates."""
    return 3.0 * gap**2 / (160.0 * n_arms**1.5 * r_max**2 * largest_sampled_gradient(n_arms, eta, r_max))


def corrected_learning_rate(n_arms: int, gap: Any, r_max: Any, eta: Any) -> Any:
    """1/(480 M + 120 K/eta): small enough for every bias term of the descent lemma (erratum 6)."""
    return 1.0 / (480.0 * growth_constant(n_arms, gap, r_max) + 120.0 * n_arms / eta)


@dataclass(frozen=True)
class Constants:
    """Where the printed and the supported constants differ.

    learning_rate     (K, Delta, R, eta) -> the constant step of the descent lemma
    stationarity      the average of ||grad Phi||^2 is claimed to be at most this many W alpha/eta after the warm-up
    carried_forward   the multiple of W alpha/eta that the worst-case theorem works with
    """

    name: str
    learning_rate: Callable[[int, Any, Any, Any], Any]
    stationarity: float
    carried_forward: float


PRINTED = Constants("printed", printed_learning_rate, stationarity=2.0, carried_forward=1.0)
CORRECTED = Constants("corrected", corrected_learning_rate, stationarity=3.0, carried_forward=3.0)
