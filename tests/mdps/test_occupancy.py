"""Compiled occupancies: both methods against 60 digits and against elimination, however small the occupancies are."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import mpmath
import numpy as np
import pytest

from logbarrier import mdps
from logbarrier.engine.compiled import from_python
from logbarrier.mdps.occupancy import solver_of
from logbarrier.mdps.occupancy.band import Band, order_of
from logbarrier.mdps.occupancy.sweeps import Sweeps, settle


def band(mdp):
    return Band(mdp, *order_of(mdp))


METHODS = pytest.mark.parametrize("method", [band, Sweeps])


def peaked_policy(mdp, seed=0, scale=5.0):
    theta = scale * np.random.default_rng(seed).normal(size=(mdp.n_states, mdp.n_actions))
    weights = np.exp(theta - theta.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def exact_occupancy(mdp, policy):
    """d (S,) in 60 digits; what rows of P lack through rounding does not end an episode."""
    with mpmath.workdps(60):
        gamma, n = mpmath.mpf(mdp.gamma), mdp.n_states
        chain = mpmath.zeros(n)
        for s in range(n):
            ending = mpmath.mpf(0)
            for a in range(mdp.n_actions):
                weight = mpmath.mpf(float(policy[s, a]))
                ending += gamma * weight * mpmath.mpf(float(mdp.missing[s, a]))
                for t in range(n):
                    chain[s, t] += gamma * weight * mpmath.mpf(float(mdp.P[s, a, t]))
            chain[s, s] -= sum(chain[s, t] for t in range(n)) + (1 - gamma) + ending  # row sums and exits are 1
        start = [mpmath.mpf(mdp.normaliser) * mpmath.mpf(float(r)) for r in mdp.rho]
        return list(mpmath.lu_solve(-chain.T, mpmath.matrix(start)))


@METHODS
@pytest.mark.parametrize("probability", [1e-3, 1e-20])
def test_tiny_occupancies_have_no_relative_error(method, probability):
    lock = mdps.Lock(9, gamma=0.9)
    policy = np.where(lock.optimal_policy == 1.0, probability, 1.0 - probability)
    found = method(lock)(policy)
    assert found.min() < probability**7
    assert max(abs(mpmath.mpf(float(d)) / x - 1) for d, x in zip(found, exact_occupancy(lock, policy), strict=True)) < 1e-12


@METHODS
@pytest.mark.parametrize("gamma", [0.9, 1.0 - 2.0**-30])
def test_no_discount_costs_precision(method, gamma):
    river = mdps.RiverSwim(7, gamma=gamma)
    policy = peaked_policy(river)
    for d, x in zip(method(river)(policy), exact_occupancy(river, policy), strict=True):
        assert abs(mpmath.mpf(float(d)) / x - 1) < 1e-12


@METHODS
@pytest.mark.parametrize(
    "mdp",
    [
        mdps.RandomMDPs(1, 2).problem(seed=0, run=0),
        mdps.RandomMDPs(6, 3, ending=0.1).problem(seed=0, run=0),
        mdps.RandomMDPs(90, 3, gamma=0.99).problem(seed=1, run=0),
        mdps.DeepSea(11, gamma=1.0),
        mdps.RiverSwim(61, gamma=0.999),
        mdps.Lock(37, 3),
    ],
    ids=repr,
)
def test_both_methods_agree_with_elimination(method, mdp):
    for policy in (mdp.uniform_policy, peaked_policy(mdp), mdp.optimal_policy):
        error = 1e-12 if method is band else 1e-9  # the errors that the package states
        assert np.allclose(method(mdp)(policy), mdp.occupancy(policy), rtol=error, atol=1e-290)


def test_sweeps_converge_without_the_start_that_the_krylov_method_finds():
    mdp = mdps.RandomMDPs(40, 2, gamma=0.9).problem(seed=3, run=0)
    sweeps, policy = Sweeps(mdp), peaked_policy(mdp)
    sweeps._krylov = lambda *given: given[-1].fill(np.nan)
    assert np.allclose(sweeps(policy), mdp.occupancy(policy), rtol=1e-11)


def test_sweeps_leave_the_exact_solution_as_it_is():
    """x = source + M' x for two states that exchange half of their visits: (4/3, 2/3)."""
    x = np.array([4 / 3, 2 / 3])
    two = np.array([0, 1, 2]), np.array([1, 0]), np.array([0.5, 0.5]), np.ones(2), np.array([1.0, 0.0])
    from_python(settle)(*two, x)
    assert np.allclose(x, [4 / 3, 2 / 3], rtol=1e-15)


def test_threads_that_share_a_band_disturb_no_occupancy():
    sea = mdps.DeepSea(30)
    occupancy, policies = band(sea), [peaked_policy(sea, seed) for seed in range(200)]
    expected = [occupancy(policy) for policy in policies]
    with ThreadPoolExecutor(4) as threads:
        assert all(np.array_equal(*pair) for pair in zip(threads.map(occupancy, policies), expected, strict=True))


def test_narrow_bands_are_eliminated_and_large_random_transitions_swept():
    kinds = {
        mdps.RiverSwim(2000): Band,
        mdps.DeepSea(40): Band,
        mdps.RandomMDPs(300, 2).problem(seed=0, run=0): Band,
        mdps.RandomMDPs(2000, 2).problem(seed=0, run=0): Sweeps,
    }
    assert all(type(solver_of(mdp)) is kind for mdp, kind in kinds.items())


def test_neighbours_of_a_shuffled_river_get_neighbouring_places():
    river, shuffled = mdps.RiverSwim(50), np.random.default_rng(0).permutation(50)
    P = np.zeros_like(river.P)
    P[np.ix_(shuffled, range(2), shuffled)] = river.P
    other = mdps.FiniteMDP(P=P, R=river.R[np.argsort(shuffled)], rho=river.rho[np.argsort(shuffled)], gamma=0.9)
    assert order_of(other)[1] == 1
