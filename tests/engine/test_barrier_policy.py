"""The barrier's maximiser against 50-digit arithmetic."""

from __future__ import annotations

import decimal
from decimal import Decimal

import numpy as np
import pytest

from logbarrier.engine.barrier_policy import barrier_weights
from logbarrier.engine.compiled import from_python


def exact_policy(values, eta):
    """Bisect lambda in 50 digits."""
    with decimal.localcontext(decimal.Context(prec=50)):
        best = max(Decimal(float(v)) for v in values)
        gaps = [Decimal(float(eta)) * (best - Decimal(float(v))) for v in values]
        low, high = Decimal(1), Decimal(len(gaps))
        for _ in range(170):
            middle = (low + high) / 2
            low, high = (middle, high) if sum(1 / (middle + gap) for gap in gaps) > 1 else (low, middle)
        return low, [1 / (low + gap) for gap in gaps]


@pytest.mark.parametrize("n_arms", [1, 2, 3, 20, 300])
@pytest.mark.parametrize("eta", [0.0, 1e-6, 0.3, 7.0, 1e4, 1e12])
def test_the_policy_has_the_digits_of_exact_arithmetic(n_arms, eta):
    values = np.random.default_rng([n_arms, int(eta)]).normal(size=n_arms)
    p = np.empty(n_arms)
    multiplier = from_python(barrier_weights)(values, eta, p)
    exact_multiplier, exact = exact_policy(values, eta)
    assert multiplier == pytest.approx(float(exact_multiplier), rel=1e-13)
    np.testing.assert_allclose(p, np.array(exact, dtype=float), rtol=1e-13)


def test_equal_values_share_evenly_and_an_infinite_eta_leaves_the_best_alone():
    p = np.empty(4)
    from_python(barrier_weights)(np.full(4, -2.5), np.inf, p)
    np.testing.assert_allclose(p, 0.25)
    from_python(barrier_weights)(np.array([1.0, 3.0, 3.0, 2.0]), np.inf, p)
    np.testing.assert_allclose(p, [0, 0.5, 0.5, 0], atol=1e-299)
    assert (p > 0).all()
