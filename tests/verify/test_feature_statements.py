"""The theory of the barrier with features, tried on random and searched MDPs, and its counter-examples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from logbarrier import mdps
from logbarrier.mdps import exact
from logbarrier.theory.sides import Sides
from logbarrier.verify.feature_points import POINTS
from logbarrier.verify.feature_statements import STATEMENTS, bias_bound
from logbarrier.verify.trials import CORRECTED, HOLDS, tightest, verify


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.name)
def test_every_statement_holds_and_every_false_form_has_a_counterexample(statement):
    (verdict,) = verify(instances=600, optimised=2, statements=(statement,))
    assert verdict.verdict == (HOLDS if statement.corrected is None else CORRECTED)


def test_every_point_of_the_theory_has_a_statement():
    assert {statement.place for statement in STATEMENTS} == {f"features, point {point}" for point in range(1, 9)}


def test_a_bound_that_is_a_fifth_too_sharp_is_found_out():
    def sharper(x):
        return Sides(bias_bound(x).lesser, 0.8 * bias_bound(x).greater)

    assert tightest(sharper, 600, 4, 0, POINTS).ratio > 1.05


def test_inside_the_log_linear_class_there_are_several_maxima():
    """Gradient ascent in the weights of softmax(w . phi) ends at different values from different starts."""
    found = []
    for run in range(3):
        mdp = mdps.RandomMDPs(8, 3).problem(0, run)
        phi = np.random.default_rng(run).normal(size=(8, 3, 2))
        objective = mdps.FeatureSpectral(features=phi, eta=1000.0)

        def falling(w, mdp=mdp, phi=phi, objective=objective):
            theta = np.clip(phi @ w, -300.0, 300.0)
            try:
                slope = np.einsum("sa,sam->m", exact.gradient(mdp, theta, objective), phi)
                return -exact.value(mdp, theta, objective), -slope
            except ValueError:  # so far out that F has no inverse
                return 1e3, np.zeros(2)

        starts = 3.0 * np.random.default_rng(run).normal(size=(12, 2))
        ends = [minimize(falling, w, jac=True, method="BFGS", options={"gtol": 1e-8}) for w in starts]
        values = [-end.fun for end in ends if np.abs(end.jac).max() < 1e-6 and end.fun < 1e3]
        found.append(np.ptp(values))
    assert max(found) > 1e-3
