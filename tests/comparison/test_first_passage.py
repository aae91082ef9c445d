"""First passage: known curves, censoring, and what counts as a curve."""

from __future__ import annotations

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.comparison.first_passage import average_iterate, first_passage, last_iterate

STEPS = np.unique(np.geomspace(1, 1e5, 240).round()).astype(int)
SOFTMAX, INDEX = lb.SGB(learning_rate=0.1), lb.UCB1()


def record_of(steps, suboptimality, regret):
    return lb.Record(steps, {"suboptimality": suboptimality, "regret": regret}, {}, {})


@pytest.mark.parametrize("power", [0.2, 0.5, 1.0])
def test_a_power_law_is_passed_where_it_says(power):
    for epsilon in (0.5, 0.2, 0.11):
        assert first_passage(STEPS, 1.0 * STEPS**-power, epsilon) == pytest.approx(epsilon ** (-1 / power), rel=1e-3)


def test_a_curve_that_is_straight_against_log_t_is_passed_exactly():
    steps = np.array([1, 100, 10_000])
    assert first_passage(steps, np.array([1.0, 0.5, 0.0]), 0.75) == pytest.approx(10.0)


def test_many_curves_at_once_give_what_each_gives_alone():
    curves = np.random.default_rng(0).uniform(0.2, 1.0, (5, 4, len(STEPS)))
    together = first_passage(STEPS, curves, 0.21)
    alone = [[float(first_passage(STEPS, curve, 0.21)) for curve in row] for row in curves]
    np.testing.assert_array_equal(together, alone)


def test_a_curve_that_never_gets_there_is_censored():
    assert np.isnan(first_passage(STEPS, np.full(len(STEPS), 0.3), 0.29))
    assert np.isfinite(first_passage(STEPS, np.full(len(STEPS), 0.3), 0.3))


def test_reaching_epsilon_at_the_very_end_counts():
    curve = np.append(np.full(len(STEPS) - 1, 0.3), 0.1)
    assert first_passage(STEPS, curve, 0.1) == pytest.approx(STEPS[-1])


def test_the_first_time_counts_though_the_curve_leaves_again():
    steps, curve = np.array([1, 10, 100, 1000]), np.array([1.0, 0.1, 0.1, 0.9])
    assert first_passage(steps, curve, 0.1) == pytest.approx(10.0)


def test_a_curve_below_epsilon_from_the_start_takes_one_pull():
    assert first_passage(STEPS, np.full(len(STEPS), 0.01), 0.1) == 1.0


def test_the_last_iterate_of_a_softmax_rule_is_its_suboptimality():
    steps = np.array([0, 1, 2, 10])
    suboptimality = np.array([[0.5, 0.4, 0.3, 0.1]])
    record = record_of(steps, suboptimality, np.zeros((1, 4)))
    np.testing.assert_array_equal(last_iterate(record, SOFTMAX), suboptimality[:, 1:])


def test_the_last_iterate_of_an_index_rule_is_its_regret_over_the_latter_half():
    steps = np.array([0, 1, 2, 4, 8, 16, 20])
    regret = np.array([[0.0, 1.0, 2.0, 3.0, 3.0, 7.0, 8.0]])
    expected = [[1.0, 1.0, 0.5, 0.0, 0.5, (8.0 - 4.0) / 10]]  # at t = 10 the regret is 3 + (10 - 8)/8 * 4 = 4
    np.testing.assert_allclose(last_iterate(record_of(steps, np.zeros((1, 7)), regret), INDEX), expected)


def test_the_average_iterate_is_regret_per_pull():
    steps, regret = np.array([0, 1, 10]), np.array([[0.0, 1.0, 2.0], [0.0, 0.5, 0.5]])
    np.testing.assert_allclose(average_iterate(record_of(steps, regret, regret), SOFTMAX), [[1.0, 0.2], [0.5, 0.05]])
