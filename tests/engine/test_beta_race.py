"""The largest of many beta variates, found by a rough pass, is to the bit that of working out every one of them."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from logbarrier.engine.beta_race import UNKNOWN, fill_leading_logits, rough_gamma
from logbarrier.engine.compiled import compiled, from_python
from logbarrier.engine.gamma import log_gamma_variate, logit_beta_variate
from logbarrier.engine.random import ARM, philox, standard_normal, stream_key, uniform

STRIDE = 64


@compiled
def fill_all_logits(logits, shapes, stride, purpose, stream):
    for i in range(logits.shape[0]):
        logits[i], _ = logit_beta_variate(shapes[0, i], shapes[1, i], 1 + stride * i, purpose, stream)


def shapes_of(kind, n_arms, generator):
    """Beliefs as they come: none yet, few, many rewards, one arm far ahead, all alike, more than the rough pass takes."""
    pulls = {
        "untried": np.zeros(n_arms),
        "few": generator.integers(0, 4, n_arms),
        "many": generator.integers(0, 10_000, n_arms),
        "one ahead": np.where(np.arange(n_arms) == 1, 1e6, 3.0),
        "alike": np.full(n_arms, 1000.0),
        "huge": np.where(np.arange(n_arms) % 2, 3e8, 1e3),
    }[kind]
    return 1.0 + np.stack([pulls * generator.random(n_arms), pulls * generator.random(n_arms)])


@pytest.mark.parametrize("kind", ["untried", "few", "many", "one ahead", "alike", "huge"])
@pytest.mark.parametrize("n_arms", [2, 7, 100])
def test_the_leader_and_its_logit_are_those_of_all_variates(kind, n_arms):
    generator, key = np.random.default_rng(n_arms), stream_key(3)
    some, every = from_python(fill_leading_logits), from_python(fill_all_logits)
    found, expected = np.empty(n_arms), np.empty(n_arms)
    worked_out = 0
    for t in range(300):
        shapes = shapes_of(kind, n_arms, generator)
        some(found, shapes, STRIDE, ARM, (key, t, 5))
        every(expected, shapes, STRIDE, ARM, (key, t, 5))
        assert (found.argmax(), found.max()) == (expected.argmax(), expected.max())
        assert ((found == expected) | (found == -np.inf)).all()
        worked_out += np.isfinite(found).sum()
    assert worked_out < 320  # one arm per step, hardly ever two


@compiled
def rough(shape, x, u):
    return rough_gamma(shape, x, u)


@compiled
def proposal(t, key):
    high, low = philox(t, 1, 0, ARM, key)
    return standard_normal(uniform(high)), uniform(low)


@pytest.mark.parametrize("shape", [1.0, 1.5, 4.0, 300.0, 1e6, 9e7])
def test_what_passes_the_rough_test_is_the_gamma_variate(shape):
    key, passed = stream_key(8), 0
    for t in range(2000):
        x, u = proposal(t, key)
        found = rough(shape, x, u)
        if found > 0:
            variate, block = log_gamma_variate(shape, 1, ARM, (key, t, 0))
            assert block == 2  # the first proposal was taken
            assert np.log(found) == pytest.approx(variate, rel=1e-12, abs=1e-12)
            passed += 1
    assert passed > 0.9 * 2000


@pytest.mark.parametrize("shape", [1.0, 1.2, 3.0, 50.0])
def test_the_rough_test_never_takes_what_the_exact_one_refuses(shape):
    """At every x the largest u that passes, by bisection, is below exp of the exact bound in 30 digits."""
    for x in np.linspace(-6, 6, 121):
        low, high = 0.0, 1.0
        for _ in range(45):
            middle = (low + high) / 2
            low, high = (middle, high) if rough(shape, x, middle) > 0 else (low, middle)
        with mpmath.workdps(30):
            d = mpmath.mpf(shape) - mpmath.mpf(1) / 3
            factor = 1 + mpmath.mpf(float(x)) / mpmath.sqrt(9 * d)
            if factor <= 0:
                assert low == 0.0
                continue
            exact = mpmath.exp(mpmath.mpf(float(x)) ** 2 / 2 + d - d * factor**3 + 3 * d * mpmath.log(factor))
        assert low <= exact


def test_shapes_beyond_the_reach_of_the_rough_test_are_left_to_the_exact_one():
    assert rough(2e8, 0.1, 0.5) == UNKNOWN
    assert rough(2e7, 0.1, 0.5) > 0
