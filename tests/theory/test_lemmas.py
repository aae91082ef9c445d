"""Every lemma on random and searched points, and its formulas against plain loops written here."""

from __future__ import annotations

import math

import numpy as np
import pytest

from logbarrier.bandits.softmax import softmax
from logbarrier.theory import lemmas, one_step
from logbarrier.theory import objective as phi
from logbarrier.theory.sides import Sides, equality
from logbarrier.verify import statements
from logbarrier.verify.points import Instances, decode, draw
from logbarrier.verify.trials import CORRECTED, HOLDS, TOLERANCE, tightest, verify

FAILING_AS_PRINTED = {
    "smoothness, its cross term": 1,
    "sample gradient norm": 3,
    "barrier difference, its last step": 5,
    "descent, its bias terms": 6,
    "rho falls, induction hypothesis": 13,
    "iteration count": 8,
    "parameters of one policy": 14,
}


@pytest.mark.parametrize("statement", statements.STATEMENTS, ids=lambda statement: statement.name)
def test_each_statement_holds_on_10_000_random_and_24_searched_points_or_fails_as_the_errata_say(statement):
    (verdict,) = verify(instances=10_000, optimised=24, seed=1, statements=(statement,))
    expected = CORRECTED if statement.name in FAILING_AS_PRINTED else HOLDS
    assert verdict.verdict == expected, verdict
    if expected == CORRECTED:
        assert verdict.erratum == FAILING_AS_PRINTED[statement.name]
        assert verdict.corrected is not None
        assert verdict.corrected.ratio <= 1 + TOLERANCE


def test_a_false_statement_is_caught_and_its_witness_reproduces_it():
    too_tight = statements.Statement(
        "gradient norm, halved", "here", lambda x: Sides(1.5 * lemmas.gradient_norm_bound(x.theta, x.means, x.eta).ratio, 1.0)
    )
    (verdict,) = verify(instances=1000, optimised=8, statements=(too_tight,))
    assert verdict.verdict == "fails"
    point = verdict.printed.point
    again = lemmas.gradient_norm_bound(np.array(point["theta"]), np.array(point["means"]), point["eta"])
    assert 1.5 * again.ratio == pytest.approx(verdict.printed.ratio, rel=1e-9)


def test_a_false_correction_is_caught_even_where_the_printed_form_holds():
    statement = statements.Statement("", "", lambda x: Sides(0.5 + 0 * x.eta, 1.0), lambda x: Sides(1.5 + 0 * x.eta, 1.0))
    assert verify(instances=10, optimised=0, statements=(statement,))[0].verdict == "fails"


def test_the_sides_of_every_lemma_are_the_formulas_of_the_paper():
    """K = 3, written out once more from the paper with nothing but dot products."""
    theta, means, y, eta, r_max = np.array([0.7, -0.4, 0.1]), np.array([0.9, 0.2, -0.8]), np.array([0.3, -1.0, 0.5]), 4.0, 1.0
    p = np.exp(theta) / np.exp(theta).sum()
    j = p @ means
    slope = p * (means - j) + (1 - 3 * p) / eta
    norm, length = math.sqrt(slope @ slope), y @ y
    sample = -0.6 * p + (1 - 3 * p) / eta
    sample[0] += 0.6
    expected = {
        "smoothness": (lemmas.non_uniform_smoothness(theta, means, eta, y), None, 3 * (norm + 15 / eta) * length),
        "sharpened": (lemmas.non_uniform_smoothness_sharpened(theta, means, eta, y), None, (3 * norm + 4 / eta) * length),
        "lojasiewicz": (lemmas.weak_lojasiewicz(theta, means, 40.0), p[0] * (0.9 - j) - 2 / 40, None),
        "barrier": (lemmas.barrier_gradient_norm(theta), math.sqrt(((1 - 3 * p) ** 2).sum()), 6.0),
        "barrier sharpened": (lemmas.barrier_gradient_norm_sharpened(theta), None, math.sqrt(6)),
        "gradient": (lemmas.gradient_norm_bound(theta, means, eta), norm, 2 * (0.9 - j) + 6 / eta),
        "range": (lemmas.gradient_norm_by_range(theta, means, eta, r_max), norm, 2 + 6 / eta),
        "one norm": (lemmas.performance_gradient_one_norm(theta, means, r_max), (p * np.abs(means - j)).sum(), 1.0),
        "optimality": (lemmas.approximate_optimality(theta, means, eta), 0.9 - j if norm <= 1 / eta else 0.0, 3 / eta),
        "positive part": (lemmas.squared_positive_part(3.0, 1.0), 9.0, 4.0 + 6.0),
        "sample": (
            one_step.sample_gradient_norm(theta, 0.6, eta, r_max),
            math.sqrt(sample @ sample),
            math.sqrt(2) * (1 - p[0]) + 6 / eta,
        ),
        "difference": (one_step.barrier_difference(theta, 0.6, eta, 0.1), None, 0.6 * math.sqrt(sample @ sample)),
        "difference sharpened": (
            one_step.barrier_difference_sharpened(theta, 0.6, eta, 0.1),
            (np.log(softmax(theta + 0.1 * sample)) - np.log(p)).sum(),
            0.3 * math.sqrt(sample @ sample),
        ),
    }
    for name, (sides, lesser, greater) in expected.items():
        if lesser is not None:
            assert sides.lesser == pytest.approx(lesser, rel=1e-12), name
        if greater is not None:
            assert sides.greater == pytest.approx(greater, rel=1e-12), name


def test_searching_finds_tighter_points_than_drawing():
    form = statements.STATEMENTS[4].printed
    assert tightest(form, 2000, 24, 0).ratio > tightest(form, 2000, 0, 0).ratio


def test_the_same_seed_gives_the_same_witness():
    assert verify(instances=200, optimised=2, seed=3) == verify(instances=200, optimised=2, seed=3)


def test_ratio_and_slack_say_how_tight_a_statement_is():
    sides = Sides(np.array([1.0, -1.0, 3.0]), np.array([2.0, 1.0, 2.0]))
    assert sides.ratio.tolist() == [0.5, 0.0, 1.5]
    assert sides.slack.tolist() == [1.0, 2.0, -1.0]
    assert equality(1.0, 1.0 + 2e-9, 1.0).ratio == pytest.approx(2.0, rel=1e-6)


def points(count: int = 20, n_arms: int = 3) -> Instances:
    return decode(draw(np.random.default_rng(7), count, n_arms), n_arms)


def test_every_point_respects_its_bounds():
    x = points(2000, 4)
    assert (np.abs(x.means) <= x.r_max[:, None]).all()
    assert (np.abs(x.reward) <= x.r_max).all()
    rewards, chances = x.reward_law()
    assert (np.abs(rewards) <= x.r_max[:, None, None] * (1 + 1e-12)).all()
    assert (chances >= 0).all()
    assert chances.sum(axis=-1) == pytest.approx(1)
    np.testing.assert_allclose((rewards * chances).sum(axis=-1), x.means, rtol=1e-9, atol=1e-9)


def test_one_step_lemmas_agree_with_loops_over_arms_and_rewards():
    x = points()
    rewards, chances = x.reward_law()
    alpha = np.full(len(x.eta), 1e-3) / (x.r_max + x.n_arms / x.eta)
    bounding = one_step.self_bounding(x.theta, x.means, rewards, chances, x.eta, x.r_max, x.gap)
    falling = one_step.descent(x.theta, x.means, rewards, chances, x.eta, x.r_max, x.gap, alpha)
    for i in range(len(x.eta)):
        theta, means, eta, p, k = x.theta[i], x.means[i], x.eta[i], softmax(x.theta[i]), x.n_arms
        growth = x.r_max[i] ** 3 * k**1.5 / x.gap[i] ** 2
        norm = np.linalg.norm(phi.gradient(theta, means, eta))
        squared, after = 0.0, 0.0
        for a in range(k):
            for m in range(2):
                sample = -rewards[i, a, m] * p + (1 - k * p) / eta
                sample[a] += rewards[i, a, m]
                squared += p[a] * chances[i, a, m] * sample @ sample
                after += p[a] * chances[i, a, m] * (softmax(theta + alpha[i] * sample) @ means)
        assert bounding.lesser[i] == pytest.approx(squared, rel=1e-10)
        assert bounding.greater[i] == pytest.approx(16 * growth * norm + 2 * k / eta * (4 * k / eta + 16 * growth), rel=1e-12)
        kept = (1 - alpha[i] * 80 / 3 * growth) * norm**2
        size = (x.r_max[i] + k / eta) ** 2
        assert falling.lesser[i] == pytest.approx((p @ means - after) / alpha[i] + kept, rel=1e-6, abs=1e-10 * size)
        bias = k / eta * (2 * norm + 2 * math.sqrt(2) * x.r_max[i] + 5 * k / eta)
        assert falling.greater[i] == pytest.approx(bias, rel=1e-12)


def test_smoothness_between_iterates_agrees_with_the_objective_itself():
    x = points()
    alpha = 0.9 / (6 * (math.sqrt(2) * x.r_max + 2 * x.n_arms / x.eta))
    sides = one_step.smoothness_between_iterates(x.theta, x.means, x.reward, x.eta, x.r_max, alpha)
    sharp = one_step.smoothness_between_iterates_sharpened(x.theta, x.means, x.reward, x.eta, x.r_max, alpha)
    for i in range(len(x.eta)):
        theta, means, eta = x.theta[i], x.means[i], x.eta[i]
        step = alpha[i] * phi.sampled_gradient(theta, 0, x.reward[i], eta)
        remainder = phi.objective(theta + step, means, eta) - phi.objective(theta, means, eta)
        remainder -= phi.gradient(theta, means, eta) @ step
        size = 1e-13 * (x.r_max[i] + 35 * x.n_arms / eta)
        assert sides.lesser[i] == pytest.approx(abs(remainder), rel=1e-6, abs=size)
        assert sides.greater[i] - sharp.greater[i] == pytest.approx((15 * 3 - 4) / eta * (step @ step), rel=1e-9)


def test_lemmas_take_a_single_point():
    theta, means = np.array([0.3, -0.1, 0.0]), np.array([1.0, 0.5, -0.5])
    for sides in (
        lemmas.non_uniform_smoothness(theta, means, 10.0, np.array([1.0, 0.0, 0.0])),
        lemmas.weak_lojasiewicz(theta, means, 10.0),
        lemmas.gradient_norm_bound(theta, means, 10.0),
        lemmas.approximate_optimality(theta, means, 1e-3),
        one_step.sample_gradient_norm(theta, 0.7, 10.0, 1.0),
        one_step.barrier_difference(theta, 0.7, 10.0, 0.1),
    ):
        assert 0 <= sides.ratio <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"instances": 0}, "verify: instances must be at least 1, got 0"),
        ({"optimised": -1}, "verify: optimised must be at least 0, got -1"),
        ({"seed": -1}, "verify: seed must be at least 0, got -1"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        verify(**arguments)
