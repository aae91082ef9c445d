"""OptimisticBarrier against its formulas in 50-digit arithmetic, and what it claims of prices, draws, units and changes."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import logbarrier as lb
from logbarrier.bandits.algorithms.optimistic_barrier import multiplier_of
from logbarrier.bandits.loops import vectors
from logbarrier.bandits.loops.functions import vector_functions_of
from logbarrier.engine.compiled import from_python


class Learnt:
    """A rule that was given pulls: its table, memory and policy."""

    def __init__(self, rule: lb.OptimisticBarrier, n_arms: int) -> None:
        self.rule, self.n_arms, self.t = rule, n_arms, 0
        self.vectors, self.memory = rule.new_vectors(np.zeros(n_arms), None), rule.new_memory()
        self.policy = np.full(n_arms, 1 / n_arms)
        self.arrays = vector_functions_of(rule, n_arms), self.vectors, self.memory, self.policy

    def give(self, arms: Any, rewards: Any) -> Learnt:
        for arm, reward in zip(arms, rewards, strict=True):
            self.t += 1
            assert from_python(vectors.update)(self.arrays, self.policy, int(arm), float(reward), self.t) == 0.0
        return self

    def __getattr__(self, name: str) -> Any:
        if name in self.rule.rows:
            return self.vectors[self.rule.rows.index(name)]
        return getattr(self.rule.memory_at(self.memory), name)


def squares_of(rewards: list[Any]) -> Any:
    """Sum of squared distances to the mean."""
    return sum((r - mp.fsum(rewards) / len(rewards)) ** 2 for r in rewards)


def variance_of(rewards: list[Any], shrinkage: Any, pooled: Any, prior: Any, mean_of_all: Any) -> Any:
    n = len(rewards)
    surprise = prior * n / (prior + n) * (mp.fsum(rewards) / n - mean_of_all) ** 2 if n else 0
    return (shrinkage * pooled + squares_of(rewards) + surprise) / (shrinkage + n)


def eta_of(best: int, bounds: list[Any], errors: list[Any]) -> Any:
    gap = sum(bounds[best] - u for u in bounds) / (len(bounds) - 1)
    return len(bounds) / errors[best] * (10 + gap / errors[best])


def by_formula(arms: np.ndarray, rewards: np.ndarray, n_arms: int) -> tuple[list[Any], list[Any], Any]:
    """U (K,), s (K,) and the policy (K,) of the documentation, from the list of pulls alone, in 50 digits.

    It holds where every value is fresh: the pooled values were computed after the last pull.
    """
    mp.mp.dps = 50
    own: list[list[Any]] = [[] for _ in range(n_arms)]
    everything: list[Any] = []
    standardised: list[Any] = []  # squares of the recursive residuals within arms, over the variance of their arm
    pooled = shrinkage = prior = mean_of_all = mp.mpf(0)
    for arm, reward in zip(arms, rewards, strict=True):
        own[arm].append(mp.mpf(float(reward)))
        everything.append(own[arm][-1])
        n = len(own[arm])
        if n > 1 and (variance := variance_of(own[arm], shrinkage, pooled, prior, mean_of_all)) > 0:
            residual = own[arm][-1] - mp.fsum(own[arm][:-1]) / (n - 1)
            standardised.append(residual**2 * mp.mpf(n - 1) / n / variance)
        kurtosis, freedom = mp.mpf(3), len(standardised)
        if sum(standardised) > 0:
            kurtosis = max(sum(e * e for e in standardised) * freedom / sum(standardised) ** 2, mp.mpf(1))
        kurtosis += (3 - kurtosis) * mp.mpf(10) / (10 + freedom)
        shrinkage = 1 + 3 * (kurtosis - 1)
        votes = {a: (len(r) - 1) / (len(r) - 2 + kurtosis) for a, r in enumerate(own) if len(r) > 1}
        weighted = [vote * squares_of(own[a]) / (len(own[a]) - 1) for a, vote in votes.items()]
        total = squares_of(everything) / max(len(everything) - 1, 1)
        voted, mean_of_all = sum(votes.values()), mp.fsum(everything) / len(everything)
        pooled = (sum(weighted) + total / kurtosis) / (voted + 1 / kurtosis)
        prior = min(pooled / total, mp.mpf(1)) if total > 0 else mp.mpf(1)
    dispersion = max(voted * sum(v * v for v in weighted) / sum(weighted) ** 2 - 1, mp.mpf(0))
    common_degrees = max((1 + voted) / (mp.mpf(1) / 2 + voted * dispersion), mp.mpf(1) / 2)
    bounds, errors = [], []
    for own_rewards in own:
        n = len(own_rewards)
        variance = variance_of(own_rewards, shrinkage, pooled, prior, mean_of_all)
        errors.append(mp.sqrt(variance / (n + prior)))
        normal = 1 + mp.mpf(12) / 10 * mp.log(1 + len(everything) / (10 * (n + prior)))
        degrees = max(n - 1, 0) + common_degrees
        width = mp.sqrt(degrees * (mp.exp(normal / degrees) - 1))
        bounds.append((sum(own_rewards) + prior * mean_of_all) / (n + prior) + width * errors[-1])
    best, leader = max(range(n_arms), key=lambda a: bounds[a]), max(range(n_arms), key=lambda a: len(own[a]))
    if (
        2 * len(own[leader]) > len(everything)
        and own[best]
        and mp.fsum(own[best]) / len(own[best]) < (mp.fsum(own[leader]) / len(own[leader]))
    ):
        others = [u for a, u in enumerate(bounds) if a != leader]
        mean_gap = sum(bounds[best] - u for u in others) / len(others)

        def excess(raised: Any) -> Any:  # eta d - 1/2
            return raised * n_arms / errors[leader] * (10 + (mean_gap + raised) / errors[leader]) - mp.mpf(1) / 2

        bounds[leader], best = bounds[best] + mp.findroot(excess, (0, errors[leader]), solver="illinois"), leader
    eta = eta_of(best, bounds, errors)
    gaps = [eta * (bounds[best] - u) for u in bounds]
    low, high = mp.mpf(1), mp.mpf(n_arms)
    for _ in range(170):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(1 / (middle + g) for g in gaps) > 1 else (low, middle)
    return bounds, errors, [1 / (low + g) for g in gaps]


@pytest.mark.parametrize(("n_arms", "pulls", "clicks"), [(3, 12, False), (7, 29, False), (12, 30, True)])
def test_policy_is_that_of_the_formulas(n_arms: int, pulls: int, clicks: bool) -> None:
    rng = np.random.default_rng(n_arms)  # fewer than 32 pulls: every pull refreshes the pooled values
    arms = rng.integers(n_arms - 1, size=pulls)  # the last arm is never pulled
    rewards = (rng.random(pulls) < 0.3).astype(float) if clicks else rng.normal(size=pulls) + arms
    learnt = Learnt(lb.OptimisticBarrier(), n_arms).give(arms, rewards)
    bounds, errors, policy = by_formula(arms, rewards, n_arms)
    np.testing.assert_allclose(learnt.bounds, [float(u) for u in bounds], rtol=1e-12)
    np.testing.assert_allclose(learnt.errors, [float(s) for s in errors], rtol=1e-12)
    np.testing.assert_allclose(learnt.policy, [float(p) for p in policy], rtol=1e-9)


def with_a_leader() -> tuple[np.ndarray, np.ndarray]:
    """Pulls after which arm 0 has most of 30 pulls and the greatest mean, and arm 1 the greatest optimistic value."""
    arms = np.array([1, 2, 3, 2, 3, *[0] * 25])
    return arms, np.random.default_rng(6).normal(size=30) / 10 + np.array([1.0, 0.9, 0.2, 0.1])[arms]


def test_policy_with_a_raised_leader_is_that_of_the_formulas() -> None:
    learnt = Learnt(lb.OptimisticBarrier(), 4).give(*with_a_leader())
    bounds, _, policy = by_formula(*with_a_leader(), 4)
    assert learnt.raised == 0.0
    np.testing.assert_allclose(learnt.bounds, [float(u) for u in bounds], rtol=1e-12)
    np.testing.assert_allclose(learnt.policy, [float(p) for p in policy], rtol=1e-9)
    assert 0.5 < learnt.policy[0] < 0.6  # 0.56 if no third arm had any probability
    assert learnt.policy[1] > 0.4
    price = float(learnt.policy @ (learnt.bounds[0] - learnt.bounds))
    assert price == pytest.approx((4 - learnt.multiplier) / learnt.eta, rel=1e-10)
    assert price <= 0.1 * learnt.errors[0]


@pytest.mark.parametrize("c", [0.01, 1.0, 100.0])
def test_of_two_arms_the_tried_one_has_the_rest_of_the_leader_for_every_price(c: float) -> None:
    rewards = [0.9, *(1.0 + np.random.default_rng(6).normal(size=29) / 10)]
    learnt = Learnt(lb.OptimisticBarrier(c=c), 2).give([1, *[0] * 29], rewards)
    assert learnt.raised == 0.0
    assert learnt.policy[0] == pytest.approx(4 / (3 + math.sqrt(17)), abs=1e-9)  # 1/x + 1/(x + 1/2) = 1


def test_an_untried_arm_or_one_of_a_greater_mean_is_not_held_back() -> None:
    arms, rewards = with_a_leader()
    untried = Learnt(lb.OptimisticBarrier(), 5).give(arms, rewards)
    assert untried.policy[4] > 0.9
    better = Learnt(lb.OptimisticBarrier(), 4).give(arms, rewards + 0.4 * (arms == 1))
    assert better.policy[1] > 0.9


@pytest.mark.parametrize("n_arms", [1, 2, 9, 300])
@pytest.mark.parametrize("eta", [1e-9, 1.0, 1e3, 1e12])
def test_lambda_is_the_root_in_50_digits_from_any_start(n_arms: int, eta: float) -> None:
    rng = np.random.default_rng(n_arms)
    for bounds in (np.zeros(n_arms), rng.normal(size=n_arms), rng.standard_cauchy(size=n_arms), np.arange(n_arms) / n_arms):
        gaps = [mp.mpf(float(eta)) * (mp.mpf(float(bounds.max())) - mp.mpf(float(u))) for u in bounds]
        for start in (0.0, 1.0, math.sqrt(n_arms), float(n_arms), 1e6):
            found = from_python(multiplier_of)(start, float(bounds.max()), eta, bounds)
            slope = mp.fsum(1 / (mp.mpf(found) + gap) ** 2 for gap in gaps)
            error = (mp.fsum(1 / (mp.mpf(found) + gap) for gap in gaps) - 1) / slope  # of Newton's last step
            assert abs(error) < 1e-13 * found


def experienced(n_arms: int, pulls: int = 2000, rule: lb.OptimisticBarrier | None = None) -> Learnt:
    rng = np.random.default_rng(5)
    arms = rng.integers(n_arms, size=pulls)
    return Learnt(rule or lb.OptimisticBarrier(), n_arms).give(
        arms, np.linspace(0.0, 1.0, n_arms)[arms] + rng.normal(size=pulls)
    )


@pytest.mark.parametrize("c", [0.03, 0.1, 1.0])
def test_price_of_randomising_is_what_is_said_and_at_most_c_errors(c: float) -> None:
    learnt = experienced(20, rule=lb.OptimisticBarrier(c=c))
    best = int(np.argmax(learnt.bounds))
    price = float(learnt.policy @ (learnt.bounds[best] - learnt.bounds))
    assert price == pytest.approx((20 - learnt.multiplier) / learnt.eta, rel=1e-10)
    assert price <= c * learnt.errors[best]


def test_a_value_lags_behind_its_arm_by_at_most_a_256th_of_the_pulls() -> None:
    learnt = experienced(3)
    assert (learnt.counts < learnt.due).all()
    assert (learnt.due <= learnt.counts * 257 / 256).all()
    assert (learnt.counts > 500).all()


@pytest.mark.parametrize("n_arms", [2, 4, 10, 37])
def test_draws_follow_the_policy(n_arms: int) -> None:
    learnt = experienced(n_arms) if n_arms != 4 else Learnt(lb.OptimisticBarrier(), 4).give(*with_a_leader())
    key = np.zeros(2, dtype=np.uint64)
    us = (np.arange(20_000) + 0.5) / 20_000  # a draw is a function of u, so a fine grid of u measures its probabilities
    arms = [from_python(vectors.draw_of)(learnt.arrays, float(u), learnt.t, (key, 0, 0))[0] for u in us]
    np.testing.assert_allclose(np.bincount(arms, minlength=n_arms) / 20_000, learnt.policy, atol=1.01 / 20_000)


def test_unit_and_offset_of_rewards_do_not_matter() -> None:
    rng = np.random.default_rng(1)
    arms = rng.integers(6, size=500)
    rewards = np.round(rng.normal(size=500) + arms / 5, 6)
    plain = Learnt(lb.OptimisticBarrier(), 6).give(arms, rewards)
    larger = Learnt(lb.OptimisticBarrier(), 6).give(arms, 1024.0 * rewards)
    moved = Learnt(lb.OptimisticBarrier(), 6).give(arms, 3.7 * rewards - 1000.0)
    np.testing.assert_array_equal(larger.policy, plain.policy)  # a power of two changes no bit
    np.testing.assert_allclose(moved.policy, plain.policy, rtol=1e-6)


def test_policy_is_even_until_rewards_differ() -> None:
    learnt = Learnt(lb.OptimisticBarrier(), 4).give([0, 1, 2, 3, 0, 0], [0.0] * 6)
    np.testing.assert_array_equal(learnt.policy, np.full(4, 0.25))
    assert learnt.give([2], [1.0]).policy.argmax() == 2


def test_arms_without_noise_are_pulled_about_once() -> None:
    record = lb.simulate(lb.OptimisticBarrier(), lb.GapInstances(50, gap=0.1, scale=1e-6), horizon=20_000, runs=8, seed=0)
    instance = [lb.GapInstances(50, gap=0.1, scale=1e-6).problem(seed=0, run=run) for run in range(8)]
    once = np.mean([np.sum(each.optimal_reward - each.means) for each in instance])
    assert record.mean("regret")[-1] < 2.0 * once


@pytest.mark.parametrize("shift", [-1.0, 1.0, 0.3])
def test_a_shift_of_an_arm_is_noticed_and_steady_rewards_are_not(shift: float) -> None:
    rng = np.random.default_rng(3)
    learnt = Learnt(lb.OptimisticBarrier(), 2).give(np.arange(3000) % 2, rng.normal(size=3000))
    assert learnt.changes == 0
    before = learnt.vectors[1].sum()
    learnt.give(np.zeros(700, dtype=int), rng.normal(size=700) + shift)
    assert learnt.changes == 1
    assert learnt.vectors[1].sum() < before / 2


def test_the_reward_that_causes_an_alarm_does_not_decide_the_mean_of_its_arm() -> None:
    rng = np.random.default_rng(3)
    learnt = Learnt(lb.OptimisticBarrier(), 2).give(np.arange(3000) % 2, rng.normal(size=3000))
    for _ in range(100):
        learnt.give(np.zeros(1, dtype=int), np.array([-30.0]))
        if learnt.changes == 1:
            break
    assert learnt.counts[0] == 0
    learnt.give(np.zeros(50, dtype=int), rng.normal(size=50))
    assert abs(learnt.vectors[0][0]) < 0.6  # four standard errors


def test_changes_are_not_monitored_where_nobody_asks() -> None:
    rng = np.random.default_rng(3)
    learnt = Learnt(lb.OptimisticBarrier(changing=False), 2).give(np.arange(400) % 2, rng.normal(size=400) + np.arange(400))
    assert learnt.changes == 0
    assert learnt.counts.sum() == 400


@pytest.mark.parametrize(
    "problem", [lb.GapInstances(10), lb.BernoulliBandit([0.02, 0.03, 0.04]), lb.BernoulliBandit([0.1, 0.12])]
)
def test_steady_problems_have_no_alarm(problem: Any) -> None:
    """At the stated rate of one alarm in 1e7 pulls, the 8 runs of 25,000 have one with probability 0.02."""
    steady = lb.simulate(lb.OptimisticBarrier(changing=False), problem, horizon=25_000, runs=8, seed=2)
    monitored = lb.simulate(lb.OptimisticBarrier(), problem, horizon=25_000, runs=8, seed=2)
    np.testing.assert_array_equal(steady["regret"], monitored["regret"])


@pytest.mark.parametrize("wrong", [{"c": 0.0}, {"c": -1.0}, {"optimism": -1.0}, {"optimism": float("nan")}])
def test_wrong_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="OptimisticBarrier: (c|optimism) must be"):
        lb.OptimisticBarrier(**wrong)


def test_changing_is_true_or_false() -> None:
    with pytest.raises(TypeError, match="OptimisticBarrier: changing must be true or false, got 1"):
        lb.OptimisticBarrier(changing=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("n_arms", [4, 6])
def test_a_noisy_best_arm_that_starts_unlucky_is_found_again(n_arms: int) -> None:
    rest = np.linspace(0.4, 0.8, n_arms - 1)
    problem = lb.GaussianBandit(means=[*rest, 1.0], scale=[*np.full(n_arms - 1, 0.1), 3.0])
    record = lb.simulate(lb.OptimisticBarrier(), problem, horizon=50_000, runs=200, seed=3, checkpoints=2)
    # The first reward is below 0.4 in 42 % of the runs, 30 times as far from 1 as the noise of the other arms would explain.
    # About 2 % of the runs are lost; more than 8 % of 200 by chance in less than one of a million.
    assert np.mean(record["optimal_probability"][:, -1] < 0.5) <= 0.08


def test_the_best_of_many_arms_has_most_of_the_probability_at_the_end() -> None:
    problem = lb.NeedleInstances(50, gap=0.3)
    record = lb.simulate(lb.OptimisticBarrier(), problem, horizon=10_000, runs=300, seed=4, checkpoints=2)
    # If 0.2 % of the runs end otherwise, more than 4 of 300 do so with probability 0.0004. Without the leader 2.5 % do.
    assert np.sum(record["optimal_probability"][:, -1] < 0.5) <= 4


@pytest.mark.parametrize("unit", [1e90, 1e-90])
def test_extreme_units_give_a_policy(unit: float) -> None:
    rng = np.random.default_rng(8)
    arms = rng.integers(4, size=200)
    policy = Learnt(lb.OptimisticBarrier(), 4).give(arms, unit * (rng.normal(size=200) + arms)).policy
    assert np.isfinite(policy).all()
    assert policy.sum() == pytest.approx(1.0)
    assert policy.argmax() == 3
