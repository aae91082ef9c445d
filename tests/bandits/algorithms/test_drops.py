"""The watch for drops: how soon it notices one, and that it stays silent where nothing drops."""

from __future__ import annotations

import numpy as np
import pytest

from logbarrier.bandits.algorithms.drops import ALLOWANCES, SURE, drop_noticed

SIZE = len(ALLOWANCES)


def first_notice(falls, age=0.0):
    """The step at which a drop is noticed, 0 for never, and the sums then."""
    sums = np.zeros(SIZE)
    for step, fall in enumerate(falls, start=1):
        if drop_noticed(float(fall), age + step, sums):
            return step, sums
    return 0, sums


def test_the_sums_are_pages_recursion():
    falls = np.random.default_rng(0).normal(size=400)
    _, sums = first_notice(falls, age=10_000.0)
    expected = np.zeros(SIZE)
    for fall in np.clip(falls, -3.0, 3.0):
        expected = np.maximum(expected + fall - ALLOWANCES, 0.0)
    assert sums == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("drop", [0.4, 1.0, 2.0])
def test_a_constant_drop_is_noticed_when_one_line_is_crossed(drop):
    """Without noise the sum of allowance k is n (drop - k), and its line (16 + log age)/(2 k)."""
    age = 10_000.0
    steps = np.arange(1, 2000)[:, None]
    crossed = 2.0 * np.array(ALLOWANCES) * steps * (drop - np.array(ALLOWANCES)) > SURE + np.log(age + steps)
    assert first_notice(np.full(2000, drop), age)[0] == 1 + np.flatnonzero(crossed.any(axis=1))[0]


@pytest.mark.parametrize("n", [10, 150])
def test_nothing_is_noticed_before_the_mean_is_known(n):
    assert first_notice(np.full(n, 3.0)) == (0, pytest.approx(np.zeros(SIZE)))


def test_silence_on_a_steady_problem():
    """An excursion passes with probability exp(-16) / age; 2e5 normal steps from age 1000 on raise a false alarm in fewer than
    2 of 10,000 seeds, and rewards of an arm that fails once in a hundred pulls are no drop either."""
    generator = np.random.default_rng(5)
    assert first_notice(generator.normal(size=200_000), age=1000.0)[0] == 0
    failures = generator.random(200_000) < 0.01
    assert first_notice((failures - 0.01) / np.sqrt(0.01 * 0.99), age=1000.0)[0] == 0
