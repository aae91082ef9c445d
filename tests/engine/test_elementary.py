"""exp, log and lanes against 50-digit arithmetic."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from chebyshev import highest_first
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from logbarrier.engine.codegen.lane_access import first_lanes, lane_sum, load, load_half, store, with_lane
from logbarrier.engine.codegen.lanes import fma
from logbarrier.engine.elementary import exp, log, moderate_exp, small_exp

mpmath.mp.dps = 50
ULP = 2.0**-52


@njit
def exp_and_log_in_lanes(x, out):
    for j in range(0, x.shape[0], 8):
        store(out, j, log(exp(load(x, j))))


@njit
def dot_in_lanes(x, y):
    return lane_sum(fma(load(x, 0), load(y, 0), 1.0))


@njit
def sum_with_lane(x, index, number):
    return lane_sum(with_lane(load_half(x, 0), index, number))


@njit
def sum_of_first_lanes(x, count, otherwise):
    return lane_sum(first_lanes(load(x, 0), count, otherwise))


@given(st.floats(-707.9, 708.9))
def test_exp_is_within_two_units_in_the_last_place(x):
    exact = mpmath.exp(mpmath.mpf(x))
    assert abs(mpmath.mpf(exp(x)) / exact - 1) <= 2 * ULP


@given(st.floats(1e-307, 1e308) | st.floats(0.5, 2.0))
def test_log_is_within_two_units_in_the_last_place(x):
    exact = mpmath.log(mpmath.mpf(x))
    assert abs(mpmath.mpf(log(x)) - exact) <= 2 * ULP * abs(exact)


@pytest.mark.parametrize(("x", "expected"), [(-708.0, 0.0), (-1e300, 0.0), (0.0, 1.0)])
def test_exp_at_its_lower_end(x, expected):
    assert exp(x) == expected


def test_exp_never_overflows():
    assert exp(1e300) == exp(709.0) < np.inf


def test_lanes_and_numbers_give_the_same_bits():
    x = np.linspace(-600, 600, 64)
    out = np.empty(64)
    exp_and_log_in_lanes(x, out)
    assert [log(exp(value)) for value in x] == out.tolist()


def test_lane_sum_adds_all_eight():
    x = np.arange(8.0)
    assert dot_in_lanes(x, x) == (x * x + 1).sum()


def test_lane_sum_adds_all_four():
    assert sum_with_lane(np.arange(1.0, 5.0), -1, 0.0) == 10


@pytest.mark.parametrize(("lane", "total"), [(0, 109), (3, 106), (4, 10), (-1, 10)])
def test_a_number_replaces_one_lane_or_none(lane, total):
    assert sum_with_lane(np.arange(1.0, 5.0), lane, 100.0) == total


@pytest.mark.parametrize(("count", "total"), [(0, 800), (1, 701), (7, 128), (8, 36), (20, 36)])
def test_lanes_beyond_the_first_are_replaced(count, total):
    assert sum_of_first_lanes(np.arange(1.0, 9.0), count, 100.0) == total


@given(st.floats(-0.34, 0.34))
def test_the_short_exponentials_are_exp_to_the_bit(x):
    assert small_exp(x) == moderate_exp(x) == exp(x)


def test_exponential_coefficients_are_the_chebyshev_fit():
    from logbarrier.engine import elementary

    half = mpmath.log(2) / 2
    fit = [float(c) for c in highest_first(mpmath.exp, [-half, half], 12)]
    written = [getattr(elementary, f"_E{power}") for power in range(11, 1, -1)]
    assert written == pytest.approx(fit[:10], rel=1e-15)
    assert fit[10:] == [1.0, 1.0]
