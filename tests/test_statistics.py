"""The statistics that every table, plot and verdict uses, against SciPy's own and against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from logbarrier import statistics


def test_t_interval_is_scipys():
    values = np.random.default_rng(0).normal(size=(12, 5))
    low, high = statistics.t_interval(values, 0.9)
    expected = stats.t.interval(0.9, 11, values.mean(axis=0), stats.sem(values, axis=0))
    assert low == pytest.approx(expected[0], rel=1e-12)
    assert high == pytest.approx(expected[1], rel=1e-12)


def test_an_interval_of_probabilities_stays_between_0_and_1():
    values = np.array([[0.0, 1.0], [0.0, 1.0], [0.05, 0.9]])
    free = statistics.t_interval(values)
    low, high = statistics.t_interval(values, within=(0.0, 1.0))
    assert free[0][0] < 0 < free[1][0]
    assert free[1][1] > 1
    assert low[0] == 0
    assert high[1] == 1
    assert (high[0], low[1]) == (free[1][0], free[0][1])


@pytest.mark.parametrize("outside", [-1e-17, 1.0 + 2e-16])
def test_an_interval_contains_its_mean_where_rounding_took_that_out_of_the_range(outside):
    low, high = statistics.t_interval(np.array([outside, outside]), within=(0.0, 1.0))
    assert low <= outside <= high


def test_one_run_says_nothing():
    assert statistics.t_interval(np.array([0.3]), within=(0.0, 1.0)) == (0.0, 1.0)


@pytest.mark.parametrize(("hits", "runs"), [(0, 7), (7, 7), (3, 10), (57, 100)])
def test_share_interval_is_clopper_and_pearsons(hits, runs):
    expected = stats.binomtest(hits, runs, 0.5).proportion_ci(0.95, method="exact")
    assert statistics.share_interval(hits, runs) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_resampled_means_have_the_bootstraps_mean_and_spread():
    """Mean and variance of a bootstrap mean are known; 5 standard errors of 20 000 resamples: false alarms below 1e-6."""
    values = np.array([1.0, 2.0, 4.0, 8.0])
    means = statistics.resampling_weights(4, seed=3, resamples=20_000) @ values
    variance = values.var() / 4
    assert abs(means.mean() - values.mean()) < 5 * np.sqrt(variance / 20_000)
    assert means.var() == pytest.approx(variance, rel=0.06)


def test_percentile_interval_cuts_both_tails():
    low, high = statistics.percentile_interval(np.arange(1001.0), 0.9)
    assert (low, high) == pytest.approx((50.0, 950.0))


def test_stuck_counts_runs_above_the_threshold():
    wrong = np.array([[0.2, 0.51], [0.7, 0.5], [0.9, 0.6]])
    assert statistics.stuck_share(wrong) == pytest.approx([2 / 3, 2 / 3])
