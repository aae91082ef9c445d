"""The sparse engine is the dense one for rules without drain, at any logit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import logbarrier as lb
from logbarrier.bandits.loops import sparse
from logbarrier.bandits.loops.policy import TOTAL as DENSE_TOTAL
from logbarrier.bandits.loops.policy import move as dense_move
from logbarrier.bandits.loops.policy import new_policy, opened_policy
from logbarrier.bandits.softmax import log_softmax, softmax
from logbarrier.engine.compiled import compiled, from_python


@from_python
@compiled
def sparse_move(arrays, arm, lift):
    sparse.move(sparse.opened_tree(arrays), arm, lift)


@from_python
@compiled
def move(arrays, arm, lift, drain):
    dense_move(opened_policy(arrays), arm, lift, drain)


@from_python
@compiled
def draw_many(arrays, uniforms, counts):
    tree = sparse.opened_tree(arrays)
    for i in range(uniforms.shape[0]):
        counts[sparse.draw(tree, uniforms[i])] += 1


@settings(max_examples=40)
@given(st.integers(2, 600), st.sampled_from([1.0, 50.0, 2000.0]), st.integers(0, 2**20))
def test_sparse_weights_are_the_dense_ones(n_arms, size, seed):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=n_arms)
    tree, policy = sparse.new_tree(theta, False), new_policy(theta)
    for _ in range(60):
        arm, lift = int(rng.integers(n_arms)), float(rng.normal() * size)
        sparse_move(tree, arm, lift)
        move(policy, arm, lift, 0.0)
        theta[arm] += lift
    ours, dense = tree[1][:n_arms] / tree[4][sparse.TOTAL], policy[1][:n_arms] / policy[3][DENSE_TOTAL]
    counted = dense >= 1e-150
    assert np.abs(ours[counted] / dense[counted] - 1).max() <= 1e-11
    assert tree[0][:n_arms] == pytest.approx(theta, rel=1e-12, abs=1e-9)


def test_probabilities_down_to_1e_300_are_right():
    theta = np.linspace(0, -690, 50)
    tree = sparse.new_tree(theta, False)
    ours = np.log(tree[1][:50] / tree[4][sparse.TOTAL])
    assert ours == pytest.approx(log_softmax(theta), abs=1e-9)


def test_a_far_shift_and_back_leaves_every_arm_as_it_was():
    theta = np.random.default_rng(0).normal(size=5000)
    tree = sparse.new_tree(theta, False)
    sparse_move(tree, 17, 5000.0)
    sparse_move(tree, 17, -5000.0)
    assert tree[1][:5000] / tree[4][sparse.TOTAL] == pytest.approx(softmax(theta), rel=1e-11)


def test_a_dominant_arm_costs_no_pass_over_the_others():
    tree = sparse.new_tree(np.zeros(100_000), False)
    sparse_move(tree, 3, 5000.0)
    passes = tree[4][sparse.FULL_SHIFTS]
    for _ in range(50):
        sparse_move(tree, 3, 400.0)
    assert tree[4][sparse.FULL_SHIFTS] <= passes + 1


@pytest.mark.parametrize("n_arms", [10, 300, 5000])
def test_arms_are_drawn_with_probability_p(n_arms):
    """Chi-square on a million draws, false-alarm rate 1e-6."""
    theta = np.random.default_rng(1).normal(size=n_arms)
    tree, counts = sparse.new_tree(theta, False), np.zeros(n_arms, dtype=np.int64)
    draw_many(tree, np.random.default_rng(2).random(1_000_000), counts)
    assert chisquare(counts, 1e6 * softmax(theta)).pvalue > 1e-6


@pytest.mark.parametrize("rule", [lb.NPG(learning_rate=0.01), lb.BaselineNPG(learning_rate=0.05)], ids=repr)
@pytest.mark.parametrize("engine", ["sparse", "lockstep"])
def test_runs_agree_with_the_dense_engine(rule, engine):
    family = lb.GapInstances(n_arms=100 if engine == "sparse" else 12)
    ours, dense = (
        lb.simulate(rule, family, horizon=400, runs=9, seed=3, checkpoints=5, engine=name) for name in (engine, "dense")
    )
    assert ours["regret"] == pytest.approx(dense["regret"], rel=1e-9)
    assert ours["optimal_probability"] == pytest.approx(dense["optimal_probability"], rel=1e-9, abs=1e-12)
