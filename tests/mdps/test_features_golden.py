"""Thirty MDPs with features in 40-digit arithmetic, and derivatives against differences."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from logbarrier import mdps
from logbarrier.mdps import exact

CASES = json.loads((Path(__file__).parents[1] / "data" / "features.json").read_text())["cases"]
WITHIN = 1e-10
NUDGE = 1e-5


@pytest.fixture(params=range(len(CASES)))
def case(request):
    return CASES[request.param]


def mdp_of(case):
    return mdps.FiniteMDP(P=case["P"], R=case["R"], rho=case["rho"], gamma=case["gamma"])


def off(found, true):
    """The largest error, relative to the largest entry."""
    return np.abs(np.asarray(found) - true).max() / np.abs(true).max()


def gradient_of_log_det(mdp, theta, features, eta):
    both = exact.gradient(mdp, theta, mdps.FeatureSpectral(features=features, eta=eta))
    return eta * (both - exact.gradient(mdp, theta, mdps.NoRegulariser()))


def test_determinant_and_bonus_are_the_golden_ones(case):
    mdp = mdp_of(case)
    assert off(exact.log_det_fisher(mdp, case["theta"], case["features"]), case["log_det_fisher"]) < WITHIN
    assert off(exact.bonus(mdp, case["theta"], case["features"]), np.array(case["bonus"])) < WITHIN


def test_both_gradients_are_the_golden_ones(case):
    mdp, phi = mdp_of(case), np.array(case["features"])
    slope = gradient_of_log_det(mdp, case["theta"], phi, 1.0)
    assert off(slope, np.array(case["gradient_theta"])) < WITHIN
    theta = phi @ case["weights"]  # the log-linear policy
    assert off(exact.log_det_fisher(mdp, theta, phi), case["log_det_at_weights"]) < WITHIN
    slope = np.einsum("sa,sam->m", gradient_of_log_det(mdp, theta, phi, 1.0), phi)
    assert off(slope, np.array(case["gradient_weights"])) < WITHIN


def objectives(generator, S, K):
    phi, z = generator.normal(size=(S, K, 3)), generator.normal(size=(S, 2))
    dependent = np.concatenate([phi, phi[..., :1] - phi[..., 1:2]], axis=2)
    return [
        mdps.FeatureSpectral(features=phi, eta=4.0),
        mdps.FeatureSpectral(features=phi, eta=4.0, ridge=0.3),
        mdps.FeatureSpectral(features=dependent, eta=4.0),
        mdps.FeatureSpectral(features=np.eye(S * K).reshape(S, K, S * K), eta=4.0),
        mdps.StateSpectral(features=z, eta=4.0),
        mdps.StateSpectral(features=z, eta=4.0, ridge=0.3),
    ]


@pytest.mark.parametrize("index", range(6))
@pytest.mark.parametrize("run", range(3))
def test_gradient_and_hessian_are_slopes(run, index):
    generator = np.random.default_rng(run)
    mdp = mdps.RandomMDPs(4, 3, ending=0.1 * (run % 2)).problem(seed=2, run=run)
    theta, direction = generator.normal(size=(2, 4, 3))
    objective = objectives(generator, 4, 3)[index]
    ahead, behind = (theta + sign * NUDGE * direction for sign in (1, -1))
    rise = exact.value(mdp, ahead, objective) - exact.value(mdp, behind, objective)
    assert np.isclose((exact.gradient(mdp, theta, objective) * direction).sum(), rise / (2 * NUDGE), rtol=1e-7, atol=1e-8)
    turn = exact.gradient(mdp, ahead, objective) - exact.gradient(mdp, behind, objective)
    assert np.allclose(exact.hessian_vector(mdp, theta, objective, direction), turn / (2 * NUDGE), rtol=1e-6, atol=1e-7)


def test_one_hot_features_give_the_table():
    mdp = mdps.RandomMDPs(4, 3).problem(seed=2, run=0)
    theta = np.random.default_rng(0).normal(size=(4, 3))
    table, features = mdps.Spectral(eta=7.0), mdps.FeatureSpectral(features=np.eye(12).reshape(4, 3, 12), eta=7.0)
    assert np.isclose(exact.value(mdp, theta, features), exact.value(mdp, theta, table), rtol=1e-12)
    assert np.allclose(exact.gradient(mdp, theta, features), exact.gradient(mdp, theta, table), rtol=1e-10, atol=1e-14)


def test_dependent_features_have_the_pseudo_determinant():
    mdp = mdps.RandomMDPs(4, 3).problem(seed=2, run=0)
    generator = np.random.default_rng(0)
    theta, phi = generator.normal(size=(4, 3)), generator.normal(size=(4, 3, 2)) @ generator.normal(size=(2, 5))
    pi = np.exp(theta) / np.exp(theta).sum(axis=1, keepdims=True)
    g = phi - np.einsum("sa,sam->sm", pi, phi)[:, None]
    F = np.einsum("sa,sam,san->mn", mdp.occupancy(pi)[:, None] * pi, g, g)
    assert np.isclose(exact.log_det_fisher(mdp, theta, phi), np.log(np.linalg.eigvalsh(F)[-2:]).sum(), rtol=1e-10)
    assert np.isclose((mdp.occupancy(pi)[:, None] * pi * exact.bonus(mdp, theta, phi)).sum(), 2.0)


PHI = np.random.default_rng(0).normal(size=(4, 3, 2))


@pytest.mark.parametrize(
    ("kind", "options", "error", "message"),
    [
        (mdps.FeatureSpectral, {"eta": -1.0}, ValueError, "FeatureSpectral: eta must be positive and finite, got -1.0"),
        (mdps.FeatureSpectral, {"eta": "1"}, TypeError, "FeatureSpectral: eta must be a positive number, got '1'"),
        (mdps.FeatureSpectral, {"ridge": -1.0}, ValueError, "FeatureSpectral: ridge must be zero or positive, got -1.0"),
        (mdps.FeatureSpectral, {"features": PHI[0]}, ValueError, r"FeatureSpectral: features must have shape \(S, K, m\)"),
        (mdps.FeatureSpectral, {"features": PHI + np.nan}, ValueError, "FeatureSpectral: features must be finite, got nan"),
        (mdps.FeatureSpectral, {"features": "abc"}, TypeError, "FeatureSpectral: features must be an array of numbers"),
        (
            mdps.FeatureSpectral,
            {"features": np.ones((4, 3, 2))},
            ValueError,
            "FeatureSpectral: features must differ between the actions of a state, got 2 features that do not",
        ),
        (
            mdps.StateSpectral,
            {"features": PHI},
            ValueError,
            r"StateSpectral: features must have shape \(S, p\), got \(4, 3, 2\)",
        ),
        (mdps.StateSpectral, {"features": np.zeros((4, 2))}, ValueError, "StateSpectral: features must not all be 0"),
    ],
)
def test_bad_features_are_refused_in_one_sentence(kind, options, error, message):
    with pytest.raises(error, match=f"^{message}"):
        kind(**{"features": PHI, "eta": 1.0, **options})


def test_features_of_another_mdp_and_singular_policies_are_refused():
    mdp = mdps.RandomMDPs(5, 3).problem(0, 0)
    objective = mdps.FeatureSpectral(features=PHI, eta=1.0)
    with pytest.raises(ValueError, match=r"^FeatureSpectral: features must have shape \(5, 3, m\) for .*, got \(4, 3, 2\)"):
        exact.value(mdp, np.zeros((5, 3)), objective)
    mdp = mdps.RandomMDPs(4, 3).problem(0, 0)
    with pytest.raises(ValueError, match="^FeatureSpectral: the policy must visit states and actions whose features span 2 "):
        exact.value(mdp, np.eye(3)[[0, 1, 2, 0]] * 1e4, objective)
