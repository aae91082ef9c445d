"""The Fisher spectrum against 100-digit eigenvalues, and what it says of NPG."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logbarrier.bandits.softmax import fisher, softmax
from logbarrier.theory import fisher as geometry
from logbarrier.theory.maximiser import maximiser

logits = st.lists(st.floats(-30, 30) | st.integers(-2, 2).map(float), min_size=2, max_size=7).map(np.array)


@given(logits)
def test_smallest_eigenvalues_have_full_relative_accuracy(theta):
    n_arms = len(theta)
    with mpmath.workdps(100):
        weights = [mpmath.exp(mpmath.mpf(x)) for x in theta]
        p = [w / mpmath.fsum(weights) for w in weights]
        matrix = mpmath.matrix(n_arms, n_arms)
        for a in range(n_arms):
            for b in range(n_arms):
                matrix[a, b] = (p[a] if a == b else 0) - p[a] * p[b]
        tangent = float(sorted(mpmath.eigsy(matrix, eigvals_only=True))[1])
        reduced = float(min(mpmath.eigsy(matrix[: n_arms - 1, : n_arms - 1], eigvals_only=True)))
    assert geometry.tangent_smallest_eigenvalue(theta) == pytest.approx(tangent, rel=1e-11, abs=0)
    assert geometry.reduced_smallest_eigenvalue(theta) == pytest.approx(reduced, rel=1e-11, abs=0)


@given(logits)
def test_the_smallest_probability_is_below_the_tangent_and_above_the_reduced_eigenvalue(theta):
    p = softmax(theta)
    assert geometry.tangent_smallest_eigenvalue(theta) >= p.min() * (1 - 1e-12)
    assert geometry.reduced_smallest_eigenvalue(theta) <= p[:-1].min() * (1 + 1e-12)


def test_no_constant_makes_softmax_fisher_non_degenerate_but_the_barrier_s_maximiser_is():
    degenerate = [geometry.reduced_smallest_eigenvalue(np.array([size, 0.0, 0.0])) for size in (0, 10, 20, 40)]
    assert np.diff(degenerate).max() < 0
    assert degenerate[-1] < 1e-17
    means = np.array([1.0, 0.2, -0.7])
    for eta in (1.0, 1e3, 1e9):
        theta = np.log(maximiser(means, eta).policy)
        assert geometry.tangent_smallest_eigenvalue(theta) >= geometry.guaranteed_non_degeneracy(3, eta, 1.7) * (1 - 1e-9)


def test_condition_number_is_the_ratio_of_the_extreme_eigenvalues():
    theta = np.array([1.0, 0.0, -1.0, 0.5])
    eigenvalues = np.linalg.eigvalsh(fisher(theta))
    assert geometry.condition_number(theta) == pytest.approx(eigenvalues[-1] / eigenvalues[1], rel=1e-10)
    assert geometry.condition_number(np.zeros(5)) == pytest.approx(1.0)


def test_the_constant_of_a_trajectory_is_its_worst_point():
    path = np.outer(np.array([0.0, 3.0, 8.0, 2.0]), [1.0, 0.0, -1.0])
    found = geometry.non_degeneracy_along(path)
    assert found.index == 2
    assert found.constant == geometry.tangent_smallest_eigenvalue(path[2])


@given(logits)
def test_the_natural_direction_solves_the_fisher_system(theta):
    p = softmax(theta)
    for arm in range(len(theta)):
        x = geometry.natural_direction(theta, arm)
        score = -p
        score[arm] += 1
        # F x = p * (x - p.x), row by row
        assert p * (x - p @ x) == pytest.approx(score, rel=1e-9, abs=1e-9 + 1e-16 * np.abs(x).max())
        assert x.sum() == pytest.approx(0, abs=1e-9 * np.abs(x).max())


@given(logits.filter(lambda theta: np.ptp(theta) < 20))
def test_step_second_moments_are_the_enumerated_ones(theta):
    p = softmax(theta)
    natural = sum(p[a] * np.sum(geometry.natural_direction(theta, a) ** 2) for a in range(len(p)))
    vanilla = sum(p[a] * np.sum((np.eye(len(p))[a] - p) ** 2) for a in range(len(p)))
    assert geometry.natural_step_second_moment(theta) == pytest.approx(natural, rel=1e-9)
    assert geometry.score_second_moment(theta) == pytest.approx(vanilla, rel=1e-9, abs=1e-15)


def test_npg_s_step_blows_up_where_sgb_s_vanishes():
    near, far = np.array([20.0, 0.0, 0.0]), np.zeros(3)
    assert geometry.natural_step_second_moment(near) > 1e8 * geometry.natural_step_second_moment(far)
    assert geometry.score_second_moment(near) < 1e-8
