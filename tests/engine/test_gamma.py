"""Gamma and beta distributions against 30-digit arithmetic and against SciPy's distributions."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.stats import beta, kstest

from logbarrier.engine.gamma import log_beta, log_gamma, logit_beta, logit_beta_variate
from logbarrier.engine.random import ARM, stream_key


@pytest.mark.parametrize("x", [1e-3, 0.5, 1.0, 1.5, 2.0, 7.25, 15.9, 16.1, 1e3, 1e7])
def test_log_gamma_is_exact_to_rounding_of_its_terms(x):
    exact = float(mpmath.loggamma(x))
    assert log_gamma(x) == pytest.approx(exact, rel=4e-15, abs=2e-14)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1.0, 200.0), (3.5, 2.0), (40.0, 60.0), (2e3, 1e5)])
def test_distribution_function_and_slope_are_those_of_the_beta_law(a, b):
    normaliser = float(mpmath.log(mpmath.beta(a, b)))
    centre, width = np.log(a / b), np.sqrt(1 / a + 1 / b)
    for sigmas in (-8.0, -3.0, -1.0, -0.1, 0.2, 1.0, 3.0, 8.0):
        u = centre + sigmas * width
        with mpmath.workdps(30):
            x = 1 / (1 + mpmath.exp(-u))
            below = mpmath.betainc(a, b, 0, x, regularized=True)
            slope = x**a * (1 - x) ** b / mpmath.beta(a, b) / below
        value, rising = logit_beta(u, a, b, normaliser)
        assert value == pytest.approx(float(mpmath.log(below)), rel=1e-8, abs=1e-9)
        assert rising == pytest.approx(float(slope), rel=1e-7, abs=1e-15)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.0, 7.0), (300.0, 20.0)])
def test_variates_follow_the_beta_law(a, b):
    """Kolmogorov-Smirnov on 4000 variates; fixed seed, false-alarm rate 1e-6."""
    key = stream_key(5)
    logits = np.array([logit_beta_variate(a, b, 1, ARM, (key, t, 0))[0] for t in range(4000)])
    assert kstest(1 / (1 + np.exp(-logits)), beta(a, b).cdf).pvalue > 1e-6


def test_a_million_observations_agree_with_scipy():
    law, u = beta(5e5, 5e5), np.linspace(-0.012, 0.012, 13)
    found = [logit_beta(value, 5e5, 5e5, log_beta(5e5, 5e5))[0] for value in u]
    assert found == pytest.approx(law.logcdf(1 / (1 + np.exp(-u))), rel=1e-6, abs=1e-8)
