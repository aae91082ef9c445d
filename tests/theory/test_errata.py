"""Each erratum's witness, by its number in docs/errata.md, at points anyone can check by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.bandits.softmax import fisher, log_softmax, reduced_fisher, reduced_softmax, score, softmax
from logbarrier.theory import constants, lemmas, one_step, theorems
from logbarrier.theory import objective as phi
from logbarrier.theory.recurrences import Recurrence

THETA, MEANS = np.array([0.4, -0.2, 0.1]), np.array([0.9, 0.1, -0.6])


def test_1_the_cross_term_s_sign_and_the_sharper_smoothness_constant():
    """At theta = 0, r = 0, y = e_1, K = 2: y'Hy = -1/(2 eta); the printed line gives -3/(2 eta)."""
    theta, means, eta, y = np.zeros(2), np.zeros(2), 1.0, np.array([1.0, 0.0])
    p = softmax(theta)
    true = y @ phi.hessian(theta, means, eta) @ y
    printed = -(2 / eta) * (p @ (y * y)) - (2 / eta) * (p @ y) * (p @ y)
    mended = -(2 / eta) * (p @ (y * y)) + (2 / eta) * (p @ y) * (p @ y)
    assert true == pytest.approx(-0.5)
    assert mended == pytest.approx(true)
    assert printed == pytest.approx(-1.5)
    loose = lemmas.non_uniform_smoothness(THETA, MEANS, eta, np.ones(3))
    sharp = lemmas.non_uniform_smoothness_sharpened(THETA, MEANS, eta, np.ones(3))
    notes = 3 * (phi.gradient_norm(THETA, MEANS, eta) + 3 / eta) * 3
    assert sharp.greater < notes < loose.greater


def test_2_the_barrier_s_gradient_norm_has_a_smaller_supremum():
    for n_arms in (2, 10, 1000):
        vertex = np.zeros(n_arms)
        vertex[0] = 800.0
        assert lemmas.barrier_gradient_norm_sharpened(vertex).ratio == pytest.approx(1.0, abs=1e-12)
        assert lemmas.barrier_gradient_norm(vertex).ratio == pytest.approx(math.sqrt(1 - 1 / n_arms) / 2)


def test_3_a_bounded_mean_does_not_bound_the_sampled_gradient():
    assert one_step.sample_gradient_norm(THETA, 4.0, 1e6, r_max=1.0).ratio > 2
    assert one_step.sample_gradient_norm(THETA, 1.0, 1e6, r_max=1.0).ratio <= 1


def test_5_the_sum_of_theta_never_moves_under_lb_sgb():
    rule = lb.LogBarrierSGB(learning_rate=0.5, eta=7.0)
    assert rule.conserves_sum
    for arm in range(3):
        assert phi.sampled_gradient(THETA, arm, -1.3, 7.0).sum() == pytest.approx(0, abs=1e-15)


def test_6_two_bias_terms_exceed_their_bounds_by_3_2_and_6_4_at_the_printed_learning_rate():
    eta, gap, r_max = 1e12, 0.3, 1.0
    for n_arms in (2, 5, 50):
        rate = constants.printed_learning_rate(n_arms, gap, r_max, eta)
        ratios = one_step.bias_terms(n_arms, gap, r_max, eta, rate).ratio
        assert ratios == pytest.approx([1 / math.sqrt(2), 4.5 / math.sqrt(2), 9 / math.sqrt(2)], rel=1e-6)
        mended = constants.corrected_learning_rate(n_arms, gap, r_max, eta)
        assert one_step.bias_terms(n_arms, gap, r_max, eta, mended).ratio.max() == pytest.approx(1.0)


def test_7_two_arms_are_enough_for_the_constant_learning_rate():
    rate = constants.printed_learning_rate(2, 2.0, 1.0, 50.0)
    assert rate < 1 / (6 * constants.largest_sampled_gradient(2, 50.0, 1.0))


def test_8_the_iteration_count_is_at_most_not_at_least_its_linear_form():
    x, demand = 0.5, math.log(2 / 0.1)
    assert demand / math.log(1 / (1 - x)) < demand / x


def test_9_the_warm_up_supports_three_times_w_not_two():
    problem, eta = theorems.ProblemClass(3, 0.5), 40.0
    alpha = theorems.largest_local_learning_rate(problem, eta) / 2
    horizon = theorems.warm_up(problem, learning_rate=alpha, eta=eta)
    bound = theorems.local_convergence(problem, learning_rate=alpha, eta=eta, horizon=horizon)
    assert bound == pytest.approx(theorems.after_warm_up(problem, learning_rate=alpha, eta=eta))
    printed = theorems.after_warm_up(problem, learning_rate=alpha, eta=eta, constants=constants.PRINTED)
    assert printed == pytest.approx(2 / 3 * bound)
    assert bound == pytest.approx(3 * constants.stationarity_constant(3, 0.5, 1.0, eta) * alpha / eta)
    closer = theorems.ProblemClass(3, 0.05)
    assert theorems.warm_up(closer, learning_rate=alpha, eta=eta) == pytest.approx(horizon / 100, rel=0.02)  # Delta^2


def test_10_k_over_eta_is_right_and_cannot_be_improved():
    """The best of 30 arms at p = 1/2, the others alike: ||grad Phi|| = 1/eta, and J* - J is 0.999 K/eta."""
    n_arms, eta = 30, 2.0
    theta = np.zeros(n_arms)
    theta[0] = math.log(n_arms - 1)
    means = np.zeros(n_arms)
    means[0] = 4 * (n_arms / 2 - 1 + math.sqrt((n_arms - 1) / n_arms)) / eta * (1 - 1e-12)
    assert eta * phi.gradient_norm(theta, means, eta) == pytest.approx(1)
    assert lemmas.approximate_optimality(theta, means, eta).ratio == pytest.approx(0.99888, abs=1e-5)


def test_11_and_9_the_printed_constants_promise_twice_the_accuracy_asked_for():
    problem = theorems.ProblemClass(10, 0.1)
    printed = theorems.worst_case_complexity(problem, epsilon=0.1, constants=constants.PRINTED)
    mended = theorems.worst_case_complexity(problem, epsilon=0.1)
    assert printed.eta == mended.eta == pytest.approx(2 * 10 / 0.1)
    assert printed.bound == pytest.approx(0.2)
    assert mended.bound == pytest.approx(0.1)


@pytest.mark.parametrize("unit", [0.1, 3.0])
def test_12_measuring_rewards_in_another_unit_changes_no_horizon(unit):
    here, there = theorems.ProblemClass(5, 0.2), theorems.ProblemClass(5, 0.2 * unit, unit)
    one = theorems.worst_case_complexity(here, epsilon=0.3)
    other = theorems.worst_case_complexity(there, epsilon=0.3 * unit)
    assert other.horizon == pytest.approx(one.horizon)
    assert other.learning_rate * unit == pytest.approx(one.learning_rate)
    assert other.eta * unit == pytest.approx(one.eta)
    assert theorems.regret(there, horizon=1e15).bound == pytest.approx(unit * theorems.regret(here, horizon=1e15).bound)
    printed = [s.r_max**3 * 5**5.5 / s.gap**2 / e**5 for s, e in ((here, 0.3), (there, 0.3 * unit))]
    assert printed[1] / printed[0] == pytest.approx(unit**-4)


def test_12_the_orders_of_the_worst_case_and_the_regret_are_the_corrected_ones():
    def horizon(**changes):
        given = {"n_arms": 4, "gap": 1e-3, "r_max": 1.0, "epsilon": 1e-3} | changes
        problem = theorems.ProblemClass(given["n_arms"], given["gap"], given["r_max"])
        return theorems.worst_case_complexity(problem, epsilon=given["epsilon"]).horizon

    assert horizon(r_max=10.0) / horizon() == pytest.approx(10**7, rel=0.01)
    assert horizon(n_arms=400) / horizon() == pytest.approx(100**5.5, rel=0.01)
    assert horizon(gap=1e-4) / horizon() == pytest.approx(100, rel=0.01)
    assert horizon(epsilon=1e-4) / horizon() == pytest.approx(10**5, rel=0.01)

    def bound(n_arms=4, gap=1e-3, r_max=1.0, horizon=1e30):
        return theorems.regret(theorems.ProblemClass(n_arms, gap, r_max), horizon=horizon).bound

    assert bound(r_max=10.0) / bound() == pytest.approx(10**1.4, rel=0.02)
    assert bound(n_arms=40) / bound() == pytest.approx(10**1.1, rel=0.02)
    assert bound(gap=1e-4) / bound() == pytest.approx(10**0.4, rel=0.02)
    assert bound(horizon=1e35) / bound() == pytest.approx(1e4, rel=0.02)


def test_13_rho_stays_above_its_fixed_point():
    recurrence = Recurrence(learning_rate=0.1, pull=1.0, push=1.0, eta=200.0)
    assert recurrence.step(1.0) > recurrence.fixed_point


def test_14_softmax_ignores_a_shift_not_a_scale():
    assert softmax(THETA + 5.0) == pytest.approx(softmax(THETA))
    assert np.abs(softmax(2 * THETA) - softmax(THETA)).max() > 0.05


def test_15_the_entropy_bonus_is_unbiased_without_the_plus_one():
    p, log_p = softmax(THETA), log_softmax(THETA)
    mean = sum(p[a] * -log_p[a] * score(THETA, a) for a in range(3))
    entropy = -(p * log_p).sum()
    assert mean == pytest.approx(-p * (log_p + entropy), abs=1e-15)
    plus_one = sum(p[a] * (-log_p[a] - 1) * score(THETA, a) for a in range(3))
    assert plus_one == pytest.approx(mean, abs=1e-15)


def test_16_one_objective_value_two_different_gradient_paths():
    """dp of a gradient step in K preferences is F grad; in K - 1 preferences, last held at 0, it is not the same."""
    reduced = THETA[:-1] - THETA[-1]
    assert reduced_softmax(reduced) == pytest.approx(softmax(THETA))
    full = fisher(THETA) @ phi.gradient(THETA, MEANS, 5.0)
    slope = phi.gradient(THETA, MEANS, 5.0)[:-1]  # d Phi / d reduced: the other preference is held
    short = reduced_fisher(reduced) @ slope
    assert np.abs(full[:-1] - short).max() > 1e-3


def test_18_the_smallest_gap_of_the_experiments_is_far_below_the_optimal_gap():
    """n uniform means on a range of 1.9 have a smallest gap of median about log(2) 1.9/n^2; 400 draws, fixed seed, 6 sigma."""
    for n_arms in (10, 100, 1000):
        family = lb.GapInstances(n_arms=n_arms)
        gap = float(np.median([family.problem(1, run).minimum_gap for run in range(400)]))
        assert gap == pytest.approx(math.log(2) * 1.9 / (n_arms - 1.5) ** 2, rel=0.3)
        assert constants.corrected_learning_rate(n_arms, gap, 1.0, 1000.0) < 1e-7


def test_19_the_local_convergence_proof_needs_a_second_limit_on_alpha():
    """At alpha = 1/(2L) and a strong barrier the factor 3/(2 - 6 alpha G) is not below 5/3; it is not even positive."""
    n_arms, gap, eta = 2, 2.0, 0.01
    alpha = 1 / (2 * constants.curvature_limit(n_arms, gap, 1.0))
    assert 2 - 6 * alpha * constants.largest_sampled_gradient(n_arms, eta, 1.0) < 0
    mended = theorems.largest_local_learning_rate(theorems.ProblemClass(n_arms, gap), eta)
    assert 3 / (2 - 6 * mended * constants.largest_sampled_gradient(n_arms, eta, 1.0)) == pytest.approx(5 / 3)


def test_22_c_star_is_at_least_k_squared_from_the_uniform_start():
    record = lb.simulate(lb.LogBarrierSGB(learning_rate=0.1, eta=100), lb.GapInstances(n_arms=7), horizon=10, runs=3, seed=0)
    assert record["inverse_square_probability"][:, 0] == pytest.approx(49.0)
