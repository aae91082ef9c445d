"""The sampled rule with features: its covariance, its claims, and where features explore faster than counts."""

from __future__ import annotations

import numpy as np
import pytest

from logbarrier import mdps
from logbarrier.mdps import testing
from logbarrier.mdps.algorithms import rule_from_dict
from logbarrier.mdps.algorithms.covariance import add_covariance, packed_roots, refresh, spread_of


def noisy_lock(n, k):
    """A lock whose states also carry one of k labels, drawn afresh at every step; features that ignore the label."""
    lock = mdps.Lock(n)
    P = np.broadcast_to(lock.P[:, None, :, :, None] / k, (n, k, 2, n, k)).reshape(n * k, 2, n * k)
    rho = np.repeat(np.eye(1, n)[0] / k, k)
    mdp = mdps.FiniteMDP(P=P, R=np.repeat(lock.R, k, axis=0), rho=rho, gamma=0.99)
    z = np.repeat(np.eye(n), k, axis=0)
    return mdp, np.stack([np.zeros_like(z), z], axis=1)


def test_the_covariance_and_its_inverse_are_those_of_numpy():
    phi = np.random.default_rng(0).normal(size=(5, 3, 4)) * (np.random.default_rng(1).uniform(size=(5, 3, 4)) < 0.6)
    places, values = packed_roots(phi)
    square = np.zeros(32)
    for s in (0, 1, 1, 4, 2):
        add_covariance(square, 4, places[s], values[s])
    C = [np.cov(one.T, bias=True) for one in phi]
    G = C[0] + 2 * C[1] + C[4] + C[2]
    assert np.allclose(square[:16].reshape(4, 4), G)
    evidence, A = refresh(square, 4), np.linalg.inv(G + np.eye(4))
    assert np.allclose(square[16:].reshape(4, 4), A)
    assert np.isclose(evidence, np.trace(G @ A) / np.trace(G @ A @ A @ A))
    assert np.isclose(spread_of(square, 4, places[3], values[3]), np.trace(C[3] @ A))


def test_the_mean_update_is_the_claimed_one_for_dense_features():
    rng = np.random.default_rng(3)
    mdp = testing.layered_mdp(rng, 3)
    rule = mdps.FeatureSpectralPG(features=rng.normal(size=(*mdp.R.shape, 4)))
    assert testing.update_error(rule, mdp, rng) < 1e-9


def test_features_of_a_chain_are_the_basis_along_it():
    phi = mdps.grid_features(mdps.RiverSwim(5))
    assert phi.shape == (5, 2, 6)
    assert np.allclose(phi[:, 0, 2], np.cos(2 * np.pi * (np.arange(5) + 0.5) / 5))
    assert not phi[:, 1].any()


def test_features_of_a_grid_need_a_grid():
    with pytest.raises(ValueError, match=r"^grid_features: the MDP must have a grid, shape=\(rows, columns\), got none for "):
        mdps.grid_features(mdps.RandomMDPs(5, 2).problem(0, 0))
    with pytest.raises(TypeError, match=r"^grid_features: mdp must be a FiniteMDP; of a family, one of its problems, got "):
        mdps.grid_features(mdps.RandomLocks(4, 3))
    with pytest.raises(TypeError, match=r"^grid_features: basis must be a function of coordinates, got 3"):
        mdps.grid_features(mdps.DeepSea(4), basis=3)


def test_features_that_ignore_noise_explore_faster_than_counts():
    """10 positions, 10 labels, 12 runs: medians 10,000 and 20,000 steps on the seed that was looked at; this is another."""
    mdp, phi = noisy_lock(10, 10)
    options = {"horizon": 60_000, "runs": 12, "seed": 77, "checkpoints": 25, "metrics": ["score"]}
    counts = mdps.simulate(mdps.SpectralPG(), mdp, **options)
    features = mdps.simulate(mdps.FeatureSpectralPG(features=phi), mdp, **options)
    first = [np.median(np.argmax(record["score"] > 0.5, axis=1)) for record in (counts, features)]
    assert first[1] < first[0]
    assert (features["score"][:, -1] > 0.9).all()


def test_a_rule_survives_its_plain_values():
    phi = np.random.default_rng(0).normal(size=(4, 2, 3))
    rule = mdps.FeatureSpectralPG(features=phi, learning_rate=0.2)
    assert rule_from_dict(rule.to_dict()) == rule
    assert rule != mdps.FeatureSpectralPG(learning_rate=0.2)
    assert rule_from_dict(mdps.FeatureSpectralPG().to_dict()) == mdps.FeatureSpectralPG()


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        (np.zeros((4, 2)), ValueError, r"FeatureSpectralPG: features must have shape \(S, K, m\), got \(4, 2\)"),
        (np.full((4, 2, 3), np.nan), ValueError, "FeatureSpectralPG: features must be finite, got nan"),
        ("cells", TypeError, "FeatureSpectralPG: features must be an array of numbers"),
    ],
)
def test_bad_features_are_refused_in_one_sentence(features, error, message):
    with pytest.raises(error, match=f"^{message}"):
        mdps.FeatureSpectralPG(features=features)


def test_features_of_another_mdp_are_refused():
    rule = mdps.FeatureSpectralPG(features=np.ones((4, 2, 3)))
    with pytest.raises(ValueError, match=r"^FeatureSpectralPG: features must have shape \(5, 2, m\) for .*, got \(4, 2, 3\)"):
        mdps.simulate(rule, mdps.RiverSwim(5), horizon=10)
