"""FiniteMDP: what it computes, and what it refuses."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pytest
from scipy.sparse import csr_array

from logbarrier import mdps
from logbarrier.mdps import problem

STAY = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [0.0, 0.0]]])
GOOD = {"P": STAY, "R": [[0.0, 1.0], [2.0, 3.0]], "rho": [0.5, 0.5], "gamma": 0.9}


def random_mdp(run, n_states=5, n_actions=3, **options):
    return mdps.RandomMDPs(n_states, n_actions, **options).problem(seed=1, run=run)


def random_policy(seed, mdp):
    return np.random.default_rng(seed).dirichlet(np.ones(mdp.n_actions), size=mdp.n_states)


def test_occupancy_is_the_discounted_sum_of_state_laws():
    mdp = random_mdp(0, ending=0.1)
    policy = random_policy(0, mdp)
    law, total = mdp.rho.copy(), np.zeros(5)
    for t in range(400):
        total += (1.0 - mdp.gamma) * mdp.gamma**t * law
        law = np.einsum("s,sa,sat->t", law, policy, mdp.P)
    assert np.allclose(mdp.occupancy(policy), total, rtol=1e-12)


def test_values_and_advantages_satisfy_the_bellman_equation():
    mdp = random_mdp(1)
    policy = random_policy(1, mdp)
    value = mdp.value(policy)
    quality = mdp.R + mdp.gamma * mdp.P @ value
    assert np.allclose(value, (policy * quality).sum(axis=1), rtol=1e-13)
    assert np.allclose(mdp.advantage(policy), quality - value[:, None], atol=1e-13)
    assert np.isclose(mdp.performance(policy), (1.0 - mdp.gamma) * mdp.rho @ value, rtol=1e-13)


@pytest.mark.parametrize("probability", [1e-3, 1e-10, 1e-33])
def test_tiny_occupancies_have_no_relative_error(probability):
    lock = mdps.Lock(10, gamma=0.9)
    policy = np.where(lock.optimal_policy == 1.0, probability, 1.0 - probability)
    with mpmath.workdps(60):
        gamma, p = mpmath.mpf(lock.gamma), mpmath.mpf(probability)
        chain = mpmath.eye(10)
        for s in range(10):
            q = mpmath.mpf(policy[s].max())
            chain[s, 0] -= gamma * q
            chain[s, min(s + 1, 9)] -= gamma * p
        exact = mpmath.lu_solve(chain.T, (1 - gamma) * mpmath.matrix([1] + [0] * 9))
        errors = [abs(mpmath.mpf(float(d)) / x - 1) for d, x in zip(lock.occupancy(policy), exact, strict=True)]
    assert lock.occupancy(policy).min() < probability**8
    assert max(errors) < 1e-13


def test_a_discount_close_to_one_costs_no_precision():
    gamma, p = 1.0 - 2.0**-40, 0.3
    P = np.zeros((3, 1, 3))
    P[[0, 1, 2], 0, [1, 2, 0]], P[[0, 1, 2], 0, [0, 1, 2]] = p, 1.0 - p
    ring = mdps.FiniteMDP(P=P, R=np.ones((3, 1)), rho=[1.0, 0.0, 0.0], gamma=gamma)
    with mpmath.workdps(60):
        stay, move = mpmath.mpf(gamma) * mpmath.mpf(1.0 - p), mpmath.mpf(gamma) * mpmath.mpf(p)
        ending = mpmath.mpf(gamma) * (1 - mpmath.mpf(1.0 - p) - mpmath.mpf(p))  # what rounding takes from the rows
        ratio = move / (1 - stay - ending)
        exact = [ratio**k * (1 - mpmath.mpf(gamma)) / (1 - stay - ending) / (1 - ratio**3) for k in range(3)]
        errors = [abs(mpmath.mpf(float(d)) / x - 1) for d, x in zip(ring.occupancy(np.ones((3, 1))), exact, strict=True)]
    assert max(errors) < 1e-13


def test_large_chains_are_summed_to_the_same_occupancies_and_values(monkeypatch):
    mdp = mdps.DeepSea(12)
    policy = random_policy(2, mdp)
    occupancy, value = mdp.occupancy(policy), mdp.value(policy)
    monkeypatch.setattr(problem, "MOST_DENSE", 60)
    assert isinstance(mdp.chain(policy), problem.LargeChain)
    assert np.allclose(mdp.occupancy(policy), occupancy, rtol=1e-12, atol=0.0)
    assert np.allclose(mdp.value(policy), value, rtol=1e-12, atol=1e-16)


def test_policy_iteration_finds_the_best_of_all_deterministic_policies():
    for run in range(20):
        mdp = random_mdp(run, 4, 3, ending=0.05)
        performances = [mdp.performance(np.eye(3)[list(chosen)]) for chosen in itertools.product(range(3), repeat=4)]
        assert np.isclose(mdp.optimal_performance, max(performances), rtol=1e-12)


def test_with_gamma_one_performance_is_the_return_of_an_episode():
    sea = mdps.DeepSea(6, gamma=1.0)
    assert np.isclose(sea.occupancy(sea.uniform_policy).sum(), 6.0)  # visits in an episode of six steps
    assert np.isclose(sea.optimal_performance, 0.99)


def test_pruning_leaves_out_what_is_unreachable_or_over_and_keeps_performance():
    # 0 -> 1 or 2; 1 is terminal by staying, 2 pays; 3 is never reached
    P = np.zeros((4, 2, 4))
    P[0, 0, 1] = P[0, 1, 2] = P[1, :, 1] = 1.0
    P[2, 0, 0], P[2, 1, 1], P[3, :, 0] = 0.5, 1.0, 1.0
    R = np.array([[0.0, -0.1], [0.0, 0.0], [1.0, 0.5], [9.0, 9.0]])
    whole = mdps.FiniteMDP(P=P, R=R, rho=[1, 0, 0, 0], gamma=0.9)
    small = whole.pruned()
    assert small.states.tolist() == [0, 2]
    policy = np.array([[0.3, 0.7], [0.5, 0.5], [0.2, 0.8], [0.5, 0.5]])
    assert np.isclose(small.performance(policy[[0, 2]]), whole.performance(policy), rtol=1e-14)
    assert np.isclose(small.optimal_performance, whole.optimal_performance, rtol=1e-14)


def test_dense_sparse_and_listed_transitions_describe_the_same_mdp():
    dense = mdps.FiniteMDP(**GOOD)
    sparse = mdps.FiniteMDP(**{**GOOD, "P": csr_array(STAY.reshape(4, 2))})
    listed = mdps.FiniteMDP.from_transitions(
        [(0, 0, 0, 1.0), (0, 1, 1, 1.0), (1, 0, 0, 0.25), (1, 0, 0, 0.25), (1, 0, 1, 0.5)],
        **{key: GOOD[key] for key in ("R", "rho", "gamma")},
    )
    described = {key: value for key, value in dense.to_dict().items() if key != "problem"}
    for other in (sparse, listed, mdps.FiniteMDP(**described)):
        assert other.to_dict() == dense.to_dict()
        assert (other.P == STAY).all()
    assert dense.offsets.tolist() == [0, 1, 2, 4, 4]
    assert dense.missing.tolist() == [[0.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"P": 1.5 * STAY}, "FiniteMDP: rows of P must sum to at most 1, got 1.5 for state 0 and action 0"),
        ({"P": np.where(STAY == 0.5, np.nan, STAY)}, "FiniteMDP: P must be finite, got nan"),
        ({"P": STAY - 0.1}, "FiniteMDP: P must not be negative, got -0.1"),
        ({"P": STAY[:, :1]}, r"FiniteMDP: P must have shape \(2, 2, 2\) to go with R, got \(2, 1, 2\)"),
        ({"P": csr_array(np.eye(2))}, r"FiniteMDP: sparse P must have shape \(4, 2\) to go with R, got \(2, 2\)"),
        ({"R": [[0.0, np.inf], [1.0, 1.0]]}, "FiniteMDP: R must be finite, got inf"),
        ({"R": np.zeros((2, 0))}, r"FiniteMDP: every state must have an action, got R of shape \(2, 0\)"),
        ({"R": [1.0, 2.0]}, r"FiniteMDP: R must have one row per state and one column per action, got shape \(2,\)"),
        ({"R": [[1.0], [1.0, 2.0]]}, "FiniteMDP: R must be an array of numbers, all rows of one length"),
        ({"rho": [0.5, 0.4]}, "FiniteMDP: rho must sum to 1, got 0.9"),
        ({"rho": [1.5, -0.5]}, "FiniteMDP: rho must not be negative, got -0.5"),
        ({"rho": [1.0]}, r"FiniteMDP: rho must have one entry per state, 2, got shape \(1,\)"),
        ({"gamma": 1.2}, "FiniteMDP: gamma must be between 0 and 1, got 1.2"),
        ({"gamma": 1.0}, "FiniteMDP: with gamma 1 every policy must end the episode, got 2 states such as 0 in which"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(wrong, sentence):
    with pytest.raises(ValueError, match=sentence) as refused:
        mdps.FiniteMDP(**{**GOOD, **wrong})
    assert "\n" not in str(refused.value)


def test_bad_policies_and_bad_lists_are_refused():
    mdp = mdps.FiniteMDP(**GOOD)
    with pytest.raises(ValueError, match="rows of policy must sum to 1, got 0.9 for state 1"):
        mdp.occupancy([[0.5, 0.5], [0.5, 0.4]])
    with pytest.raises(ValueError, match=r"policy must have shape \(2, 2\), got \(2,\)"):
        mdp.performance([0.5, 0.5])
    with pytest.raises(ValueError, match="FiniteMDP: states must be numbered 0 to 1, got 2"):
        mdps.FiniteMDP.from_transitions([(0, 0, 2, 1.0)], R=GOOD["R"], rho=GOOD["rho"], gamma=0.9)
    with pytest.raises(ValueError, match="some state must be reachable and not terminal"):
        mdps.FiniteMDP(P=np.ones((1, 2, 1)), R=[[0, 0]], rho=[1], gamma=0.5).pruned()
