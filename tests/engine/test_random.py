"""Philox against its published vectors; uniforms and normals against their laws. Seeds are fixed, false-alarm rate 1e-6."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from logbarrier.engine.random import fill_arm_normals, fill_uniforms, philox, standard_normal, step_uniforms, stream_key

FALSE_ALARM = 1e-6


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5E169C58D, 0xBC57AC4C9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D41C83B0E, 0xA20BC7C66D5451FD)),
        ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), (0xD16CFE0994FDCCEB, 0x5001E42024126EA1)),
    ],
)
def test_philox_gives_the_published_vectors(counter, key, words):
    assert philox(*counter, np.array(key, dtype=np.uint64)) == words


def test_a_batch_is_the_steps_one_by_one():
    key, uniforms = stream_key(5), np.empty((40, 2))
    fill_uniforms(uniforms.ravel(), 1000, 40, 3, key)
    assert [(arm, reward) for arm, reward in uniforms] == [step_uniforms(1000 + i, 3, key) for i in range(40)]


def drawn(count: int) -> tuple[np.ndarray, np.ndarray]:
    uniforms = np.empty((count, 2))
    fill_uniforms(uniforms.ravel(), 0, count, 0, stream_key(1))
    return uniforms[:, 0].copy(), uniforms[:, 1].copy()


def test_uniforms_are_uniform_and_the_two_of_a_step_are_independent():
    arms, rewards = drawn(200_000)
    for uniforms in (arms, rewards):
        assert 0 < uniforms.min() < uniforms.max() < 1
        assert stats.kstest(uniforms, "uniform").pvalue > FALSE_ALARM
    cells = np.histogram2d(arms, rewards, bins=16)[0].ravel()
    assert stats.chisquare(cells).pvalue > FALSE_ALARM


def test_different_runs_and_seeds_give_different_numbers():
    key, other = stream_key(0), stream_key(1)
    drawn = {step_uniforms(0, 0, key), step_uniforms(1, 0, key), step_uniforms(0, 1, key), step_uniforms(0, 0, other)}
    assert len(drawn) == 4


@given(st.floats(2.0**-53, 1 - 2.0**-53))
def test_normal_quantile_is_right_to_1e_14(u):
    with mpmath.workdps(50):
        exact = mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(u) - 1)
        assert abs(standard_normal(u) - exact) <= 1e-14 * abs(exact) + 1e-16


def test_normals_have_the_normal_law_and_its_tails():
    _, uniforms = drawn(400_000)
    normals = np.array([standard_normal(u) for u in uniforms])
    assert stats.kstest(normals, "norm").pvalue > FALSE_ALARM
    for power, expected, spread in ((1, 0, 1), (2, 1, np.sqrt(2)), (3, 0, np.sqrt(15)), (4, 3, np.sqrt(96))):
        assert abs((normals**power).mean() - expected) < 4.9 * spread / np.sqrt(len(normals))
    beyond = (np.abs(normals) > 4).sum()
    assert stats.binomtest(int(beyond), len(normals), 2 * stats.norm.sf(4)).pvalue > FALSE_ALARM


def test_normals_reach_beyond_six_sigma_symmetrically():
    assert standard_normal(2.0**-53) == -standard_normal(1 - 2.0**-53) < -8.2
    assert standard_normal(stats.norm.sf(6.0)) == pytest.approx(-6.0, rel=1e-12)


def test_arm_normals_are_standard_and_independent():
    """Of 7 arms over 20 000 steps; the 35 moments stay within 6 standard errors."""
    key, steps, n_arms = stream_key(1), 20_000, 7
    normals = np.empty((steps, n_arms))
    for t in range(steps):
        fill_arm_normals(normals[t], (key, t, 3))
    assert np.abs(normals.mean(axis=0)).max() < 6 / np.sqrt(steps)
    second = normals.T @ normals / steps
    assert np.abs(np.diag(second) - 1).max() < 6 * np.sqrt(2 / steps)
    assert np.abs(second - np.diag(np.diag(second))).max() < 6 / np.sqrt(steps)
