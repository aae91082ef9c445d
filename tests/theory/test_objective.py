"""Phi_eta and its derivatives against 60-digit differences, and its maximiser against its own conditions."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logbarrier.bandits.softmax import softmax
from logbarrier.theory import objective as phi
from logbarrier.theory.maximiser import maximiser, maximising_policy

STEP = mpmath.mpf(10) ** -20  # central differences at 60 digits: the error is about 1e-20 in the second derivative


class Exact:
    """Phi_eta at 60 digits, with one or two preferences moved, in a few operations."""

    def __init__(self, theta, means, eta):
        self.theta, self.means = [[mpmath.mpf(x) for x in values] for values in (theta, means)]
        self.eta = mpmath.mpf(eta)
        self.weights = [mpmath.exp(x) for x in self.theta]
        self.total = mpmath.fsum(self.weights)
        self.reward = mpmath.fsum(w * r for w, r in zip(self.weights, self.means, strict=True))
        self.sum = mpmath.fsum(self.theta)

    def moved(self, moves):
        """Phi_eta after adding moves[a] to theta_a."""
        total, reward, added = self.total, self.reward, 0
        for a, move in moves.items():
            growth = self.weights[a] * mpmath.expm1(move)
            total, reward, added = total + growth, reward + growth * self.means[a], added + move
        return reward / total + (self.sum + added - len(self.theta) * mpmath.log(total)) / self.eta

    def gradient(self):
        return [float((self.moved({a: STEP}) - self.moved({a: -STEP})) / (2 * STEP)) for a in range(len(self.theta))]

    def second(self, a, b):
        if a == b:
            return float((self.moved({a: STEP}) - 2 * self.moved({}) + self.moved({a: -STEP})) / STEP**2)
        ends = self.moved({a: STEP, b: STEP}) + self.moved({a: -STEP, b: -STEP})
        return float((ends - self.moved({a: STEP, b: -STEP}) - self.moved({a: -STEP, b: STEP})) / (4 * STEP**2))


def cases():
    generator = np.random.default_rng(0)
    for n_arms in (2, 3, 5, 10, 50):
        for reach in (0.0, 1.0, 30.0):
            yield generator.uniform(-reach, reach, n_arms), generator.uniform(-1, 1, n_arms), 10.0 ** generator.uniform(-1, 4)


@pytest.mark.parametrize(("theta", "means", "eta"), list(cases()))
def test_value_gradient_and_hessian_match_60_digit_differences_to_1e_10(theta, means, eta):
    with mpmath.workdps(60):
        exact = Exact(theta, means, eta)
        size = 1.0 + len(theta) / eta  # of the derivatives
        assert float(phi.objective(theta, means, eta)) == pytest.approx(float(exact.moved({})), rel=1e-13, abs=1e-13)
        assert phi.gradient(theta, means, eta) == pytest.approx(exact.gradient(), rel=1e-10, abs=1e-14 * size)
        hessian = phi.hessian(theta, means, eta)
        second = [[exact.second(a, b) for b in range(len(theta))] for a in range(len(theta))]
        np.testing.assert_allclose(hessian, second, rtol=1e-10, atol=1e-14 * size)


def test_the_gradient_of_j_keeps_its_relative_accuracy_where_one_arm_is_nearly_certain():
    theta, means = np.array([30.0, -30.0, -28.0]), np.array([0.7, 0.3, -0.2])
    with mpmath.workdps(60):
        exact = Exact(theta, means, mpmath.inf).gradient()
    assert phi.gradient(theta, means, np.inf) == pytest.approx(exact, rel=1e-12, abs=0)


def test_the_objective_is_finite_at_extreme_logits():
    theta = np.array([-1e4, 1e4, 0.0])
    assert np.isfinite(phi.objective(theta, np.ones(3), 1.0))
    assert np.isfinite(phi.hessian(theta, np.ones(3), 1.0)).all()


def test_curvature_is_the_hessian_along_a_direction():
    generator = np.random.default_rng(1)
    theta, means, direction = generator.normal(size=(3, 7, 5))
    eta = generator.uniform(0.1, 10, 7)
    hessian = phi.hessian(theta, means, eta)
    expected = np.einsum("ni,nij,nj->n", direction, hessian, direction)
    assert phi.curvature(theta, means, eta, direction) == pytest.approx(expected, rel=1e-12)


def test_the_mean_of_the_sampled_gradient_is_the_gradient():
    generator = np.random.default_rng(2)
    theta, means = generator.normal(size=(2, 6))
    p = softmax(theta)
    mean = sum(p[a] * phi.sampled_gradient(theta, a, means[a], 3.0) for a in range(6))
    assert mean == pytest.approx(phi.gradient(theta, means, 3.0), abs=1e-15)


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0])
def test_changes_over_a_step_are_right_to_1e_11_however_small_the_step(size):
    generator = np.random.default_rng(3)
    theta, means, step = generator.normal(size=(3, 4))
    step *= size
    with mpmath.workdps(60):
        exact = Exact(theta, means, mpmath.inf)
        moved = dict(enumerate(map(mpmath.mpf, step)))
        performance = exact.moved(moved) - exact.moved({})
        log_barrier = Exact(theta, np.zeros(4), 1)
        difference = log_barrier.moved(moved) - log_barrier.moved({})
    assert float(phi.performance_change(theta, step, means)) == pytest.approx(float(performance), rel=1e-11)
    assert float(phi.barrier_change(theta, step)) == pytest.approx(float(difference), rel=1e-11)


means_lists = st.lists(st.floats(-1, 1), min_size=2, max_size=30)


@given(means_lists, st.floats(-3, 6))
def test_the_maximiser_is_stationary_and_obeys_its_closed_form(means, log_eta):
    eta = 10.0**log_eta
    best, r, n_arms = maximiser(means, eta), np.array(means), len(means)
    assert best.policy.sum() == pytest.approx(1, abs=1e-13)
    assert best.policy == pytest.approx(1 / (n_arms + eta * (best.performance - r)), rel=1e-7)
    at_best = phi.gradient(np.log(best.policy), r, eta)
    assert np.abs(at_best).max() < 1e-13 * (1 + n_arms / eta)
    assert best.performance == pytest.approx(best.policy @ r, abs=1e-13)
    assert -1e-15 <= best.bias <= (n_arms - 1) / eta * (1 + 1e-9)
    assert best.smallest_probability >= (1 - 1e-9) / (n_arms + eta * np.ptp(r))


def test_no_other_policy_beats_the_maximiser():
    generator = np.random.default_rng(4)
    means = generator.uniform(-1, 1, (200, 6))
    eta = 10.0 ** generator.uniform(0, 4, 200)
    best = np.log(maximising_policy(means, eta))
    for size in (1e-3, 1e-1, 3.0):
        other = best + size * generator.normal(size=best.shape)
        assert (phi.objective(other, means, eta) <= phi.objective(best, means, eta) + 1e-12).all()


@pytest.mark.parametrize(("n_arms", "eta", "plateau"), [(10, 1e2, 0.79), (10, 1e3, 0.98), (100, 2e3, 0.92), (1000, 5e3, 0.68)])
def test_the_plateaus_of_the_paper_s_settings_are_known(n_arms, eta, plateau):
    import logbarrier as lb

    family = lb.GapInstances(n_arms=n_arms)
    levels = [maximiser(family.problem(0, run).means, eta).plateau for run in range(20)]
    assert np.mean(levels) == pytest.approx(plateau, abs=0.01)


def test_bad_input_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match="maximiser: eta must be positive and finite, got 0.0"):
        maximiser([1.0, 0.0], 0.0)
    with pytest.raises(ValueError, match="maximiser: means must be a sequence of at least 2 numbers"):
        maximiser([1.0], 1.0)
