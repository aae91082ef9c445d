"""What `maximise` returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Maximum:
    """Where an objective is largest.

    policy         (S, K)
    occupancy      (S,) d
    performance    J
    objective      J + regulariser
    bias           J* - J, J* from policy iteration
    bias_bound     what theory says the bias is at most; S (K - 1)/eta for the spectral barrier
    upper_bound    J* is at most this, from a feasible point of the dual linear programme: no optimiser need be trusted
    stationarity   the largest entry of the gradient with respect to theta
    iterations     of the optimiser
    """

    policy: np.ndarray
    occupancy: np.ndarray
    performance: float
    objective: float
    bias: float
    bias_bound: float
    upper_bound: float
    stationarity: float
    iterations: int


@dataclass(frozen=True)
class FeatureMaximum(Maximum):
    """Where an objective with m features is largest.

    policy       (S, K); deterministic in many states, for with fewer features than S (K - 1) the maximum is not interior
    bias_bound   m/eta; with a ridge (m - ridge tr F^-1)/eta
    upper_bound  performance + bias_bound + gap
    certificate  (m - coverage)/eta; bias <= certificate + gap
    gap          the objective of any policy is at most this much larger
    coverage     sum mu* b: how well the policy covers an optimal one; at most m + eta gap. For every policy,
                 sum mu' b <= m + eta (J - J') + eta gap
    """

    certificate: float
    gap: float
    coverage: float
