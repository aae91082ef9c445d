"""Slopes: exact on power laws, an interval that covers, and silence where there is too little to say."""

from __future__ import annotations

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.comparison.first_passage import last_iterate
from logbarrier.comparison.slopes import Slope, fitted_slope, slope_of_runs
from logbarrier.statistics import resampling_weights

EPSILONS = np.array([0.2, 0.1, 0.05, 0.02, 0.01, 0.005])
STEPS = np.unique(np.geomspace(1, 1e6, 200).round())


def noisy_runs(generator, runs, power, steps=STEPS):
    """Curves (runs, C) whose mean is t^-power and which tilt against it, each by a factor of its own."""
    tilt = generator.normal(0.0, 0.3, (runs, 1)) * (np.log(steps) / np.log(steps[-1]) - 0.5)
    return steps**-power * (1.0 + tilt)


def test_the_slope_of_a_deterministic_record_is_exact():
    steps = np.concatenate([[0.0], STEPS])
    suboptimality = np.tile(np.concatenate([[1.0], STEPS**-0.5]), (8, 1))
    record = lb.Record(steps, {"suboptimality": suboptimality}, {}, {})
    curve = last_iterate(record, lb.SGB(learning_rate=0.1))
    slope = slope_of_runs(STEPS, [curve] * 6, EPSILONS, resampling_weights(8, seed=0))
    assert slope.value == pytest.approx(2.0, abs=2e-3)
    assert slope.high - slope.low < 1e-9


def test_rules_of_their_own_for_every_accuracy_are_fitted_together():
    curves = [np.tile(STEPS**-1.0 * epsilon**-2, (4, 1)) for epsilon in EPSILONS]  # pulls = epsilon^-3
    slope = slope_of_runs(STEPS, curves[:4], EPSILONS[:4], resampling_weights(4, seed=0))
    assert slope.value == pytest.approx(3.0, abs=1e-3)


def test_the_interval_covers_the_truth_at_about_its_rate():
    """400 experiments: with a true coverage of 0.94 to 0.95 the share leaves the bounds in less than 2 % of such tests."""
    generator, weights, steps = np.random.default_rng(0), resampling_weights(40, seed=1, resamples=400), STEPS[::4]
    covered = 0
    for _ in range(400):
        curve = noisy_runs(generator, 40, 0.5, steps)
        slope = slope_of_runs(steps, [curve] * 6, EPSILONS, weights)
        covered += slope.low <= 2.0 <= slope.high
    assert 0.91 <= covered / 400 <= 0.975


def test_censored_points_are_left_out():
    pulls = np.array([1e1, 1e2, 1e3, np.nan])
    assert fitted_slope(np.array([1e-1, 1e-2, 1e-3, 1e-4]), pulls) == pytest.approx(1.0)


def test_two_points_are_no_slope():
    assert np.isnan(fitted_slope(np.array([0.1, 0.01, 0.001]), np.array([1e1, 1e2, np.nan])))
    curve = np.tile(STEPS**-0.1, (4, 1))  # 1e6^-0.1 = 0.25
    assert slope_of_runs(STEPS, [curve] * 6, EPSILONS, resampling_weights(4, seed=0)) == Slope(None, None, None)


def test_no_interval_where_many_resamples_do_not_get_there():
    stuck = np.full((1, len(STEPS)), 0.36)
    runs = np.concatenate([np.tile(np.minimum(STEPS**-1.0, 0.1), (9, 1)), stuck])  # mean ends at 0.036: one stuck run in ten
    slope = slope_of_runs(STEPS, [runs] * 3, np.array([0.11, 0.05, 0.04]), resampling_weights(10, seed=0))
    assert slope.value is not None
    assert (slope.low, slope.high) == (None, None)


def test_the_same_seed_gives_the_same_interval():
    curve = noisy_runs(np.random.default_rng(3), 30, power=0.5)
    slopes = {slope_of_runs(STEPS, [curve] * 6, EPSILONS, resampling_weights(30, seed)) for seed in (0, 0, 1)}
    assert len(slopes) == 2
