"""The maximum of an objective: certified, stationary, the only one; and the action barrier's second one."""

from __future__ import annotations

import numpy as np
import pytest

from logbarrier import mdps, theory
from logbarrier.mdps import exact

NAMED = [
    mdps.RiverSwim(12), mdps.Lock(20), mdps.Lock(10, 4), mdps.Distractor(16), mdps.DeepSea(14), mdps.DeepSea(20),
    mdps.DeepSea(30),
]  # fmt: skip


def eta_for(mdp, share):
    """The eta whose bias bound is a share of what there is to gain over uniform play."""
    gain = mdp.optimal_performance - mdp.performance(mdp.uniform_policy)
    return mdp.n_states * (mdp.n_actions - 1) / (share * gain)


def random_policies(mdp, count, scale):
    theta = scale * np.random.default_rng(0).normal(size=(count, mdp.n_states, mdp.n_actions))
    weights = np.exp(theta)
    return weights / weights.sum(axis=2, keepdims=True)


def assert_certified(mdp, best, eta):
    rounding = 1e-12 * (abs(mdp.optimal_performance) + 1.0)
    assert -rounding <= best.bias <= best.bias_bound * (1.0 + 1e-9)
    assert best.bias_bound == mdp.n_states * (mdp.n_actions - 1) / eta
    assert mdp.optimal_performance <= best.upper_bound + rounding
    # the dual gap is the bound itself: J* lies between J and J + S (K - 1)/eta, whoever computed it
    assert np.isclose(best.upper_bound - best.performance, best.bias_bound, rtol=1e-7, atol=rounding)
    # the bracket of the certificate: J* - J = (1/eta) [S (K - 1) - sum mu* (1/mu - 1/d)]
    d_star = mdp.occupancy(mdp.optimal_policy)[:, None]
    slope = 1.0 / (best.occupancy[:, None] * best.policy) - 1.0 / best.occupancy[:, None]
    bracket = best.bias_bound - (d_star * mdp.optimal_policy * slope).sum() / eta
    assert np.isclose(best.bias, bracket, rtol=1e-6, atol=1e-9 * best.bias_bound + rounding)
    assert best.stationarity < 1e-9
    assert np.isclose(best.performance, mdp.performance(best.policy), rtol=1e-12)


def test_the_maximum_is_certified_on_a_thousand_random_mdps():
    generator = np.random.default_rng(0)
    for run in range(1000):
        S, K = generator.integers(1, 7), generator.integers(2, 5)
        options = {"branching": 1 + run % 3, "ending": 0.1 * (run % 2), "gamma": (0.0, 0.5, 0.9, 0.99)[run % 4]}
        mdp = mdps.RandomMDPs(S, K, **options).problem(seed=0, run=run)
        eta = 10.0 ** generator.uniform(-1, 5)
        assert_certified(mdp, exact.maximise(mdp, mdps.Spectral(eta=eta)), eta)


def changed(mdp, *, rewards=1.0, gamma=None):
    return mdps.FiniteMDP(P=mdp.P, R=rewards * mdp.R, rho=mdp.rho, gamma=mdp.gamma if gamma is None else gamma)


@pytest.mark.parametrize(
    ("mdp", "objective"),
    [
        (mdps.RiverSwim(6), mdps.Spectral(eta=1e15)),
        (mdps.RiverSwim(6), mdps.Spectral(eta=1e300)),
        (changed(mdps.RiverSwim(6), rewards=1e16), mdps.Spectral(eta=1000.0)),
        (changed(mdps.RiverSwim(6), gamma=1.0 - 1e-16), mdps.Spectral(eta=1000.0)),
        (changed(mdps.RiverSwim(6), gamma=1.0 - 1e-9), mdps.Spectral(eta=1000.0)),
        (changed(mdps.RiverSwim(6), rewards=1e16), mdps.ActionBarrier(eta=100.0)),
    ],
)
def test_a_maximum_beyond_double_precision_is_refused_in_one_sentence(mdp, objective):
    with pytest.raises(
        ValueError, match=r"^maximise: the gradient must fall below .* got .*: double precision does not suffice"
    ):
        exact.maximise(mdp, objective)


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1.0, 1e4, 1e8, 1e12])
def test_the_maximum_is_certified_whatever_the_unit_of_the_rewards(size):
    """J in other units, and a barrier as many times weaker: the policy is the same."""
    mdp = mdps.RiverSwim(6)
    best = exact.maximise(changed(mdp, rewards=size), mdps.Spectral(eta=1e4 / size))
    assert best.policy == pytest.approx(exact.maximise(mdp, mdps.Spectral(eta=1e4)).policy, rel=1e-9)
    assert 0.0 < best.bias <= best.bias_bound


@pytest.mark.parametrize("share", [0.3, 1e-4])
@pytest.mark.parametrize("mdp", NAMED, ids=repr)
def test_the_maximum_is_certified_on_every_named_environment(mdp, share):
    eta = eta_for(mdp, share)
    assert_certified(mdp, exact.maximise(mdp, mdps.Spectral(eta=eta)), eta)


@pytest.mark.parametrize(
    ("name", "options"),
    [("FrozenLake-v1", {}), ("FrozenLake-v1", {"map_name": "8x8"}), ("CliffWalking-v1", {}), ("Taxi-v4", {})],
)
def test_the_maximum_is_certified_on_environments_of_gymnasium(name, options):
    pytest.importorskip("gymnasium", reason="the extra `mdp` is not installed")
    mdp = mdps.from_gymnasium(name, **options)
    eta = eta_for(mdp, 0.05)
    assert_certified(mdp, exact.maximise(mdp, mdps.Spectral(eta=eta)), eta)


@pytest.mark.parametrize("mdp", [mdps.Distractor(10, gamma=0.95), mdps.RiverSwim(10, gamma=0.95), mdps.Lock(8, 3)], ids=repr)
def test_twenty_random_starts_lead_to_the_same_maximum(mdp):
    objective = mdps.Spectral(eta=eta_for(mdp, 0.1))
    best = exact.maximise(mdp, objective)
    for start in random_policies(mdp, 20, scale=3.0):
        again = exact.maximise(mdp, objective, start=start)
        assert np.allclose(again.policy, best.policy, rtol=1e-9, atol=0.0)


@pytest.mark.parametrize("probability", [1e-3, 1e-20])
def test_a_start_that_visits_a_state_with_1e_minus_180_leads_there_too(probability):
    lock = mdps.Lock(10)
    start = np.where(lock.optimal_policy == 1.0, probability, 1.0 - probability)
    best, far = (exact.maximise(lock, mdps.Spectral(eta=1000.0), start=s) for s in (None, start))
    assert np.allclose(far.policy, best.policy, rtol=1e-9, atol=0.0)


def test_no_policy_nearby_or_far_has_a_larger_objective():
    mdp, objective = mdps.RandomMDPs(4, 3, ending=0.1).problem(0, 1), mdps.Spectral(eta=30.0)
    best = exact.maximise(mdp, objective)
    for scale in (1e-3, 1.0, 4.0):
        nudges = scale * np.random.default_rng(1).normal(size=(100, 4, 3))
        assert max(exact.value(mdp, np.log(best.policy) + nudge, objective) for nudge in nudges) < best.objective


def test_the_action_barrier_has_a_second_maximum_on_the_distractor_and_the_spectral_one_has_not():
    mdp = mdps.Distractor(10, gamma=0.95)
    objective = mdps.ActionBarrier(eta=10.0 / (0.1 * mdp.optimal_performance))
    poor = exact.maximise(mdp, objective)  # from uniform
    good = exact.maximise(mdp, objective, start=0.9 * mdp.optimal_policy + 0.05)
    assert 0.23 < poor.performance / mdp.optimal_performance < 0.27
    assert good.performance / mdp.optimal_performance > 0.89
    for found in (poor, good):  # both are strict maxima, up to a shift of theta in each state
        theta = np.log(found.policy)
        columns = [exact.hessian_vector(mdp, theta, objective, e.reshape(10, 2)).ravel() for e in np.eye(20)]
        curvatures = np.linalg.eigvalsh(np.array(columns))
        assert found.stationarity < 1e-9
        assert np.abs(curvatures[10:]).max() < 1e-10
        assert curvatures[9] < -1e-5
    ends = [exact.maximise(mdp, objective, start=start).performance for start in random_policies(mdp, 8, scale=1.0)]
    assert min(ends) < 0.3 * mdp.optimal_performance < max(ends)
    assert poor.bias <= poor.bias_bound  # with its mismatch coefficient, which is large


def test_the_second_maximum_stays_for_a_weak_barrier():
    mdp = mdps.Distractor(10, gamma=0.95)
    for eta in (1e2, 1e4, 1e6):
        assert exact.maximise(mdp, mdps.ActionBarrier(eta=eta)).performance < 0.3 * mdp.optimal_performance


def test_one_state_gives_back_the_bandit_of_the_paper():
    means, eta = [1.0, 0.6, 0.0, -0.5], 60.0
    bandit = mdps.FiniteMDP(P=np.ones((1, 4, 1)), R=[means], rho=[1.0], gamma=0.9)
    best, paper = exact.maximise(bandit, mdps.Spectral(eta=eta)), theory.maximiser(means, eta)
    assert np.allclose(best.policy[0], paper.policy, rtol=1e-12)
    assert np.isclose(best.bias, paper.bias, rtol=1e-10)
    assert best.bias_bound == 3 / eta  # K - 1 where the paper has K


def test_the_bound_is_tight_for_a_unique_optimum_and_a_large_eta():
    mdp = mdps.RiverSwim(6)
    best = exact.maximise(mdp, mdps.Spectral(eta=1e5))
    assert 0.99 < best.bias / best.bias_bound <= 1.0


@pytest.mark.parametrize("tau", [1.0, 0.01, 1e-4])
def test_the_entropic_maximum_is_stationary_and_within_its_bound(tau):
    mdp = mdps.RandomMDPs(5, 3).problem(0, 7)
    best = exact.maximise(mdp, mdps.Entropy(tau=tau))
    assert best.stationarity < 1e-12
    assert 0.0 <= best.bias <= best.bias_bound
    assert mdp.optimal_performance <= best.upper_bound + 1e-12
    nudges = 0.5 * np.random.default_rng(1).normal(size=(50, 5, 3))
    theta = np.log(np.maximum(best.policy, 1e-300))
    assert max(exact.value(mdp, theta + nudge, mdps.Entropy(tau=tau)) for nudge in nudges) <= best.objective


def test_without_a_regulariser_the_maximum_is_the_optimal_policy():
    mdp = mdps.RiverSwim(8)
    best = exact.maximise(mdp, mdps.NoRegulariser())
    assert (best.policy == mdp.optimal_policy).all()
    assert np.isclose(best.upper_bound, mdp.optimal_performance, rtol=1e-12)


def test_the_dual_bound_holds_for_any_values():
    for gamma in (0.9, 1.0):
        sea = mdps.DeepSea(5, gamma=gamma)
        for seed in range(20):
            values = np.random.default_rng(seed).normal(size=sea.n_states)
            assert exact.dual_bound(sea, values) >= sea.optimal_performance


def test_one_action_leaves_nothing_to_choose():
    mdp = mdps.RandomMDPs(3, 1).problem(0, 0)
    best = exact.maximise(mdp, mdps.Spectral(eta=10.0))
    assert (best.policy == 1.0).all()
    assert best.bias_bound == 0.0


def test_bad_starts_are_refused():
    lock = mdps.Lock(10)
    with pytest.raises(ValueError, match=r"maximise: start must have no zero probabilities, got 0.0"):
        exact.maximise(lock, mdps.Spectral(eta=1.0), start=lock.optimal_policy)
    rare = np.where(lock.optimal_policy == 1.0, 1e-30, 1.0 - 1e-30)
    with pytest.raises(ValueError, match="maximise: start must visit every state with a weight above 1e-200, got 9.1"):
        exact.maximise(lock, mdps.Spectral(eta=1.0), start=rare)
    with pytest.raises(TypeError, match="maximise: objective must be one that maximise knows"):
        exact.maximise(lock, "spectral")
