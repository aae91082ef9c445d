"""Exact methods: objectives, their derivatives, ascent and maxima, without sampling."""

from .ascent import Step, natural_policy_gradient, policy_gradient
from .calculus import (
    bonus,
    fisher_matrix,
    gradient,
    hessian_vector,
    log_det_fisher,
    log_pdet_fisher,
    natural_gradient,
    value,
)
from .elliptical import FeatureSpectral, StateSpectral
from .maxima import FeatureMaximum, Maximum
from .maximum import dual_bound, maximise
from .objectives import ActionBarrier, Entropy, NoRegulariser, Objective, Spectral

__all__ = [
    "ActionBarrier", "Entropy", "FeatureMaximum", "FeatureSpectral", "Maximum", "NoRegulariser", "Objective", "Spectral",
    "StateSpectral", "Step", "bonus", "dual_bound", "fisher_matrix", "gradient", "hessian_vector", "log_det_fisher",
    "log_pdet_fisher", "maximise", "natural_gradient", "natural_policy_gradient", "policy_gradient", "value",
]  # fmt: skip
