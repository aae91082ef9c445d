"""AutoLogBarrier: its formulas, and that neither the unit of reward nor a constant added to all of them matters."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import logbarrier as lb
from logbarrier import testing
from logbarrier.bandits.algorithms.auto_log_barrier import WATCHED
from logbarrier.bandits.problems import Bandit, uniform_noise
from logbarrier.engine.compiled import compiled


def moves(rewards, probabilities, n_arms=4):
    """(lift, drain) of every step, from the compiled update."""
    rule = lb.AutoLogBarrier()
    memory, hyper = rule.new_memory(), rule.hyper(n_arms)
    return [
        rule.lift_and_drain(float(r), float(p), t, memory, hyper)
        for t, (r, p) in enumerate(zip(rewards, probabilities, strict=True), start=1)
    ]


def by_the_formulas(rewards, probabilities, n_arms=4):
    """The same in 50 digits, from the docstring."""
    with mpmath.workdps(50):
        b, spread, farthest, explored, learned = mpmath.mpf(float(rewards[0])), *(mpmath.mpf(0) for _ in range(4))
        found = []
        for t, (r, p) in enumerate(zip(rewards, probabilities, strict=True), start=1):
            x, u = mpmath.mpf(float(r)) - b, 1 + explored / n_arms
            alpha = barrier = mpmath.mpf(0)
            if t > WATCHED and spread > 0:
                alpha = min(1 / mpmath.sqrt(u * spread), 3 / farthest)
                barrier = n_arms / (3 * (learned + alpha) / u ** mpmath.mpf("0.25"))
            found.append((float(alpha * x), float(alpha * (x + barrier))))
            weight = mpmath.mpf(3) / (t + 2)
            b, spread = b + weight * x, spread + weight * (x * x - spread)
            farthest, learned = max(farthest, abs(x)), learned + alpha
            explored += (1 - mpmath.mpf(float(p))) ** 2
        return found


@pytest.fixture(scope="module")
def steps():
    generator = np.random.default_rng(0)
    return generator.normal(size=300), generator.uniform(0.01, 1.0, 300)


def test_every_step_is_the_formula(steps):
    assert np.array(moves(*steps)) == pytest.approx(np.array(by_the_formulas(*steps)), rel=1e-10, abs=1e-13)


def test_the_farthest_reward_moves_a_preference_by_at_most_three():
    rewards = [0.0, 1e-3] * 20 + [1.0] + [1e-3] * 20 + [1.0] * 5
    lifts = np.array(moves(rewards, [0.2] * len(rewards)))[:, 0]
    assert np.abs(lifts[41:]).max() <= 3.0 + 1e-12
    assert np.abs(lifts[40]) > 3.0  # the first surprise is not foreseen


@pytest.mark.parametrize("unit", [2.0**-20, -(2.0**3), 2.0**30])
def test_the_unit_of_reward_changes_no_bit_of_a_step(steps, unit):
    scaled = np.array(moves(unit * steps[0], steps[1]))
    expected = np.array(moves(np.sign(unit) * steps[0], steps[1]))
    assert (scaled == expected).all()


def test_a_constant_added_to_all_rewards_changes_no_bit_of_a_step(steps):
    rounded = np.round(steps[0] * 2**20) / 2**20  # so that adding the constant is exact
    assert moves(rounded + 1024.0, steps[1]) == moves(rounded, steps[1])


def test_equal_rewards_move_nothing():
    assert np.array(moves([0.7] * 50, [0.3] * 50)).any() == np.False_


@compiled
def stretched_reward(noise, parameters, arm, stream):
    """A Bernoulli reward, times row 1, plus row 2."""
    return (1.0 if noise < parameters[0, arm] else 0.0) * parameters[1, arm] + parameters[2, arm]


class StretchedBandit(Bandit):
    """Clicks in another currency with an entrance fee; row 0 still orders the arms."""

    noise = staticmethod(uniform_noise)
    reward_of = staticmethod(stretched_reward)

    def __init__(self, unit, offset):
        means = np.array([0.2, 0.5, 0.3, 0.1])
        super().__init__(means, np.full(4, unit), np.full(4, offset))


def test_a_whole_run_is_the_same_in_another_unit_and_with_an_offset():
    """To the bit, on the engine that agents run: the policies are equal at every checkpoint."""
    options = {"horizon": 3000, "runs": 2, "seed": 4, "checkpoints": 20, "engine": "dense", "threads": 1}
    plain, stretched = (
        lb.simulate(lb.AutoLogBarrier(), StretchedBandit(*changes), **options) for changes in ((1.0, 0.0), (0.25, 64.0))
    )
    assert (plain["optimal_probability"] == stretched["optimal_probability"]).all()
    assert plain["optimal_probability"][:, -1].min() > 0.5


def test_expected_update_is_the_gradient_of_the_barrier_objective():
    testing.check_expected_update(lb.AutoLogBarrier())
    testing.check_sum_of_theta(lb.AutoLogBarrier())


@pytest.mark.parametrize("n_arms", [10, 100])
def test_it_learns_without_being_told_anything(n_arms):
    """Uniform play would lose 10 000 or more; the seed is fixed."""
    record = lb.simulate(lb.AutoLogBarrier(), lb.GapInstances(n_arms=n_arms, gap=0.5), horizon=10_000, runs=16, seed=3)
    assert record.mean("regret")[-1] < 3000
    assert record.mean("optimal_probability")[-1] > 0.8
