"""The lazy engine is the dense one: same draws, same weights; arms drawn by p; nothing breaks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_lazy import PlainLazy
from scipy.stats import chisquare

import logbarrier as lb
from logbarrier.bandits.loops.functions import call_mixing, call_moves, functions_of
from logbarrier.bandits.loops.lazy.layout import (
    CLASSES,
    HEAVY_ARMS,
    N_HEAVY,
    REFRESHES,
    SLOW_STEPS,
    TOTAL,
    opened_classes,
)
from logbarrier.bandits.loops.lazy.loop import draw
from logbarrier.bandits.loops.lazy.sorting import new_classes, write_levels
from logbarrier.bandits.loops.lazy.step import NO_CLASS, keep_in_order, mix_with_uniform, move, update_totals
from logbarrier.bandits.loops.policy import TOTAL as DENSE_TOTAL
from logbarrier.bandits.loops.policy import mix_with_uniform as dense_mix
from logbarrier.bandits.loops.policy import move as dense_move
from logbarrier.bandits.loops.policy import new_policy, opened_policy
from logbarrier.bandits.softmax import softmax
from logbarrier.engine.codegen.pointers import pointer_at, pointer_to
from logbarrier.engine.compiled import compiled, from_python
from logbarrier.engine.random import stream_key

FALSE_ALARM = 1e-6
ARRAYS = ("bases", "arms", "numbers", "borders", "levels")
BASES, ARMS, NUMBERS, BORDERS, LEVELS = range(len(ARRAYS))


@from_python
@compiled
def totals(arrays):
    update_totals(opened_classes(arrays))


@from_python
@compiled
def written(arrays):
    write_levels(opened_classes(arrays))


@compiled
def arm_of(state, k, position):
    return state.borders[HEAVY_ARMS + position] if k == NO_CLASS else state.arms[position]


@from_python
@compiled
def replay_kernel(arrays, policy_arrays, calls, memory, means, uniforms, normals, key):
    """Both engines through the steps of a rule, with the arms that the lazy one draws."""
    state, policy, fault = opened_classes(arrays), opened_policy(policy_arrays), pointer_to(normals)
    moves, mixing, hyper = calls[0], calls[1], pointer_to(calls[2])
    for i in range(normals.shape[0]):
        tries, t = pointer_at(pointer_to(uniforms), 5 * i), i + 1
        k, position, weight = draw(state, tries[0], pointer_at(tries, 1), t, 0, pointer_to(key))
        arm = arm_of(state, k, position)
        reward, probability = means[arm] + normals[i], weight / state.numbers[TOTAL]
        lift, drain = call_moves(moves, (reward, probability, t, pointer_to(memory), hyper, fault))
        move(state, k, position, weight, lift, drain)
        keep_in_order(state, t)
        dense_move(policy, arm, lift, drain)
        share = call_mixing(mixing, (t, hyper, fault)) if mixing != 0 else 0.0
        if share > 0.0:
            mix_with_uniform(state, share)
            dense_mix(policy, means.shape[0], share)


@from_python
@compiled
def steps_kernel(arrays, lifts, drains, uniforms, key):
    """Some steps, whatever arm is drawn; returns the smallest and the largest total seen."""
    state = opened_classes(arrays)
    least, most = state.numbers[TOTAL], state.numbers[TOTAL]
    for i in range(lifts.shape[0]):
        tries, t = pointer_at(pointer_to(uniforms), 5 * i), i + 1
        k, position, weight = draw(state, tries[0], pointer_at(tries, 1), t, 0, pointer_to(key))
        move(state, k, position, weight, lifts[i], drains[i])
        keep_in_order(state, t)
        least, most = min(least, state.numbers[TOTAL]), max(most, state.numbers[TOTAL])
    return least, most


@from_python
@compiled
def recorded_steps(arrays, lifts, drains, uniforms, key, pulled):
    """The same; notes which arm each step pulled."""
    state = opened_classes(arrays)
    for i in range(lifts.shape[0]):
        tries, t = pointer_at(pointer_to(uniforms), 5 * i), i + 1
        k, position, weight = draw(state, tries[0], pointer_at(tries, 1), t, 0, pointer_to(key))
        pulled[i] = arm_of(state, k, position)
        move(state, k, position, weight, lifts[i], drains[i])
        keep_in_order(state, t)


@from_python
@compiled
def draw_many(arrays, uniforms, key, counts):
    state = opened_classes(arrays)
    for i in range(uniforms.shape[0]):
        tries = pointer_at(pointer_to(uniforms), 5 * i)
        k, position, _ = draw(state, tries[0], pointer_at(tries, 1), i, 0, pointer_to(key))
        counts[arm_of(state, k, position)] += 1


def probabilities(arrays):
    written(arrays)
    return np.where(arrays[LEVELS] > 0, arrays[LEVELS] / arrays[NUMBERS][TOTAL], 0.0)


def replay(rule, n_arms, steps, seed=0, theta=None):
    """Drive both engines by the arms that the lazy one draws; the policies of both at the end."""
    rng = np.random.default_rng(seed)
    start = np.zeros(n_arms) if theta is None else theta
    arrays, policy = new_classes(start), new_policy(start)
    totals(arrays)
    means = rng.uniform(-1, 0.9, n_arms)
    means[:2] = 1.0, 0.9
    random = rng.random((steps, 5)), rng.standard_normal(steps), stream_key(seed)
    replay_kernel(arrays, policy, functions_of(rule, n_arms), rule.new_memory(), means, *random)
    return probabilities(arrays), policy[1][:n_arms] / policy[3][DENSE_TOTAL]


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


@pytest.mark.parametrize("scale", [0.05, 0.4, 3.0])
@pytest.mark.parametrize("n_arms", [70, 400])
def test_the_compiled_step_is_the_algorithm_written_plainly(n_arms, scale):
    rng = np.random.default_rng(n_arms)
    theta = rng.normal(scale=2.0, size=n_arms)
    arrays, pulled = new_classes(theta), np.zeros(1500, dtype=np.int64)
    totals(arrays)
    lifts, drains = rng.normal(scale=scale, size=(2, 1500))
    recorded_steps(arrays, lifts, drains + 0.1 * scale, rng.random((1500, 5)), stream_key(0), pulled)
    plain = PlainLazy(theta)
    for step in zip(pulled, lifts, drains + 0.1 * scale, strict=True):
        plain.step(*step)
    assert plain.refreshes > 3
    assert probabilities(arrays) == pytest.approx(plain.policy(), rel=1e-11)


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
    steps_kernel(state, np.full(59, 0.05), np.full(59, 0.3), rng.random((59, 5)), key)
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
    arms, borders = state[ARMS], state[BORDERS]
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
    steps = np.array([learning_rate * REWARDS[kind](t) for t in range(1, 300)])
    least, most = steps_kernel(state, steps, steps + learning_rate * 0.2, rng.random((299, 5)), key)
    assert 0 < least <= most < np.inf
    check_order(state, n_arms)
    if learning_rate <= 0.1 and kind != "huge":
        assert state[NUMBERS][REFRESHES] <= 300, "more than one refresh a step"
        assert state[NUMBERS][SLOW_STEPS] == 0


def test_a_dead_arm_comes_back_when_the_others_sink():
    """Under the barrier the top arm is drained until an arm at exp(-800) has weight again, as in the dense engine."""
    theta = np.zeros(70)
    theta[5] = -800.0
    rule = lb.LogBarrierSGB(learning_rate=10.0, eta=1.0)
    ours, dense = replay(rule, 70, 400, theta=theta)
    assert dense[5] > 1e-250  # from 1e-348, which float64 cannot hold
    assert ours[5] == pytest.approx(dense[5], rel=1e-9)
