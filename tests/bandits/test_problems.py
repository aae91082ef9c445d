"""Reward laws and instance families. Statistical checks: fixed seeds, false-alarm rate 1e-6."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import logbarrier as lb
from logbarrier.engine.random import step_uniforms, stream_key

FALSE_ALARM = 1e-6


def rewards(problem, arm, count=20_000):
    key = stream_key(7)
    noises = [problem.noise(step_uniforms(t, 0, key)[1]) for t in range(count)]
    return np.array([problem.reward_of(noise, problem.parameters, arm, (key, t, 0)) for t, noise in enumerate(noises)])


@pytest.mark.parametrize(
    ("problem", "arm", "law"),
    [
        (lb.GaussianBandit([0.0, 0.4], scale=[1.0, 2.0]), 1, stats.norm(0.4, 2.0)),
        (lb.UniformBandit([0.0, 0.4], half_width=0.5), 1, stats.uniform(-0.1, 1.0)),
        (lb.BetaBandit([0.3, 0.6], concentration=5.0), 1, stats.beta(3.0, 2.0)),
        (lb.BetaBandit([0.3, 0.6], concentration=0.5), 0, stats.beta(0.15, 0.35)),
    ],
    ids=["gaussian", "uniform", "beta", "beta with small shapes"],
)
def test_rewards_follow_their_law(problem, arm, law):
    sample = rewards(problem, arm)
    assert stats.kstest(sample, law.cdf).pvalue > FALSE_ALARM
    assert law.mean() == pytest.approx(problem.means[arm])


def test_bernoulli_rewards_are_zero_or_one_at_the_stated_rate():
    sample = rewards(lb.BernoulliBandit([0.2, 0.7]), 1)
    assert set(sample) == {0.0, 1.0}
    assert stats.binomtest(int(sample.sum()), len(sample), 0.7).pvalue > FALSE_ALARM


def test_gaps_and_the_optimal_arm():
    problem = lb.GaussianBandit([0.1, 0.9, 0.6, 0.55])
    assert (problem.optimal_arm, problem.optimal_reward) == (1, 0.9)
    assert problem.optimal_gap == pytest.approx(0.3)
    assert problem.minimum_gap == pytest.approx(0.05)


def test_ties_are_refused_by_default_and_allowed_on_request():
    with pytest.raises(ValueError, match=r"GaussianBandit: means must differ .* got 0.5 for arms 0 and 2"):
        lb.GaussianBandit([0.5, 0.1, 0.5])
    assert lb.GaussianBandit([0.5, 0.1, 0.5], allow_ties=True).minimum_gap == 0.0


@pytest.mark.parametrize("n_arms", [2, 3, 10, 1000])
def test_gap_instances_have_the_stated_gap(n_arms):
    family = lb.GapInstances(n_arms=n_arms, gap=0.1, r_max=1.0, scale=2.0)
    for run in range(20):
        problem = family.problem(seed=3, run=run)
        assert problem.optimal_reward == 1.0
        assert problem.optimal_gap == pytest.approx(0.1)
        assert problem.means.min() >= -1.0
        assert (problem.parameters[1] == 2.0).all()


def test_the_rest_of_a_gap_instance_is_uniform_and_places_are_random():
    family = lb.GapInstances(n_arms=10)
    problems = [family.problem(seed=0, run=run) for run in range(3000)]
    rest = np.concatenate([np.sort(problem.means)[:-2] for problem in problems])
    assert stats.kstest(rest, stats.uniform(-1.0, 1.9).cdf).pvalue > FALSE_ALARM
    pairs = [tuple(np.argsort(problem.means)[-2:]) for problem in problems]
    cells = np.zeros((10, 10))
    for second, first in pairs:
        cells[second, first] += 1
    assert cells.diagonal().sum() == 0
    off_diagonal = cells[~np.eye(10, dtype=bool)]
    assert stats.chisquare(off_diagonal).pvalue > FALSE_ALARM


def test_bernoulli_gap_instances_stay_in_the_unit_interval():
    problem = lb.BernoulliGapInstances(n_arms=50, gap=0.2, r_max=0.8).problem(seed=1, run=0)
    assert problem.optimal_gap == pytest.approx(0.2)
    assert 0 <= problem.means.min() < problem.means.max() == 0.8


def test_instances_do_not_depend_on_the_rule_and_differ_between_runs():
    family, key = lb.GapInstances(n_arms=5), stream_key(0)
    assert (family.instance(key, 4) == family.instance(key, 4)).all()
    assert (family.instance(key, 4) != family.instance(key, 5)).any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lb.GaussianBandit([1.0]), "GaussianBandit: means must be a sequence of at least 2 numbers"),
        (lambda: lb.GaussianBandit([1.0, np.nan]), "GaussianBandit: means must be finite, got nan for arm 1"),
        (lambda: lb.GaussianBandit([1.0, np.inf]), "GaussianBandit: means must be finite, got inf for arm 1"),
        (lambda: lb.GaussianBandit([0.0, 1e200]), "GaussianBandit: means must be at most 1e\\+100"),
        (lambda: lb.GaussianBandit([0.0, 1.0], scale=0), "GaussianBandit: scale must be positive and finite, got 0.0"),
        (lambda: lb.GaussianBandit([0.0, 1.0], scale=[1, 2, 3]), "GaussianBandit: scale must have one entry per arm, 2, got 3"),
        (lambda: lb.GaussianBandit([0.0, 1.0], scale=[1, -2]), "GaussianBandit: scale must be positive, got -2.0"),
        (lambda: lb.BernoulliBandit([0.5, 1.5]), "BernoulliBandit: means must be between 0 and 1, got 1.5"),
        (lambda: lb.BetaBandit([0.5, 0.0]), "BetaBandit: means must be strictly between 0 and 1, got 0.0"),
        (lambda: lb.GapInstances(n_arms=3, scale=1e308), "GapInstances: scale must be at most 1e\\+100, got 1e\\+308"),
        (lambda: lb.GapInstances(n_arms=3, r_max=1e308), "GapInstances: r_max must be at most 1e\\+100, got 1e\\+308"),
        (
            lambda: lb.GapInstances(n_arms=3, gap=1e-300),
            "GapInstances: gap must be large enough to tell",
        ),
        (lambda: lb.GapInstances(n_arms=3).problem(seed=0, run=-1), "GapInstances.problem: run must be between 0 and"),
        (lambda: lb.BetaBandit([0.1, 0.5], concentration=1e-310), "BetaBandit: concentration must be large enough"),
        (lambda: lb.GapInstances(n_arms=1), "GapInstances: n_arms must be at least 2, got 1"),
        (lambda: lb.GapInstances(n_arms=3, gap=2.0), "GapInstances: gap must be below 2, got 2.0"),
        (lambda: lb.GapInstances(n_arms=3, gap=-1), "GapInstances: gap must be positive and finite, got -1.0"),
        (lambda: lb.BernoulliGapInstances(n_arms=3, r_max=1.2), "BernoulliGapInstances: r_max must be at most 1, got 1.2"),
    ],
)
def test_bad_problems_are_refused_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()
