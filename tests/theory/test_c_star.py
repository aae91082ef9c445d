"""c* from records."""

from __future__ import annotations

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.theory.c_star import c_star


def record_of(values):
    steps = np.arange(values.shape[1])
    return lb.Record(steps, {"inverse_square_probability": values}, settings={}, provenance={})


def test_c_star_is_the_largest_mean_over_runs():
    estimate = c_star(record_of(np.array([[4.0, 9.0, 2.0], [4.0, 3.0, 2.0]])))
    assert estimate.value == 6.0
    assert estimate.step == 1
    assert estimate.low <= 6.0 <= estimate.high


def test_runs_that_agree_leave_no_doubt():
    estimate = c_star(record_of(np.full((5, 3), 4.0)))
    assert (estimate.value, estimate.low, estimate.high) == (4.0, 4.0, 4.0)


def test_the_bootstrap_interval_covers_a_known_mean():
    """200 records of 60 skewed values, true mean 2, nominal 95 %: coverage below 170 or above 199 of 200 happens by chance
    with probability below 1e-4 (binomial at 0.93); the seed is fixed."""
    generator = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        estimate = c_star(record_of(1.0 + generator.exponential(size=(60, 1))), resamples=400)
        covered += estimate.low <= 2.0 <= estimate.high
    assert 170 <= covered <= 199


def test_a_single_checkpoint_s_interval_matches_the_t_interval():
    values = np.random.default_rng(1).normal(10, 1, size=(400, 1))
    estimate, record = c_star(record_of(values)), record_of(values)
    low, high = record.interval("inverse_square_probability")
    assert estimate.low == pytest.approx(low[0], abs=0.02)
    assert estimate.high == pytest.approx(high[0], abs=0.02)


@pytest.mark.parametrize("level", [0.0, 1.0, 2.0])
def test_a_level_outside_0_and_1_is_refused(level):
    with pytest.raises(ValueError, match="c_star: level must be between 0 and 1"):
        c_star(record_of(np.ones((2, 2))), level=level)
