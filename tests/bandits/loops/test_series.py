"""The composed map against the map applied step by step, in 50-digit arithmetic."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logbarrier.bandits.loops.lazy import series
from logbarrier.bandits.loops.lazy.layout import CLASSES, K2, K3, MASSES, MOMENTS, ORDER, TOTAL
from logbarrier.bandits.loops.lazy.series import REACH
from logbarrier.engine.codegen.lanes import HALF
from logbarrier.engine.compiled import compiled, from_python

BOUND = 4 * REACH**7  # per refresh, relative; REACH^7 is 2.3e-13


@from_python
@compiled
def compose(numbers, c):
    series.compose(numbers, 0, c)
    series.compose(numbers, HALF, c)


@from_python
@compiled
def value_at(numbers, k, x):
    return series.value_at(numbers, k, x)


@from_python
@compiled
def base_of(numbers, k, weight):
    return series.base_of(numbers, k, weight)


@from_python
@compiled
def masses(numbers):
    series.class_masses(numbers, 0)


def moved_page(drifts):
    """Compose steps c (for x = 1) until the class would be refreshed; returns the numbers and the steps taken."""
    numbers, taken = np.zeros(TOTAL), []
    for c in drifts:
        if abs(numbers[K2] - c) > REACH or abs(numbers[K3]) > 2 * REACH**2:
            break
        compose(numbers, c)
        taken.append(c)
    return numbers, taken


def exactly(x, steps):
    w = mpmath.mpf(x)
    for c in steps:
        w *= mpmath.exp(-mpmath.mpf(c) * w)
    return w


drifts = st.lists(st.floats(-REACH / 4, REACH / 4), min_size=1, max_size=60)


@given(drifts, st.floats(1e-3, 1.0))
def test_a_composed_map_is_within_its_bound_of_the_steps_one_by_one(steps, x):
    numbers, taken = moved_page(steps)
    with mpmath.workdps(50):
        exact = exactly(x, taken)
        assert abs(mpmath.mpf(value_at(numbers, 3, x)) / exact - 1) <= BOUND


@pytest.mark.parametrize("c", [1e-4, -1e-4, 1e-3])
def test_a_long_drift_in_one_direction_stays_within_the_bound(c):
    numbers, taken = moved_page([c] * 1000)
    assert len(taken) >= 10
    assert abs(float(mpmath.mpf(value_at(numbers, 0, 1.0)) / exactly(1.0, taken)) - 1) <= BOUND


@given(drifts, st.floats(1e-3, 1.0))
def test_the_base_of_a_value_is_found_again(steps, x):
    numbers, _ = moved_page(steps)
    assert base_of(numbers, 5, value_at(numbers, 5, x)) == pytest.approx(x, rel=1e-12)


def test_masses_are_sums_of_values():
    numbers, _ = moved_page([3e-3, -1e-3, 2e-3] * 5)
    bases = np.random.default_rng(0).uniform(0.05, 1.0, 40)
    for power in range(ORDER):
        numbers[MOMENTS + power * CLASSES + 2] = (bases ** (power + 1)).sum()
    masses(numbers)
    assert numbers[MASSES + 2] == pytest.approx(sum(value_at(numbers, 2, x) for x in bases), rel=1e-12)
