"""The theorems' constants, and the theorems run for real on tiny problems."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import logbarrier as lb
from logbarrier import theory
from logbarrier.theory import objective as phi
from logbarrier.theory import theorems
from logbarrier.theory.constants import CORRECTED, PRINTED
from logbarrier.theory.recurrences import Recurrence
from logbarrier.theory.theorems import ProblemClass
from logbarrier.verify import exercise
from logbarrier.verify.exercise import Tiny

settings_of_any_size = st.builds(
    lambda n_arms, share, r_max: ProblemClass(n_arms, share * 2 * r_max / (n_arms - 1), r_max),
    st.integers(2, 1000),
    st.floats(1e-6, 1),
    st.floats(0.01, 100),
)


@given(settings_of_any_size, st.floats(1e-6, 0.99), st.floats(1, 1e9), st.sampled_from([PRINTED, CORRECTED]))
def test_the_sample_complexity_keeps_its_promise_and_no_shorter_run_does(problem, share, c_star, which):
    epsilon = 2 * problem.r_max * share
    wanted = theorems.sample_complexity(problem, epsilon=epsilon, c_star=c_star, constants=which)
    assert wanted.bound <= epsilon * (1 + 1e-9)
    same = {"c_star": c_star, "learning_rate": wanted.learning_rate, "eta": wanted.eta}
    assert theorems.convergence_rate(problem, horizon=wanted.horizon, **same) == pytest.approx(wanted.bound)
    if 1 < wanted.horizon < 1e9:
        assert theorems.convergence_rate(problem, horizon=0.9 * wanted.horizon - 1, **same) > epsilon * (1 - 1e-9)


@given(settings_of_any_size, st.floats(1e-4, 0.99))
def test_the_worst_case_prescription_keeps_its_promise(problem, share):
    epsilon = 2 * problem.r_max * share
    wanted = theorems.worst_case_complexity(problem, epsilon=epsilon)
    assert wanted.bound <= epsilon * (1 + 1e-9)
    assert wanted.eta == pytest.approx(2 * problem.n_arms / epsilon)


@given(settings_of_any_size, st.floats(3, 30))
def test_no_other_eta_has_a_smaller_regret_bound(problem, log_horizon):
    horizon = 10.0**log_horizon
    wanted = theorems.regret(problem, horizon=horizon)
    for factor in (0.5, 0.9, 1.1, 2.0):
        eta = factor * wanted.eta
        alpha = theorems.best_local_learning_rate(problem, eta=eta, horizon=horizon)
        for other in (0.5 * alpha, alpha, min(2 * alpha, theorems.largest_local_learning_rate(problem, eta))):
            squared = theorems.local_convergence(problem, learning_rate=other, eta=eta, horizon=horizon)
            bound = horizon * theorems.average_suboptimality(problem, eta=eta, mean_squared_gradient=squared)
            assert bound >= wanted.bound * (1 - 1e-6)


def test_the_best_local_learning_rate_makes_its_bound_least():
    problem, eta, horizon = ProblemClass(3, 0.5), 30.0, 1e8
    alpha = theorems.best_local_learning_rate(problem, eta=eta, horizon=horizon)
    assert alpha < 0.9 * theorems.largest_local_learning_rate(problem, eta)
    least = theorems.local_convergence(problem, learning_rate=alpha, eta=eta, horizon=horizon)
    for factor in (0.95, 1.05):
        assert theorems.local_convergence(problem, learning_rate=factor * alpha, eta=eta, horizon=horizon) > least


def test_measured_averages_stay_below_the_bounds_on_two_and_three_arms():
    """Bounded rewards, the theory's own alpha and eta. The margins are wide: no false alarm is possible in practice."""
    for run in exercise.exercises(runs=2, seed=5, threads=1):
        found = run()
        assert found.measured < found.upper < found.bound, found
        assert found.measured > 0


def test_the_simulated_gradient_norm_is_the_objective_s():
    tiny = Tiny(3, 0.8)
    record = tiny.run(0.05, 20.0, 200, runs=3, seed=1, threads=1)
    norms = exercise.squared_gradient_norms(record, tiny.problem.means, 20.0)
    assert norms[:, 0] == pytest.approx(float(phi.gradient_norm(np.zeros(3), tiny.problem.means, 20.0)) ** 2)
    plain = exercise.squared_gradient_norms(record, tiny.problem.means, np.inf)
    assert np.sqrt(plain) == pytest.approx(record["gradient_norm"], rel=1e-9)
    two = Tiny(2, 0.5)
    record = two.run(0.05, 20.0, 200, runs=3, seed=1, threads=1)
    plain = exercise.squared_gradient_norms(record, two.problem.means, np.inf)
    assert np.sqrt(plain) == pytest.approx(record["gradient_norm"], rel=1e-9)


def test_averages_over_time_weigh_by_steps():
    record = lb.Record(np.array([0, 1, 3]), {"x": np.array([[0.0, 2.0, 2.0]])}, settings={}, provenance={})
    assert exercise.over_time(record, record["x"]) == pytest.approx([5 / 3])


@given(st.floats(0.01, 10), st.floats(0.01, 10), st.floats(0.01, 1e6), st.floats(1, 100), st.floats(0.01, 1))
def test_rho_and_nu_are_ordered_and_converge_at_their_rate(pull, push, eta, above, share):
    shape = Recurrence(learning_rate=1.0, pull=pull, push=push, eta=eta)
    start = above * shape.fixed_point
    alpha = share * float(shape.largest_learning_rate(start))
    recurrence = Recurrence(learning_rate=alpha, pull=pull, push=push, eta=eta)
    rho, nu = recurrence.rho(start, 200), recurrence.nu(start, 200)
    assert recurrence.step(recurrence.fixed_point) == pytest.approx(recurrence.fixed_point)
    assert (rho >= recurrence.fixed_point * (1 - 1e-12)).all()
    assert (np.diff(rho) <= 1e-12 * start).all()
    assert (nu >= rho * (1 - 1e-12)).all()
    exact = recurrence.fixed_point + (1 - recurrence.rate) ** np.arange(201) * (start - recurrence.fixed_point)
    assert nu == pytest.approx(exact, rel=1e-9)
    assert (recurrence.bound(start, np.arange(201)) >= nu * (1 - 1e-12)).all()
    assert recurrence.rate == pytest.approx(math.sqrt(alpha**2 * pull * push / (2 * eta)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ProblemClass(1, 0.1), "ProblemClass: n_arms must be at least 2, got 1"),
        (lambda: ProblemClass(3, 0.0), "ProblemClass: gap must be positive and finite, got 0.0"),
        (lambda: ProblemClass(3, 1.5), r"ProblemClass: gap must be at most 2 r_max/\(n_arms - 1\) = 1"),
        (lambda: ProblemClass(3, 0.1, -1.0), "ProblemClass: r_max must be positive and finite, got -1.0"),
        (
            lambda: theorems.sample_complexity(ProblemClass(3, 0.1), epsilon=0.0, c_star=9),
            "sample_complexity: epsilon must be positive and finite, got 0.0",
        ),
        (
            lambda: theorems.sample_complexity(ProblemClass(3, 0.1), epsilon=0.1, c_star=0.5),
            r"theorem: c_star must be at least 1, since it is a mean of 1/p\(a\*\)\^2, got 0.5",
        ),
        (
            lambda: theorems.worst_case_complexity(ProblemClass(3, 0.1), epsilon=-1.0),
            "worst_case_complexity: epsilon must be positive and finite, got -1.0",
        ),
        (
            lambda: theorems.worst_case_complexity(ProblemClass(3, 0.1), epsilon=2.0),
            "worst_case_complexity: epsilon must be below 2 r_max = 2",
        ),
        (lambda: theorems.regret(ProblemClass(3, 0.1), horizon=0), "regret: horizon must be positive and finite, got 0.0"),
        (
            lambda: theorems.local_convergence(ProblemClass(3, 0.1), learning_rate=1.0, eta=10, horizon=10),
            "local_convergence: learning_rate must be positive and at most",
        ),
        (
            lambda: Recurrence(learning_rate=0.1, pull=0.0, push=1.0, eta=1.0),
            "Recurrence: pull must be positive and finite, got 0.0",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_earlier_name_of_a_problem_class_warns():
    with pytest.warns(DeprecationWarning, match="theory.Setting is now theory.ProblemClass"):
        assert theory.Setting is theory.ProblemClass
