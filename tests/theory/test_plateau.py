"""The plateau of LB-SGB against its definition, an independent optimiser, and a long simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import logbarrier as lb
from logbarrier.theory.maximiser import maximising_policy
from logbarrier.theory.plateau import mean_plateau


@given(
    st.lists(st.floats(-1, 1), min_size=2, max_size=30),
    st.floats(-2, 8).map(lambda power: 10.0**power),
)
def test_the_gradient_vanishes_on_the_plateau(means, eta):
    """p_a (r_a - J) + (1/eta)(1 - K p_a) = 0 for every arm, and the probabilities sum to 1."""
    r = np.array(means)
    p = maximising_policy(r, eta)
    assert p.sum() == pytest.approx(1, abs=1e-9)
    assert p.min() > 0
    gradient = p * (r - p @ r) + (1 - len(r) * p) / eta
    assert np.abs(gradient).max() < 1e-8 * max(1, len(r) / eta)


def test_an_independent_optimiser_finds_no_better_policy():
    r, eta = np.array([0.9, 1.0, 0.3, -0.5]), 30.0

    def minus_objective(theta):
        p = np.exp(theta - theta.max())
        p /= p.sum()
        return -(p @ r + np.log(p).sum() / eta)

    found = minimize(minus_objective, np.zeros(4), method="BFGS", options={"gtol": 1e-10})
    p = np.exp(found.x - found.x.max())
    assert p / p.sum() == pytest.approx(maximising_policy(r, eta), abs=1e-6)


@pytest.mark.parametrize(
    ("n_arms", "eta", "expected"),
    [(10, 1e2, 0.79), (10, 1e3, 0.98), (10, 1e4, 0.998), (100, 2000, 0.92), (1000, 5000, 0.68), (1000, 10000, 0.84)],
)
def test_plateaus_of_the_papers_settings(n_arms, eta, expected):
    """Against the values of an independent program on its own instances, to the digits it printed."""
    optimal, _, _ = mean_plateau(lb.GapInstances(n_arms=n_arms), eta, seed=0, runs=200)
    assert optimal == pytest.approx(expected, abs=0.006)


def test_a_long_run_ends_on_the_plateau():
    """Time averages over 100 runs of the last half; a small learning rate keeps the noise's own bias below 0.01."""
    family, eta = lb.GapInstances(n_arms=5), 100
    record = lb.simulate(lb.LogBarrierSGB(learning_rate=0.01, eta=eta), family, horizon=60_000, runs=100, seed=0)
    optimal, least, suboptimality = mean_plateau(family, eta, seed=0, runs=100)
    half = len(record.steps) // 2
    assert record["optimal_probability"][:, half:].mean() == pytest.approx(optimal, abs=0.01)
    assert record["min_probability"][:, half:].mean() == pytest.approx(least, rel=0.1)
    slope = (record["regret"][:, -1] - record["regret"][:, half]).mean() / (60_000 - record.steps[half])
    assert slope == pytest.approx(suboptimality, rel=0.1)
