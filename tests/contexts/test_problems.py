"""Contextual problems and their simulator."""

from __future__ import annotations

import numpy as np
import pytest

import logbarrier as lb
from logbarrier import contexts
from logbarrier.engine.random import stream_key

KEY = stream_key(0)
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)), np.arange(60) % 4
PROBLEMS = [
    lb.LinearContexts(3, 4, change_every=150, delay=5),
    lb.SegmentedClicks(4, 3, rate=0.2, change_every=70),
    lb.ClassificationBandit(X, Y, change_every=90, delay=2),
]
RULES = [rule() for rule in contexts.RULES.values()]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: type(problem).__name__)
def test_rows_are_a_pure_function_of_the_step(problem):
    rows, means = problem.rows(KEY, 7, 0, 300)
    for first, count in ((0, 1), (40, 120), (299, 1)):
        some, some_means = problem.rows(KEY, 7, first, count)
        np.testing.assert_array_equal(some, rows[first : first + count])
        np.testing.assert_array_equal(some_means, means[first : first + count])
    assert (problem.rows(KEY, 8, 0, 300)[0] != rows).any()
    again = type(problem)(**problem.arguments())
    np.testing.assert_array_equal(again.rows(KEY, 7, 0, 300)[1], means)


def test_a_pass_through_labelled_data_shows_every_row_once():
    rows, means = lb.ClassificationBandit(X, Y).rows(KEY, 0, 60, 60)
    order = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in rows]
    assert sorted(order) == list(range(60))
    np.testing.assert_array_equal(means.argmax(axis=1), Y[order])


def test_clicks_have_the_rate_asked_for():
    """Mean of 400 instances of 12 probabilities; 4.5 standard errors: false alarms below 1 in 100,000."""
    problem = lb.SegmentedClicks(12, 1, rate=0.02, spread=0.6)
    rates = np.array([problem.rows(KEY, run, 0, 1)[1][0] for run in range(400)])
    assert abs(rates.mean() - 0.02) < 4.5 * rates.std() / np.sqrt(rates.size)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: type(problem).__name__)
def test_threads_checkpoints_and_blocks_change_no_bit(rule, problem):
    whole = contexts.simulate(rule, problem, horizon=1200, runs=3, seed=4, threads=2, checkpoints=[5, 64, 900])
    parts = [contexts.simulate(rule, problem, horizon=1200, runs=1, seed=4, first_run=run, threads=1) for run in range(3)]
    for name in contexts.METRICS:
        np.testing.assert_array_equal(whole[name][:, -1], [part[name][0, -1] for part in parts])


def test_every_rule_beats_uniform_play():
    problem, horizon = lb.LinearContexts(5, 4), 1000
    uniform = contexts.simulate(contexts.EpsilonGreedy(epsilon=1.0), problem, horizon=horizon, runs=4)["regret"][:, -1]
    for rule in RULES:
        assert (contexts.simulate(rule, problem, horizon=horizon, runs=4)["regret"][:, -1] < 0.6 * uniform).all(), rule


def test_the_barrier_follows_a_change_and_starts_again_on_no_other_occasion():
    steady = contexts.simulate(contexts.ContextualBarrier(), lb.LinearContexts(5, 10), horizon=4000, runs=10)
    changed = contexts.simulate(
        contexts.ContextualBarrier(), lb.LinearContexts(5, 10, change_every=2000), horizon=4000, runs=10
    )
    blind = contexts.simulate(contexts.LinUCB(alpha=0.3), lb.LinearContexts(5, 10, change_every=2000), horizon=4000, runs=10)
    assert steady["restarts"].sum() == 0
    assert (changed["restarts"][:, -1] >= 1).all()
    assert changed.mean("regret")[-1] < 0.5 * blind.mean("regret")[-1]


def test_late_rewards_of_a_problem_that_is_not_linear_cause_no_restart():
    """Three labels in a row: no linear function of the context is largest in the middle, so some estimates stay wrong."""
    labels = np.arange(150) % 3
    points = np.random.default_rng(2).normal(size=(150, 2)) + 3.3 * np.outer(labels, [1, 0])
    problem = lb.ClassificationBandit((points - points.mean(axis=0)) / points.std(axis=0), labels, delay=500)
    assert contexts.simulate(contexts.ContextualBarrier(), problem, horizon=20_000, runs=8)["restarts"].sum() == 0


def test_estimates_that_were_lucky_at_first_hardly_ever_cause_a_restart():
    late = contexts.simulate(contexts.ContextualBarrier(), lb.SegmentedClicks(delay=500), horizon=3000, runs=30)
    assert late["restarts"][:, -1].sum() <= 1


def test_a_change_of_rare_clicks_is_noticed_in_most_runs():
    problem = lb.SegmentedClicks(rate=0.02, change_every=13_000, delay=500)
    record = contexts.simulate(contexts.ContextualBarrier(), problem, horizon=26_000, runs=10, checkpoints=[13_000])
    before, after = record["restarts"][:, 1], record["restarts"][:, -1]
    assert before.sum() <= 1
    assert (after > before).sum() >= 6


def test_wrong_problems_get_one_sentence():
    for call, message in (
        (lambda: lb.LinearContexts(1, 2), "n_arms must be at least 2, got 1"),
        (lambda: lb.SegmentedClicks(rate=0.7), "rate must be at most 0.5"),
        (lambda: lb.ClassificationBandit([[1.0]], [0.5]), "y must be one whole number"),
        (lambda: contexts.simulate(contexts.LinUCB(), lb.GapInstances(n_arms=3), horizon=5), "problem must be contextual"),
        (lambda: contexts.simulate(lb.SGB(learning_rate=0.1), lb.LinearContexts(2, 2), horizon=5), "rule must be a contextual"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            call()
