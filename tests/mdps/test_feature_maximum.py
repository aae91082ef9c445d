"""The maximum of an objective with features: certified, the same from every start, and optimal by an independent check."""

from __future__ import annotations

import numpy as np
import pytest

from logbarrier import mdps
from logbarrier.mdps import exact
from logbarrier.mdps.exact.quadratic import maximise_on_simplex


def random_case(run, seed=1):
    """An MDP, an objective and the number of features; seed 8301 is that of benchmarks/features_maxima.py."""
    generator = np.random.default_rng([seed, run])
    S, K = int(generator.integers(2, 12)), int(generator.integers(2, 5))
    m = int(generator.integers(1, min(6, S * (K - 1)) + 1))
    options = {"branching": 1 + run % 4, "ending": 0.1 * (run % 2), "gamma": (0.5, 0.9, 0.99)[run % 3]}
    mdp = mdps.RandomMDPs(S, K, **options).problem(seed=seed, run=run)
    eta = 10.0 ** generator.uniform(-1, 4)
    if run % 5 == 4:
        return mdp, mdps.StateSpectral(features=generator.normal(size=(S, min(m, S))), eta=eta), min(m, S)
    return mdp, mdps.FeatureSpectral(features=generator.normal(size=(S, K, m)), eta=eta), m


def bonus_at(mdp, objective, policy, d):
    """b (S, K) from the definitions, by an inverse."""
    z = objective.features
    if z.ndim == 2:
        B = (d[:, None] * z).T @ z
        return np.repeat(np.einsum("sm,mn,sn->s", z, np.linalg.inv(B), z)[:, None], mdp.n_actions, axis=1)
    g = z - np.einsum("sa,sam->sm", policy, z)[:, None]
    F = np.einsum("sa,sam,san->mn", d[:, None] * policy, g, g)
    return np.einsum("sam,mn,san->sa", g, np.linalg.inv(F), g)


@pytest.mark.parametrize("part", range(4))
def test_200_random_maxima_are_certified(part):
    for run in range(50 * part, 50 * part + 50):
        mdp, objective, m = random_case(run)
        eta, best = objective.eta, exact.maximise(mdp, objective)
        rounding = 1e-9 * (m / eta + abs(mdp.optimal_performance))
        assert np.isclose(best.bias_bound, m / eta, rtol=1e-9)
        assert -rounding <= best.bias <= best.certificate + best.gap + rounding
        assert best.certificate <= m / eta + rounding
        assert best.gap <= 1e-8 * m / eta + rounding
        d = mdp.occupancy(best.policy)
        assert np.isclose(mdp.performance(best.policy), best.performance, rtol=1e-9)
        # an optimal policy of the MDP with reward R + b/eta at the policy improves it by at most the gap
        b = bonus_at(mdp, objective, best.policy, d)
        raised = mdps.FiniteMDP(P=mdp.P, R=mdp.R + b / eta, rho=mdp.rho, gamma=mdp.gamma)
        assert raised.optimal_performance - raised.performance(best.policy) <= best.gap + rounding
        for policy in np.random.default_rng(run).dirichlet(np.full(mdp.n_actions, 0.3), size=(20, mdp.n_states)):
            covered = (mdp.occupancy(policy)[:, None] * policy * b).sum()
            earned = best.performance - mdp.performance(policy)
            assert covered <= m + eta * (earned + best.gap + rounding)
        assert best.coverage <= m + eta * (best.gap + rounding)
        assert mdp.optimal_performance <= best.upper_bound + rounding


@pytest.mark.parametrize("run", [0, 4, 11, 44, 99, 104, 188])
def test_five_starts_lead_to_the_same_maximum(run):
    """From some starts of runs 4, 44, 99 and 104 a corner of the polytope comes first; of run 188, a nearly singular F."""
    mdp, objective, m = random_case(run, seed=8301)
    starts = np.random.default_rng([8301, run, 1]).dirichlet(np.ones(mdp.n_actions), size=(5, mdp.n_states))
    values = [exact.maximise(mdp, objective, start=start).objective for start in starts]
    assert np.ptp(values) <= 1e-7 * m / objective.eta + 1e-12


def test_one_hot_features_give_the_maximum_of_the_table():
    mdp = mdps.RandomMDPs(6, 3).problem(0, 3)
    best = exact.maximise(mdp, mdps.FeatureSpectral(features=np.eye(18).reshape(6, 3, 18), eta=50.0))
    table = exact.maximise(mdp, mdps.Spectral(eta=50.0))
    assert np.isclose(best.objective, table.objective, rtol=1e-9)
    assert np.allclose(best.policy, table.policy, atol=1e-4)
    assert np.isclose(best.bias_bound, table.bias_bound)


def test_a_ridge_makes_the_bound_smaller_and_it_still_holds():
    mdp, phi = mdps.RandomMDPs(20, 3).problem(0, 0), np.random.default_rng(0).normal(size=(20, 3, 5))
    best = exact.maximise(mdp, mdps.FeatureSpectral(features=phi, eta=50.0, ridge=0.1))
    assert best.bias <= best.certificate + best.gap <= best.bias_bound + best.gap < 5 / 50.0


def test_the_bound_is_nearly_reached_and_the_maximum_is_not_interior():
    mdp, phi = mdps.RandomMDPs(30, 3).problem(0, 0), np.random.default_rng(0).normal(size=(30, 3, 3))
    best = exact.maximise(mdp, mdps.FeatureSpectral(features=phi, eta=1e4))
    assert best.bias > 0.5 * best.bias_bound
    assert (best.policy.max(axis=1) > 1.0 - 1e-9).mean() > 0.5  # most states have one action


@pytest.mark.parametrize("gamma", [0.99, 1.0])
def test_episodes_that_end_are_certified_too(gamma):
    sea = mdps.DeepSea(6, gamma=gamma)
    row, column = np.divmod(sea.states, 6)
    z = np.concatenate([np.eye(6)[row], np.eye(6)[column]], axis=1)
    phi = np.stack([np.zeros_like(z), z], axis=1)
    best = exact.maximise(sea, mdps.FeatureSpectral(features=phi, eta=1000.0))
    assert np.isclose(best.bias_bound, 11 / 1000.0)  # rows and columns both add up to 1
    assert best.bias <= best.certificate + best.gap + 1e-12


def test_many_states_and_a_progress_function():
    mdp = mdps.RandomMDPs(1200, 3).problem(0, 0)
    phi, seen = np.random.default_rng(0).normal(size=(1200, 3, 4)), []
    objective = mdps.FeatureSpectral(features=phi, eta=100.0)
    best = exact.maximise(mdp, objective, tolerance=1e-4, progress=lambda done, total: seen.append((done, total)))
    assert best.gap <= 1e-4 * best.bias_bound
    assert best.bias <= best.certificate + best.gap
    assert seen[-1] == (100, 100)
    assert sorted(seen) == seen


def test_the_quadratic_on_the_simplex_meets_its_optimality_conditions():
    for seed in range(50):
        generator = np.random.default_rng(seed)
        n = int(generator.integers(1, 12))
        root, slopes, start = generator.normal(size=(n, n)), 3.0 * generator.normal(size=n), generator.dirichlet(np.ones(n))
        bends = root @ root.T + 0.01 * np.eye(n)
        x = maximise_on_simplex(bends, slopes, start)
        slope = slopes - bends @ (x - start)
        assert np.isclose(x.sum(), 1.0)
        assert x.min() >= 0.0
        assert slope.max() - slope @ x <= 1e-9 * (1.0 + np.abs(slopes).max())


def test_features_that_are_hardly_seen_are_refused_in_one_sentence():
    lock = mdps.Lock(60, gamma=0.9)
    phi = np.zeros((60, 2, 60))
    phi[np.arange(60), 1, np.arange(60)] = 1.0
    with pytest.raises(
        ValueError, match=r"^maximise: the gap must fall below 0\.1 of the bias bound, got .*use ridge=$|no inverse"
    ):
        exact.maximise(lock, mdps.FeatureSpectral(features=phi, eta=1000.0))


def test_a_bad_tolerance_is_refused():
    mdp, objective, _ = random_case(0)
    with pytest.raises(ValueError, match="^maximise: tolerance must be positive and finite, got 0.0"):
        exact.maximise(mdp, objective, tolerance=0.0)
