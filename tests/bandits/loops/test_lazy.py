"""The lazy engine is the dense one: same draws, same weights; arms drawn by p; nothing breaks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy.stats import chisquare

import logbarrier as lb
from logbarrier.bandits.loops.lazy import loop as lazy
from logbarrier.bandits.loops.lazy.classes import (
    CLASSES,
    HEAVY_ARMS,
    N_HEAVY,
    REFRESHES,
    SLOW_STEPS,
    TOTAL,
    new_classes,
    write_levels,
)
from logbarrier.bandits.loops.policy import TOTAL as DENSE_TOTAL
from logbarrier.bandits.loops.policy import mix_with_uniform, move, new_policy
from logbarrier.bandits.softmax import softmax
from logbarrier.engine.pointers import pointer_to
from logbarrier.engine.random import stream_key

FALSE_ALARM = 1e-6


@njit
def totals(state):
    lazy.update_totals(state)


@njit
def draw(state, uniforms, t, key):
    return lazy.draw(state, uniforms[0], uniforms[1:], t, 0, key)


@njit
def lazy_move(state, k, position, weight, lift, drain, t):
    lazy.move(state, k, position, weight, lift, drain)
    lazy.keep_in_order(state, t)


@njit
def draw_many(arrays, uniforms, key, counts):
    state = (pointer_to(arrays[0]), pointer_to(arrays[1]), pointer_to(arrays[2]), pointer_to(arrays[3]), pointer_to(arrays[4]))
    for i in range(uniforms.shape[0]):
        k, position, _ = lazy.draw(state, uniforms[i, 0], uniforms[i, 1:], i, 0, key)
        counts[arrays[3][HEAVY_ARMS + position] if k == lazy.NO_CLASS else arrays[1][position]] += 1


def arm_at(state, k, position):
    return int(state[3][HEAVY_ARMS + position] if k == lazy.NO_CLASS else state[1][position])


def probabilities(state):
    write_levels(state)
    levels = state[4]
    scale = state[2][TOTAL]
    return np.where(levels > 0, levels / scale, 0.0)


def replay(rule, n_arms, steps, seed=0, theta=None):
    """Drive both engines by the arms that the lazy one draws; the policies of both at the end."""
    rng, key = np.random.default_rng(seed), stream_key(seed)
    start = np.zeros(n_arms) if theta is None else theta
    state, policy = new_classes(start), new_policy(start)
    totals(state)
    means = rng.uniform(-1, 0.9, n_arms)
    means[:2] = 1.0, 0.9
    memory, hyper = rule.new_memory(), rule.hyper(n_arms)
    for t in range(1, steps + 1):
        k, position, weight = draw(state, rng.random(5), t, key)
        arm = arm_at(state, k, position)
        probability = weight / state[2][TOTAL]
        lift, drain = rule.lift_and_drain(means[arm] + rng.standard_normal(), probability, t, memory, hyper)
        lazy_move(state, k, position, weight, lift, drain, t)
        move(*policy, arm, lift, drain)
        share = rule.mixing(t, hyper)
        if share > 0:
            lazy.mix_with_uniform(state, share)
            mix_with_uniform(*policy, n_arms, share)
    return probabilities(state), policy[1][:n_arms] / policy[3][DENSE_TOTAL]


LAZY_RULES = [
    lb.SGB(learning_rate=0.1),
    lb.BaselineSGB(learning_rate=0.1),
    lb.EntropySGB(learning_rate=lb.inverse_sqrt(1.0), tau=0.05),
    lb.LogBarrierSGB(learning_rate=0.1, eta=5000),
    lb.LogBarrierSGB(learning_rate=1.5, eta=100),
    lb.ClippedLogBarrierSGB(),
]


@pytest.mark.parametrize("rule", LAZY_RULES, ids=repr)
@pytest.mark.parametrize(("n_arms", "steps"), [(65, 20_000), (1000, 20_000), (100_000, 500)])
def test_lazy_weights_are_the_dense_ones(rule, n_arms, steps):
    ours, dense = replay(rule, n_arms, steps)
    counted = dense >= 1e-200
    assert np.abs(ours[counted] / dense[counted] - 1).max() <= 1e-11


def test_lazy_weights_are_the_dense_ones_after_a_hundred_thousand_steps():
    ours, dense = replay(lb.LogBarrierSGB(learning_rate=0.1, eta=5000), 1000, 100_000)
    assert np.abs(ours / dense - 1).max() <= 1e-11


STATES = {
    "one heavy arm": np.concatenate([[6.0], np.zeros(499)]),
    "all heavy": np.linspace(0, 1, 20),
    "all light": np.random.default_rng(0).normal(scale=0.3, size=1000),
    "twelve orders of magnitude": np.random.default_rng(1).uniform(0, 12 * np.log(10), 300),
}


def check_frequencies(counts, p):
    """Chi-square; arms that should have come fewer than ten times are counted as one."""
    expected = counts.sum() * p / p.sum()
    rare = expected < 10
    observed, awaited = np.append(counts[~rare], counts[rare].sum()), np.append(expected[~rare], expected[rare].sum())
    if awaited[-1] < 5:
        observed, awaited = observed[:-1], awaited[:-1]
    assert chisquare(observed, awaited * observed.sum() / awaited.sum()).pvalue > FALSE_ALARM


@pytest.mark.parametrize("name", list(STATES))
def test_arms_are_drawn_with_probability_p(name):
    """A million draws at a frozen state."""
    theta = STATES[name]
    state = new_classes(theta)
    totals(state)
    counts, draws = np.zeros(len(theta), dtype=np.int64), 1_000_000
    draw_many(state, np.random.default_rng(2).random((draws, 5)), stream_key(2), counts)
    check_frequencies(counts, softmax(theta))


def test_draws_after_the_map_has_moved_follow_the_moved_weights():
    state = new_classes(np.random.default_rng(3).normal(size=400))
    totals(state)
    rng, key = np.random.default_rng(4), stream_key(4)
    for t in range(1, 60):
        k, position, weight = draw(state, rng.random(5), t, key)
        lazy_move(state, k, position, weight, 0.05, 0.3, t)
    p = probabilities(state)
    counts = np.zeros(400, dtype=np.int64)
    draw_many(state, rng.random((1_000_000, 5)), key, counts)
    check_frequencies(counts, p)


def test_learning_curves_of_lazy_and_dense_agree():
    """Means of 400 runs within four standard errors of their difference at every checkpoint."""
    rule, family = lb.LogBarrierSGB(learning_rate=0.1, eta=2000), lb.GapInstances(n_arms=100)
    curves = [
        lb.simulate(rule, family, horizon=8000, runs=400, seed=seed, checkpoints=9, engine=engine)["optimal_probability"]
        for seed, engine in ((0, "dense"), (1, "lazy"))
    ]
    error = np.sqrt(sum(curve.var(axis=0, ddof=1) / len(curve) for curve in curves))
    difference = np.abs(curves[0].mean(axis=0) - curves[1].mean(axis=0))
    assert (difference[1:] <= 4 * error[1:]).all()


def check_order(state, n_arms):
    """Every arm is somewhere once, and the books agree with the weights."""
    arms, borders = state[1], state[3]
    held = [*arms[: borders[CLASSES + 1]], *borders[HEAVY_ARMS : HEAVY_ARMS + borders[N_HEAVY]]]
    assert sorted(held) == list(range(n_arms))
    assert (np.diff(borders[: CLASSES + 2]) >= 0).all()
    p = probabilities(state)
    assert np.isfinite(p).all()
    assert p.sum() == pytest.approx(1, abs=1e-9)


REWARDS = {
    "constant": lambda t: 1.0,
    "negative": lambda t: -1.0,
    "zero": lambda t: 0.0,
    "alternating": lambda t: 1.0 if t % 2 else -1.0,
    "huge": lambda t: (1e6, -1e6, 3.0)[t % 3],
}


@settings(max_examples=25)
@given(
    st.sampled_from(list(REWARDS)),
    st.sampled_from([1e-3, 0.1, 3.0, 1e4]),
    st.sampled_from([65, 200]),
    st.integers(0, 2**20),
)
def test_nothing_breaks_whatever_the_rewards(kind, learning_rate, n_arms, seed):
    rng, key = np.random.default_rng(seed), stream_key(seed)
    theta = rng.normal(size=n_arms) * rng.choice([0.0, 1.0, 30.0, 1e4])
    state = new_classes(theta)
    totals(state)
    for t in range(1, 300):
        k, position, weight = draw(state, rng.random(5), t, key)
        step = learning_rate * REWARDS[kind](t)
        lazy_move(state, k, position, weight, step, step + learning_rate * 0.2, t)
        assert 0 < state[2][TOTAL] < np.inf
    check_order(state, n_arms)
    if learning_rate <= 0.1 and kind != "huge":
        assert state[2][REFRESHES] <= 300, "more than one refresh a step"
        assert state[2][SLOW_STEPS] == 0


def test_a_dead_arm_comes_back_when_the_others_sink():
    """Under the barrier the top arm is drained until an arm at exp(-800) has weight again, as in the dense engine."""
    theta = np.zeros(70)
    theta[5] = -800.0
    rule = lb.LogBarrierSGB(learning_rate=10.0, eta=1.0)
    ours, dense = replay(rule, 70, 400, theta=theta)
    assert dense[5] > 1e-250  # from 1e-348, which float64 cannot hold
    assert ours[5] == pytest.approx(dense[5], rel=1e-9)
