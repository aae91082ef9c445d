"""Problems that change: dynamic regret against an independent count, the same on every engine, and rivals that forget."""

from __future__ import annotations

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.engine.random import step_uniforms, stream_key

FAMILIES = [
    lb.SwappingArms(n_arms=4, gap=0.5, period=70),
    lb.DriftingArms(n_arms=4, time_scale=300, block=30),
    lb.SeasonalArms(n_arms=4, period=200, block=25),
]
OPTIONS = {"horizon": 400, "seed": 3, "checkpoints": [100, 399], "threads": 1}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_regret_is_counted_against_the_best_arm_of_the_moment(family):
    """An agent that is handed the rewards of each block by hand loses what the record says, to the last bit."""
    record = lb.simulate(lb.AutoLogBarrier(), family, runs=1, engine="dense", **OPTIONS)
    agent, key, regret = lb.Agent(lb.AutoLogBarrier(), n_arms=4, seed=3), stream_key(3), 0.0
    for t in range(400):
        parameters = family.instance_at(key, 0, t // family.block * family.block)
        decision = agent.ask()
        _, u = step_uniforms(t, 0, key)
        regret += parameters[0].max() - parameters[0, decision.arm]
        agent.tell(decision, family.reward_of(family.noise(u), parameters, decision.arm, (key, t, 0)))
    assert record["regret"][0, -1] == regret
    assert agent.policy[np.argmax(parameters[0])] == record["optimal_probability"][0, -1]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_engines_chunks_and_splits_agree(family):
    rule = lb.LogBarrierSGB(learning_rate=0.1, eta=50.0)
    dense, lockstep = (lb.simulate(rule, family, runs=9, engine=name, **OPTIONS) for name in ("dense", "lockstep"))
    assert np.allclose(dense["regret"], lockstep["regret"], rtol=1e-9)
    assert (lb.simulate(rule, family, runs=9, engine="lockstep", chunk=7, **OPTIONS)["regret"] == lockstep["regret"]).all()
    part = lb.simulate(rule, family, runs=3, first_run=6, engine="lockstep", **OPTIONS)
    assert (part["regret"] == lockstep["regret"][6:]).all()


def test_swapped_arms_keep_their_means_and_move_them():
    family, key = lb.SwappingArms(n_arms=50, period=10), stream_key(0)
    first, same, later = (family.means_at(key, 0, step) for step in (0, 0, 10))
    assert (first == same).all()
    assert sorted(first) == sorted(later)
    assert (first != later).any()
    assert (family.means_at(key, 1, 10) != later).any()


def test_seasons_return():
    family, key = lb.SeasonalArms(n_arms=5, period=100.0, block=10), stream_key(1)
    assert family.means_at(key, 0, 30) == pytest.approx(family.means_at(key, 0, 130))
    assert np.abs(family.means_at(key, 0, 0) - family.means_at(key, 0, 50)).max() > 0.1


def test_drift_is_slow_and_stays_around_zero():
    family, key = lb.DriftingArms(n_arms=200, time_scale=1000.0), stream_key(1)
    walk = np.array([family.means_at(key, 0, step) for step in range(0, 20_000, 100)])
    assert np.abs(np.diff(walk, axis=0)).max() < 2 * np.pi * 100 / 1000 * np.sqrt(6 * 2) / 2
    assert abs(walk.mean()) < 0.1
    assert 0.3 < walk.std() < 0.7


def test_means_along_are_those_that_ruled_the_steps():
    family = lb.DriftingArms(n_arms=3, time_scale=100, block=10)
    along = family.means_along(np.array([0, 9, 10, 25]), seed=5, run=2)
    expected = [family.means_at(stream_key(5), 2, step) for step in (0, 0, 10, 20)]
    assert (along == expected).all()


def test_beliefs_that_fade_follow_a_swap():
    """Ten eras of 2000 steps: Thompson sampling that forgets nothing loses more; the seed is fixed."""
    family = lb.SwappingArms(n_arms=5, gap=0.5, period=2000)

    def lost(rule):
        record = lb.simulate(rule, family, horizon=20_000, runs=8, seed=1, checkpoints=2, metrics=["regret"], threads=1)
        return record.mean("regret")[-1]

    assert lost(lb.DiscountedThompsonSampling(discount=0.99)) < lost(lb.ThompsonSampling())


def test_a_window_longer_than_the_run_is_ucb1():
    family = lb.GapInstances(n_arms=5)
    options = {"horizon": 300, "runs": 2, "seed": 1, "checkpoints": 2, "threads": 1}
    window = lb.simulate(lb.SlidingWindowUCB(window=1000), family, **options)
    assert (window["regret"] == lb.simulate(lb.UCB1(), family, **options)["regret"]).all()


def test_a_discount_of_one_is_thompson_sampling():
    family = lb.GapInstances(n_arms=5)
    options = {"horizon": 300, "runs": 2, "seed": 1, "checkpoints": 2, "threads": 1}
    faded = lb.simulate(lb.DiscountedThompsonSampling(discount=1.0), family, **options)
    assert (faded["regret"] == lb.simulate(lb.ThompsonSampling(), family, **options)["regret"]).all()


def test_a_rule_that_is_told_the_means_is_refused():
    with pytest.raises(ValueError, match="simulate: exact-pg is given the means once, so it cannot run on SwappingArms"):
        lb.simulate(lb.ExactPG(), lb.SwappingArms(n_arms=3), horizon=10)
