"""The dense policy: draws, moves and sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from logbarrier.bandits.loops import policy as dense
from logbarrier.bandits.loops.policy import SHIFT, TOTAL, new_policy, opened_policy
from logbarrier.bandits.softmax import softmax
from logbarrier.engine.codegen.pointers import pointer_to
from logbarrier.engine.compiled import compiled, from_python


@from_python
@compiled
def draw_arm(arrays, u):
    return dense.draw_arm(opened_policy(arrays), u)


@from_python
@compiled
def move(arrays, arm, lift, drain):
    dense.move(opened_policy(arrays), arm, lift, drain)


@from_python
@compiled
def move_from(arrays, probabilities, arm, lift, drain):
    dense.move_from(opened_policy(arrays), pointer_to(probabilities), probabilities.shape[0], arm, lift, drain)


@from_python
@compiled
def mix_with_uniform(arrays, n_arms, share):
    dense.mix_with_uniform(opened_policy(arrays), n_arms, share)


def probabilities(policy, n_arms):
    return policy[1][:n_arms] / policy[3][TOTAL]


@pytest.mark.parametrize("n_arms", [2, 7, 8, 9, 64, 65, 1000])
def test_a_new_policy_is_the_softmax_of_theta(n_arms):
    theta = np.random.default_rng(n_arms).normal(scale=5, size=n_arms)
    assert probabilities(new_policy(theta), n_arms) == pytest.approx(softmax(theta), rel=1e-13)


@pytest.mark.parametrize("n_arms", [2, 3, 64, 65, 500])
def test_a_move_adds_the_lift_and_drains_by_p(n_arms):
    theta = np.random.default_rng(1).normal(size=n_arms)
    policy = new_policy(theta)
    p = softmax(theta)
    move(policy, n_arms - 1, 0.3, 0.7)
    expected = theta - 0.7 * p
    expected[-1] += 0.3
    assert policy[0][:n_arms] == pytest.approx(expected, abs=1e-14)
    assert probabilities(policy, n_arms) == pytest.approx(softmax(expected), rel=1e-13)


def test_a_move_without_drain_touches_one_arm_and_gives_the_bits_of_a_full_pass():
    theta = np.random.default_rng(2).normal(size=200)
    sparse, full = new_policy(theta), new_policy(theta)
    move(sparse, 70, 0.5, 0.0)
    full[0][70] += 0.5
    move(full, 0, 0.0, 1e-320)  # a drain too small to move anything, but not zero
    assert sparse[3][TOTAL] == full[3][TOTAL]
    assert (sparse[1] == full[1]).all()


def test_a_late_move_drains_by_the_given_probabilities():
    theta, earlier = np.array([0.0, 1.0, 2.0]), np.array([0.7, 0.2, 0.1])
    policy = new_policy(theta)
    move_from(policy, earlier, 1, 0.5, 2.0)
    assert policy[0][:3] == pytest.approx([-1.4, 1.1, 1.8])


def test_mixing_moves_half_way_to_uniform():
    policy = new_policy(np.array([0.0, 3.0, 800.0]))
    mix_with_uniform(policy, 3, 0.5)
    assert probabilities(policy, 3) == pytest.approx([1 / 6, 1 / 6, 4 / 6], rel=1e-14)


@given(st.lists(st.floats(-1e4, 1e4), min_size=2, max_size=20), st.floats(2.0**-53, 1 - 2.0**-53))
def test_an_arm_of_zero_probability_is_never_drawn(theta, u):
    policy = new_policy(np.array(theta))
    arm = draw_arm(policy, u)
    assert 0 <= arm < len(theta)
    assert policy[1][arm] > 0


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.integers(0, 8))
def test_huge_moves_leave_a_policy(lift, drain, arm):
    policy = new_policy(np.linspace(-30, 30, 9))
    for _ in range(5):
        move(policy, arm, lift, drain)
        p = probabilities(policy, 9)
        assert (p >= 0).all()
        assert p.sum() == pytest.approx(1, abs=1e-12)
        assert 2.0**-64 <= policy[3][TOTAL] <= 2.0**64


def test_the_shift_follows_theta_only_when_it_must():
    policy = new_policy(np.zeros(4))
    move(policy, 0, 10.0, 0.0)
    assert policy[3][SHIFT] == 0.0
    move(policy, 0, 1000.0, 0.0)
    assert policy[3][SHIFT] == 1010.0


@pytest.mark.parametrize("n_arms", [3, 64, 300])
def test_draws_follow_the_weights(n_arms):
    """Chi-square on 100 000 evenly spread u: deterministic, so any real bias fails."""
    policy = new_policy(np.random.default_rng(3).normal(scale=2, size=n_arms))
    draws = 100_000
    u = (np.arange(draws) + 0.5) / draws
    counts = np.bincount([draw_arm(policy, x) for x in u], minlength=n_arms)
    expected = draws * probabilities(policy, n_arms)
    assert np.abs(counts - expected).max() <= 1.0
    assert chisquare(counts, expected).pvalue > 0.99
