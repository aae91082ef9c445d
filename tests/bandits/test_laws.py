"""Reward laws of money, counts and heavy tails, and their families. Statistical checks: fixed seeds, false-alarm rate 1e-6."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import logbarrier as lb
from logbarrier.engine.random import step_uniforms, stream_key

FALSE_ALARM = 1e-6
COUNT = 20_000


def rewards(problem, arm):
    key = stream_key(11)
    noises = [problem.noise(step_uniforms(t, 0, key)[1]) for t in range(COUNT)]
    return np.array([problem.reward_of(noise, problem.parameters, arm, (key, t, 0)) for t, noise in enumerate(noises)])


@pytest.mark.parametrize("df", [1.2, 3.0, 1e6])
def test_student_rewards_follow_their_law(df):
    sample = rewards(lb.StudentBandit([0.0, -0.4], scale=[1.0, 2.0], df=df), 1)
    assert stats.kstest(sample, stats.t(df, -0.4, 2.0).cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("mean", [0.02, 3.7, 9.999, 10.0, 43.0, 1e5])
def test_poisson_rewards_follow_their_law(mean):
    """By a chi-square over some twenty bins of about equal probability; expected counts are those of scipy."""
    law = stats.poisson(mean)
    sample = rewards(lb.PoissonBandit([mean, 0.0]), 0)
    assert (sample == np.floor(sample)).all()
    edges = np.unique(law.ppf(np.linspace(0.05, 0.95, 19)))
    counts = np.histogram(sample, bins=[-1.0, *(edges + 0.5), np.inf])[0]
    expected = COUNT * np.diff([0.0, *law.cdf(edges), 1.0])
    assert stats.chisquare(counts, expected).pvalue > FALSE_ALARM


def test_a_mean_of_zero_counts_nothing():
    assert set(rewards(lb.PoissonBandit([0.0, 1.0]), 0)) == {0.0}


@pytest.mark.parametrize("rate", [0.002, 0.3, 1.0])
def test_revenue_is_zero_or_a_log_normal_amount(rate):
    problem = lb.RevenueBandit([0.5, rate], amount=[1.0, 40.0], sigma=1.3)
    sample = rewards(problem, 1)
    bought = sample[sample != 0.0]
    assert stats.binomtest(len(bought), COUNT, rate).pvalue > FALSE_ALARM
    assert stats.kstest(bought, stats.lognorm(1.3, scale=40.0 * np.exp(-(1.3**2) / 2)).cdf).pvalue > FALSE_ALARM
    assert problem.means[1] == rate * 40.0


def test_costs_are_negative_and_log_normal():
    problem = lb.CostBandit([2.0, 3.0], sigma=0.5)
    sample = rewards(problem, 0)
    assert stats.kstest(-sample, stats.lognorm(0.5, scale=2.0 * np.exp(-0.125)).cdf).pvalue > FALSE_ALARM
    assert (problem.optimal_arm, problem.optimal_reward) == (0, -2.0)


ROUND = {
    lb.ClickInstances(n_arms=40, rate=0.1, spread=0.5): [(0, 0.05, 0.15)],
    lb.CountInstances(n_arms=40, rate=3.0, spread=1.0): [(0, 0.0, 6.0)],
    lb.RevenueInstances(n_arms=40, rate=0.03, amount=50.0, spread=0.2): [(1, 0.024, 0.036), (2, 40.0, 60.0)],
    lb.CostInstances(n_arms=40, cost=10.0, spread=0.1): [(0, -11.0, -9.0)],
}


@pytest.mark.parametrize(("family", "rows"), ROUND.items(), ids=lambda value: type(value).__name__)
def test_arms_are_spread_evenly_around_the_typical_one(family, rows):
    instances = np.stack([family.problem(seed=2, run=run).parameters for run in range(100)])
    for row, low, high in rows:
        assert stats.kstest(instances[:, row].ravel(), stats.uniform(low, high - low).cdf).pvalue > FALSE_ALARM
    if len(rows) == 2:  # two attributes of an arm are drawn apart
        (one, *_), (other, *_) = rows
        assert stats.pearsonr(instances[:, one].ravel(), instances[:, other].ravel()).pvalue > FALSE_ALARM


def test_revenue_instances_pay_rate_times_amount():
    means, rates, amounts, _ = lb.RevenueInstances(n_arms=5).problem(seed=0, run=0).parameters
    assert means.tolist() == (rates * amounts).tolist()


def test_the_needle_is_one_arm_at_a_random_place():
    family = lb.NeedleInstances(n_arms=8, gap=0.3, level=-2.0, scale=0.5)
    problems = [family.problem(seed=1, run=run) for run in range(2000)]
    assert all(sorted(set(problem.means)) == [-2.0, -1.7] for problem in problems)
    assert all(problem.optimal_gap == pytest.approx(0.3) for problem in problems)
    assert stats.chisquare(np.bincount([problem.optimal_arm for problem in problems], minlength=8)).pvalue > FALSE_ALARM


def test_unequal_noise_is_log_uniform_and_independent_of_the_means():
    family = lb.UnequalNoiseInstances(n_arms=30, gap=0.1, smallest=0.05, largest=2.0)
    means, scales = np.concatenate([family.problem(seed=4, run=run).parameters for run in range(100)], axis=1)
    assert stats.kstest(scales, stats.loguniform(0.05, 2.0).cdf).pvalue > FALSE_ALARM
    assert stats.pearsonr(means, scales).pvalue > FALSE_ALARM


def test_student_instances_have_the_means_of_gap_instances():
    heavy, plain = lb.StudentInstances(n_arms=7, gap=0.2).problem(3, 5), lb.GapInstances(n_arms=7, gap=0.2).problem(3, 5)
    assert heavy.means.tolist() == plain.means.tolist()


NEW = [
    *ROUND,
    lb.NeedleInstances(n_arms=9),
    lb.UnequalNoiseInstances(n_arms=9),
    lb.StudentInstances(n_arms=9),
    lb.StudentBandit([0.1, 0.3], scale=[1.0, 2.0], df=4),
    lb.PoissonBandit([0.5, 30.0, 2.0]),
    lb.RevenueBandit([0.1, 0.1, 0.3], amount=[7.0, 7.0, 0.7], sigma=0.3, allow_ties=True),
    lb.CostBandit([0.3, 0.1]),
]


@pytest.mark.parametrize("problem", NEW, ids=lambda problem: type(problem).__name__)
def test_records_depend_on_neither_threads_nor_engine(problem):
    rule, options = lb.AutoLogBarrier(), {"horizon": 300, "runs": 10, "seed": 5, "checkpoints": 3}
    digests = {
        lb.simulate(rule, problem, threads=threads, engine=engine, **options)["regret"].tobytes()
        for threads, engine in ((1, "lockstep"), (2, "lockstep"), (2, "dense"))
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lb.PoissonBandit([1.0, -1.0]), r"PoissonBandit: means must be between 0 and 1e\+09, got -1.0"),
        (lambda: lb.StudentBandit([0.0, 1.0], df=1), "StudentBandit: df must be above 1, so that the mean exists"),
        (lambda: lb.StudentInstances(3, df=0.5), "StudentInstances: df must be above 1"),
        (lambda: lb.RevenueBandit([0.0, 0.5]), "RevenueBandit: rates must be above 0 and at most 1, got 0.0"),
        (lambda: lb.RevenueBandit([0.1, 0.5], amount=[1, 2, 3]), "RevenueBandit: amount must have one entry per arm, 2, got 3"),
        (lambda: lb.RevenueBandit([0.1, 0.5], sigma=50), "RevenueBandit: sigma must be at most 5, got 50.0"),
        (lambda: lb.CostBandit([0.1, -0.5]), "CostBandit: costs must be positive, got -0.5"),
        (lambda: lb.ClickInstances(3, rate=0.9), r"ClickInstances: rate \(1 \+ spread\) must be at most 1, got 1.17"),
        (lambda: lb.ClickInstances(3, spread=2), "ClickInstances: spread must be at most 1, got 2.0"),
        (lambda: lb.NeedleInstances(3, level=1e30), "NeedleInstances: gap must be large enough to tell"),
        (lambda: lb.UnequalNoiseInstances(3, smallest=4), "UnequalNoiseInstances: smallest must be at most 3, got 4.0"),
    ],
)
def test_bad_problems_are_refused_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()
