"""Objectives and their derivatives, against differences, eigenvalues and linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

from logbarrier import mdps
from logbarrier.mdps import exact

OBJECTIVES = [mdps.NoRegulariser(), mdps.Entropy(tau=0.3), mdps.ActionBarrier(eta=4.0), mdps.Spectral(eta=4.0)]
NUDGE = 1e-5


@pytest.fixture(params=range(6))
def point(request):
    """A random MDP, parameters and a direction."""
    generator = np.random.default_rng(request.param)
    mdp = mdps.RandomMDPs(4, 3, ending=0.1 * (request.param % 2)).problem(seed=2, run=request.param)
    return mdp, generator.normal(size=(4, 3)), generator.normal(size=(4, 3))


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_gradient_is_the_slope_of_the_objective(point, objective):
    mdp, theta, direction = point
    rise = exact.value(mdp, theta + NUDGE * direction, objective) - exact.value(mdp, theta - NUDGE * direction, objective)
    assert np.isclose((exact.gradient(mdp, theta, objective) * direction).sum(), rise / (2 * NUDGE), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_hessian_vector_is_the_slope_of_the_gradient(point, objective):
    mdp, theta, direction = point
    ahead, behind = (exact.gradient(mdp, theta + sign * NUDGE * direction, objective) for sign in (1, -1))
    assert np.allclose(exact.hessian_vector(mdp, theta, objective, direction), (ahead - behind) / (2 * NUDGE), atol=1e-8)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_natural_gradient_is_the_gradient_in_the_metric_of_the_fisher_matrix(point, objective):
    mdp, theta, _ = point
    solved = np.linalg.pinv(exact.fisher_matrix(mdp, theta)) @ exact.gradient(mdp, theta, objective).ravel()
    natural = exact.natural_gradient(mdp, theta, objective)
    differences = natural - natural.mean(axis=1, keepdims=True) - solved.reshape(4, 3)
    assert np.abs(differences).max() < 1e-9


def test_log_pdet_is_the_sum_of_the_logarithms_of_the_positive_eigenvalues(point):
    mdp, theta, _ = point
    eigenvalues = np.linalg.eigvalsh(exact.fisher_matrix(mdp, theta))
    assert np.abs(eigenvalues[:4]).max() < 1e-15  # one zero for each state
    assert np.isclose(exact.log_pdet_fisher(mdp, theta), np.log(eigenvalues[4:]).sum(), rtol=1e-12)


def test_value_adds_the_regulariser_to_performance(point):
    mdp, theta, _ = point
    policy = np.exp(theta) / np.exp(theta).sum(axis=1, keepdims=True)
    d, J = mdp.occupancy(policy), mdp.performance(policy)
    entropies = -(policy * np.log(policy)).sum(axis=1)
    assert np.isclose(exact.value(mdp, theta, mdps.Entropy(tau=0.3)), J + 0.3 * d @ entropies)
    assert np.isclose(exact.value(mdp, theta, mdps.ActionBarrier(eta=4.0)), J + np.log(policy).sum() / 4.0)
    assert np.isclose(exact.value(mdp, theta, mdps.Spectral(eta=4.0)), J + exact.log_pdet_fisher(mdp, theta) / 4.0)


def test_gradients_survive_occupancies_of_1e_minus_290():
    lock = mdps.Lock(10, gamma=0.9)
    theta = np.where(lock.optimal_policy == 1.0, -74.0, 0.0)
    assert lock.occupancy(np.exp(theta) / np.exp(theta).sum(axis=1, keepdims=True)).min() < 1e-285
    slope = exact.gradient(lock, theta, mdps.Spectral(eta=1.0))
    right = slope[lock.optimal_policy == 1.0]
    # log d(s) of each later state gains 1 from the right action here, and log pi gains 1: 10 - s in all, to first order
    assert np.allclose(right, [10.0 - s for s in range(9)] + [1.0], rtol=1e-12)


@pytest.mark.parametrize("kind", [exact.policy_gradient, exact.natural_policy_gradient])
@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_no_step_of_an_ascent_goes_down(kind, objective):
    steps = list(kind(mdps.RandomMDPs(4, 3).problem(0, 0), objective, steps=60))
    rises = np.diff([step.value for step in steps])
    assert rises.min() > 0.0


def test_both_ascents_reach_the_maximum_of_the_spectral_objective():
    mdp, objective = mdps.Distractor(6, gamma=0.9), mdps.Spectral(eta=200.0)
    best = exact.maximise(mdp, objective)
    for kind in (exact.policy_gradient, exact.natural_policy_gradient):
        *_, last = kind(mdp, objective, steps=1000)
        assert np.isclose(last.value, best.objective, rtol=1e-9)
        assert np.isclose(last.performance, best.performance, rtol=1e-6)


def test_wrong_parameters_are_refused():
    mdp = mdps.RiverSwim(3)
    with pytest.raises(ValueError, match=r"exact: theta must have shape \(3, 2\), got \(3,\)"):
        exact.gradient(mdp, np.zeros(3), mdps.NoRegulariser())
    with pytest.raises(ValueError, match="Spectral: eta must be positive and finite, got -1.0"):
        mdps.Spectral(eta=-1)
    with pytest.raises(ValueError, match="Entropy: tau must be positive and finite, got 0.0"):
        mdps.Entropy(tau=0)
    unreached = mdps.FiniteMDP(P=np.zeros((2, 2, 2)), R=np.ones((2, 2)), rho=[1, 0], gamma=0.9)
    with pytest.raises(ValueError, match=r"every state must be reachable, got 1 that are not; use mdp.pruned\(\)"):
        exact.log_pdet_fisher(unreached, np.zeros((2, 2)))
