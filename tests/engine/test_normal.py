"""The normal distribution against 50-digit arithmetic."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from chebyshev import highest_first
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit

from logbarrier.engine import normal
from logbarrier.engine.codegen.lane_access import load, store
from logbarrier.engine.normal import distribution_and_density

ULP = 2.0**-52


@njit
def in_lanes(z, below, density):
    for j in range(0, z.shape[0], 8):
        p, f = distribution_and_density(load(z, j))
        store(below, j, p)
        store(density, j, f)


@njit
def of_number(z):
    return distribution_and_density(z)


@given(st.floats(-37.5, 37.5) | st.floats(-3.0, 3.0))
@example(0.0)
@example(-37.5)
def test_distribution_and_density_are_within_a_few_units_in_the_last_place(z):
    below, density = of_number(z)
    with mpmath.workdps(50):
        exact = mpmath.erfc(-mpmath.mpf(z) / mpmath.sqrt(2)) / 2
        assert abs(below / exact - 1) <= 4 * ULP
        assert abs(density / mpmath.npdf(z) - 1) <= 4 * ULP


@pytest.mark.parametrize(("z", "below"), [(-38.0, 0.0), (-np.inf, 0.0), (-1e300, 0.0), (1e300, 1.0), (np.inf, 1.0), (0.0, 0.5)])
def test_distribution_at_its_ends(z, below):
    assert of_number(z)[0] == pytest.approx(below, abs=1e-300, rel=2 * ULP)


def test_lanes_and_numbers_give_the_same_bits():
    z = np.linspace(-45, 45, 64)
    below, density = np.empty(64), np.empty(64)
    in_lanes(z, below, density)
    assert [of_number(value) for value in z] == list(zip(below, density, strict=True))


def test_mills_coefficients_are_the_chebyshev_fit():
    def scaled_mills(s):
        x = 4 * (1 + s) / (1 - s)
        return (1 + x) * mpmath.sqrt(mpmath.pi / 2) * mpmath.exp(x * x / 2) * mpmath.erfc(x / mpmath.sqrt(2))

    with mpmath.workdps(50):
        fit = highest_first(scaled_mills, [-1, mpmath.mpf(9) / 11], len(normal._MILLS))
    assert list(normal._MILLS) == pytest.approx([float(c) for c in fit], rel=1e-13)
