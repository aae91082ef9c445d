"""Evidence: p-values and intervals against scipy, and the weakest of several decides."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from logbarrier.paper.evidence import above, below, close, every_run_above, greater, share_above, weakest

RNG = np.random.default_rng(0)
ONE, OTHER = RNG.normal(0.3, 1, 40), RNG.normal(0, 2, 60)


def test_one_sample_is_scipys_t_test():
    found = above("x", ONE, 0.1)
    test = stats.ttest_1samp(ONE, 0.1, alternative="greater")
    interval = stats.ttest_1samp(ONE, 0).confidence_interval(0.95)
    assert (found.p, found.low, found.high) == pytest.approx((test.pvalue, interval.low, interval.high))
    assert below("x", ONE, 0.1).p == pytest.approx(1 - test.pvalue)
    assert found.effect == ONE.mean()


def test_two_samples_are_scipys_welch_test():
    found = greater("x", ONE, OTHER)
    test = stats.ttest_ind(ONE, OTHER, equal_var=False, alternative="greater")
    interval = stats.ttest_ind(ONE, OTHER, equal_var=False).confidence_interval(0.95)
    assert (found.p, found.low, found.high) == pytest.approx((test.pvalue, interval.low, interval.high))


def test_a_share_is_scipys_binomial_test():
    hits = np.arange(50) < 47
    found = share_above("x", hits, 0.9)
    assert found.p == pytest.approx(stats.binom.sf(46, 50, 0.9))
    assert found.low == pytest.approx(stats.beta.ppf(0.025, 47, 4))
    assert found.effect == 0.94


def test_close_needs_both_sides():
    values = RNG.normal(5, 0.1, 30)
    assert close("x", values, 5, 0.1).holds
    assert not close("x", values, 5.2, 0.1).holds
    assert not close("x", values, 4.8, 0.1).holds


def test_constant_values_are_certain():
    assert above("x", np.ones(5), 0.5).p == 0
    assert above("x", np.ones(5), 1.0).p == 1
    assert not above("x", np.ones(5), 1.0).holds


def test_every_run_means_the_smallest():
    assert every_run_above("x", np.array([0.2, 0.5]), 0.1).holds
    assert not every_run_above("x", np.array([0.05, 0.5]), 0.1).holds


def test_the_weakest_decides():
    strong, weak, failing = above("strong", ONE + 5, 0), above("weak", ONE + 0.5, 0), below("failing", ONE, -1)
    assert weakest([strong, weak]).where == "weak"
    assert weakest([failing, strong, weak]).where == "failing"
    assert not weakest([every_run_above("run", np.array([-1.0]), 0), strong]).holds


def test_a_true_null_is_rejected_as_often_as_stated():
    """5000 samples on the bound: each side is binomial(5000, 0.025), 4.9 standard deviations allowed, false alarm 2e-6."""
    found = [above("x", RNG.normal(0, 1, 10), 0) for _ in range(5000)]
    for wrongly in (sum(one.holds for one in found), sum(one.fails for one in found)):
        assert abs(wrongly - 125) < 4.9 * np.sqrt(5000 * 0.025 * 0.975)


@pytest.mark.parametrize("kind", [above, below])
def test_an_interval_that_covers_the_bound_is_undecided(kind):
    found = kind("x", ONE, ONE.mean())
    assert found.low < found.bound < found.high
    assert not found.holds
    assert not found.fails


def test_a_share_whose_interval_covers_the_bound_is_undecided():
    found = share_above("x", np.arange(50) < 45, 0.9)
    assert (found.holds, found.fails) == (False, False)
    assert share_above("x", np.arange(50) < 20, 0.9).fails


def test_one_of_many_comparisons_fails_by_chance_less_easily():
    """Just outside its own interval a comparison fails alone, and leaves doubt among ten."""
    values = RNG.normal(0, 1, 40)
    bound = above("x", values, 0.0).high + 1e-3
    close_call, sure = above("close call", values, bound), above("sure", values, -9.0)
    assert weakest([close_call]).fails
    assert not weakest([close_call] + [sure] * 9).fails
    assert weakest([close_call] + [sure] * 9).where == "close call"
    assert weakest([above("far", values, 9.0)] + [sure] * 9).fails


def test_one_failure_decides_against_doubt_elsewhere():
    doubtful, failing = above("doubtful", ONE, ONE.mean()), above("failing", ONE, 10.0)
    assert weakest([doubtful, failing]).where == "failing"
    assert weakest([doubtful, above("sure", ONE + 5, 0)]).where == "doubtful"
