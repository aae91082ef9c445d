"""Softmax and its geometry against mpmath, differences and enumeration."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logbarrier.bandits.softmax import (
    fisher,
    fisher_log_determinant,
    log_softmax,
    reduced_fisher,
    reduced_softmax,
    score,
    softmax,
)

logits = st.lists(st.floats(-30, 30), min_size=2, max_size=12).map(np.array)


@given(logits)
def test_softmax_and_its_logarithm_are_right_to_1e_13(theta):
    with mpmath.workdps(50):
        total = mpmath.fsum(mpmath.exp(mpmath.mpf(x)) for x in theta)
        exact = [mpmath.exp(mpmath.mpf(x)) / total for x in theta]
        assert softmax(theta) == pytest.approx([float(p) for p in exact], rel=1e-13)
        assert log_softmax(theta) == pytest.approx([float(mpmath.log(p)) for p in exact], rel=1e-13, abs=1e-13)


def test_softmax_survives_extreme_logits():
    assert softmax(np.array([-1e4, 1e4])).tolist() == [0.0, 1.0]
    assert log_softmax(np.array([-1e4, 1e4])).tolist() == [-2e4, 0.0]


@given(logits)
def test_score_is_the_derivative_of_log_p(theta):
    arm, step = len(theta) - 1, 1e-6
    differences = [
        (log_softmax(theta + step * e)[arm] - log_softmax(theta - step * e)[arm]) / (2 * step) for e in np.eye(len(theta))
    ]
    assert score(theta, arm) == pytest.approx(differences, abs=1e-8)


@given(logits)
def test_fisher_is_the_covariance_of_the_action_features(theta):
    p, features = softmax(theta), np.eye(len(theta))
    by_scores = sum(p[a] * np.outer(score(theta, a), score(theta, a)) for a in range(len(theta)))
    centred = features - p
    covariance = (centred.T * p) @ centred
    assert fisher(theta) == pytest.approx(by_scores, abs=1e-15)
    assert fisher(theta) == pytest.approx(covariance, abs=1e-15)
    assert fisher(theta) @ np.ones(len(theta)) == pytest.approx(0, abs=1e-15)


@given(st.lists(st.floats(-6, 6), min_size=1, max_size=8).map(np.array))
def test_log_determinant_of_the_reduced_fisher_matrix_is_the_log_barrier(reduced):
    with mpmath.workdps(60):
        theta = [mpmath.mpf(x) for x in reduced] + [mpmath.mpf(0)]
        total = mpmath.fsum(mpmath.exp(x) for x in theta)
        p = [mpmath.exp(x) / total for x in theta[:-1]]
        matrix = mpmath.matrix(len(p), len(p))
        for i in range(len(p)):
            for j in range(len(p)):
                matrix[i, j] = (p[i] if i == j else 0) - p[i] * p[j]
        exact = float(mpmath.log(mpmath.det(matrix)))
    assert fisher_log_determinant(reduced) == pytest.approx(exact, rel=1e-12)
    assert np.linalg.slogdet(reduced_fisher(reduced))[1] == pytest.approx(exact, rel=1e-8)


def test_the_reduced_softmax_is_the_softmax_with_the_last_preference_at_zero():
    assert reduced_softmax(np.array([1.0, 2.0])) == pytest.approx(softmax(np.array([1.0, 2.0, 0.0])))
