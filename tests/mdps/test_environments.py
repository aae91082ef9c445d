"""Environments: the facts they are known by."""

from __future__ import annotations

import numpy as np
import pytest

from logbarrier import mdps

NAMED = [mdps.RiverSwim(12), mdps.Lock(20), mdps.Lock(10, 4), mdps.Distractor(16), mdps.DeepSea(14)]
FAMILIES = [mdps.RandomMDPs(6, 3, branching=2, ending=0.1), mdps.RandomLocks(8, 3), mdps.RandomDeepSeas(5)]


@pytest.mark.parametrize("mdp", NAMED, ids=repr)
def test_every_state_is_reachable_and_a_description_gives_the_environment_back(mdp):
    assert mdp.pruned() is mdp
    described = mdp.to_dict()
    again = getattr(mdps, described.pop("problem"))(**described)
    assert again.to_dict() == mdp.to_dict()
    assert (again.P == mdp.P).all()
    assert (again.R == mdp.R).all()


def test_river_swim_has_the_published_current():
    P = mdps.RiverSwim(6).P
    assert P[0, 1, :2].tolist() == [0.4, 0.6]
    assert P[3, 1, 2:5].tolist() == [0.05, 0.6, 0.35]
    assert P[5, 1, 4:].tolist() == [0.4, 0.6]
    assert (P[1:, 0, :-1] == np.eye(5)).all()


def test_a_lock_opens_for_one_action_in_each_state_and_seeds_differ():
    lock = mdps.Lock(10, 4, gamma=0.5)
    assert np.isclose(lock.optimal_performance, 0.5**9)
    assert (lock.P[1:, :, 0].sum(axis=1) == 3).all()  # three wrong actions lead back
    assert (mdps.Lock(10, 4, seed=1).P != lock.P).any()


def test_the_distractor_pays_a_little_at_once_and_one_at_the_end():
    mdp = mdps.Distractor(5, gamma=0.9)
    left = np.eye(2)[[0] * 5]
    assert np.isclose(mdp.performance(left), 0.02)
    assert np.isclose(mdp.optimal_performance, 0.1 * 0.9**4 / (1 - 0.9**5))


def test_deep_sea_is_a_triangle_with_one_rewarding_path():
    sea = mdps.DeepSea(8, gamma=1.0)
    assert (sea.n_states, sea.episode_length, sea.shape) == (36, 8, (8, 8))
    assert np.isclose(sea.optimal_performance, 1.0 - 0.01)
    uniform = sea.occupancy(sea.uniform_policy)
    assert np.isclose(uniform[-1], 2.0**-7)  # the far corner, by chance
    assert np.allclose([uniform[sea.states // 8 == row].sum() for row in range(8)], 1.0)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_families_draw_the_same_mdp_for_a_run_and_another_for_the_next(family):
    first, again, second = family.problem(0, 3), family.problem(0, 3), family.problem(0, 4)
    assert first.to_dict() == again.to_dict()
    assert first.to_dict() != second.to_dict()
    assert (first.n_states, first.n_actions, first.gamma) == (family.n_states, family.n_actions, family.gamma)
    assert first.pruned() is first
    assert first.episode_length == family.episode_length
    described = family.to_dict()
    assert getattr(mdps, described.pop("problem"))(**described).to_dict() == family.to_dict()


def test_random_locks_choose_each_action_equally_often():
    right = np.concatenate([mdps.RandomLocks(20, 4).problem(0, run).R[-1] for run in range(400)]).reshape(400, 4)
    counts = right.sum(axis=0)
    assert ((counts - 100.0) ** 2 / 100.0).sum() < 21.1  # chi square, 3 degrees of freedom: false alarm 1e-4


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="RiverSwim: n must be at least 2, got 1"):
        mdps.RiverSwim(1)
    with pytest.raises(ValueError, match="RandomMDPs: ending must be between 0 and 1, got 2"):
        mdps.RandomMDPs(3, 2, ending=2)


def test_gymnasium_environments_are_read_as_they_are():
    pytest.importorskip("gymnasium", reason="the extra `mdp` is not installed")
    lake = mdps.from_gymnasium("FrozenLake-v1", gamma=0.99, map_name="8x8")
    assert (lake.n_states, lake.n_actions, lake.episode_length, lake.shape) == (53, 4, 200, (8, 8))
    assert np.isclose(lake.R.max(), 1 / 3)  # slippery: one of three moves reaches the goal
    cliff = mdps.from_gymnasium("CliffWalking-v1", gamma=1 - 1e-9)
    assert cliff.n_states == 37
    assert np.isclose(cliff.optimal_performance / cliff.normaliser, -13.0)  # thirteen steps along the edge
    taxi = mdps.from_gymnasium("Taxi-v4")
    assert (taxi.n_states, taxi.n_actions) == (400, 6)  # 404 less the four that end the ride
    assert taxi.to_dict() == {"problem": "from_gymnasium", "environment": "Taxi-v4", "gamma": 0.99}


def test_a_policy_earns_in_gymnasium_what_the_mdp_says():
    gymnasium = pytest.importorskip("gymnasium", reason="the extra `mdp` is not installed")
    lake = mdps.from_gymnasium("FrozenLake-v1", gamma=0.95, map_name="4x4")
    action_of = dict(zip(lake.states.tolist(), lake.optimal_policy.argmax(axis=1).tolist(), strict=True))
    env = gymnasium.make("FrozenLake-v1", map_name="4x4")
    returns = []
    for episode in range(1000):
        state, _ = env.reset(seed=0 if episode == 0 else None)
        total, weight, over = 0.0, 1.0, False
        while not over:
            state, reward, ended, cut, _ = env.step(action_of[int(state)])
            total, weight, over = total + weight * reward, weight * 0.95, ended or cut
        returns.append(total)
    expected = lake.optimal_performance / lake.normaliser
    assert abs(np.mean(returns) - expected) < 4.5 * np.std(returns) / np.sqrt(1000) + 0.95**100  # false alarm 1e-5


def test_environments_without_a_table_are_refused():
    pytest.importorskip("gymnasium", reason="the extra `mdp` is not installed")
    with pytest.raises(ValueError, match="from_gymnasium: CartPole-v1 must have a transition table"):
        mdps.from_gymnasium("CartPole-v1")
    with pytest.raises(ValueError, match="from_gymnasium: Nowhere-v0 cannot be made"):
        mdps.from_gymnasium("Nowhere-v0")
