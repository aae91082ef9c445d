"""The tasks of the study of bonuses, as arrays, against Gymnasium and against their descriptions."""

from __future__ import annotations

import sys

import gymnasium
import numpy as np
import pytest
from toys import ROOT, Chain


@pytest.fixture(scope="module")
def tasks():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import spectral_tasks

    yield spectral_tasks
    sys.path.remove(str(ROOT / "benchmarks"))


def test_mountain_car_moves_as_in_gymnasium(tasks):
    cars, chance = tasks.SparseMountainCar(3, seed=0), np.random.default_rng(0)
    cars.reset()
    real = [gymnasium.make("MountainCar-v0") for _ in range(3)]
    for car, position in zip(real, cars.position, strict=True):
        car.reset(seed=0)
        car.unwrapped.state = (position, 0.0)
    for _ in range(199):
        push = chance.integers(3, size=3)
        seen, rewards, over, _ = cars.step(push)
        for i, car in enumerate(real):
            expected, _, ended, _, _ = car.step(int(push[i]))
            assert (rewards[i], over[i]) == (float(ended), ended)
            assert seen[i] == pytest.approx(2 * (expected - [-1.2, -0.07]) / [1.8, 0.14] - 1, abs=1e-5)
    _, _, over, infos = cars.step(np.zeros(3, dtype=int))
    assert over.all()
    assert infos[0]["TimeLimit.truncated"]


def test_a_car_that_swings_reaches_the_hill_and_is_paid_once(tasks):
    cars = tasks.SparseMountainCar(2, seed=1)
    cars.reset()
    for _ in range(200):
        _, rewards, over, infos = cars.step(np.where(cars.velocity >= 0, 2, 0))  # push along
        if over.any():
            break
    first = int(np.flatnonzero(over)[0])
    assert rewards[first] == infos[first]["episode"]["r"] == 1.0
    assert not infos[first]["TimeLimit.truncated"]


def test_the_chain_pays_as_the_one_of_the_tests(tasks):
    chains, plain, chance = tasks.Chain(1, seed=0), Chain(), np.random.default_rng(1)
    chains.reset()
    plain.reset()
    for _ in range(100):
        action = chance.integers(2, size=1) | (chance.random(1) < 0.8)
        seen, rewards, over, _ = chains.step(action)
        place, reward, ended, _, _ = plain.step(int(action[0]))
        if ended:
            place, _ = plain.reset()
        assert (seen[0], over[0]) == (place, ended)
        assert rewards[0] == pytest.approx(reward)


def test_the_way_to_the_treasure_is_always_right(tasks):
    sea = tasks.DeepSea(2, seed=0, size=5)
    sea.reset()
    for _ in range(5):
        way = sea.right[sea.row, sea.column]
        _, _, over, infos = sea.step(np.array([way[0], 1 - way[1]]))  # the first goes right, the second left
    assert over.all()
    assert [info["episode"]["r"] for info in infos] == pytest.approx([1 - 0.01, 0.0])


@pytest.mark.parametrize("name", ["DoorKey", "MultiRoom"])
def test_a_grid_shows_and_pays_what_minigrid_does(tasks, name):
    pytest.importorskip("minigrid", reason="the task is MiniGrid's")
    grids, chance = getattr(tasks, name)(2, seed=0), np.random.default_rng(0)
    grids.reset()
    for _ in range(grids.limit):
        seen, rewards, over, infos = grids.step(chance.integers(3, size=2))  # while doors are closed, nothing is paid
        cells = seen.reshape(2, 49, 20)
        for i, game in enumerate(grids.games):
            shown = np.stack([part.argmax(-1) for part in np.split(cells[i], [11, 17], axis=-1)], -1)
            assert np.array_equal(shown, game.gen_obs()["image"].reshape(49, 3))
        assert not rewards.any()
    assert over.all()
    assert infos[0]["TimeLimit.truncated"]
    assert grids.limit == grids.games[0].max_steps


def test_the_lake_slips_as_in_gymnasium(tasks):
    """Every outcome is one of Gymnasium's; of about 300 frequencies one is 5 errors away in 6,000 runs of this test."""
    lake, chance, counts = tasks.FrozenLake(2000, seed=0), np.random.default_rng(1), np.zeros((64, 4, 64))
    lake.reset()
    table, rewards_of = np.zeros((64, 4, 64)), np.zeros(64)
    for state, actions in gymnasium.make("FrozenLake8x8-v1").unwrapped.P.items():
        for action, outcomes in actions.items():
            for share, place, reward, _ in outcomes:
                table[state, action, place] += share
                rewards_of[place] = max(rewards_of[place], reward)
    for _ in range(100):
        before, action = lake.place.copy(), chance.integers(4, size=2000)
        rewards, ended = lake.move(action)
        np.testing.assert_array_equal(rewards, rewards_of[lake.place])
        np.testing.assert_array_equal(ended, table[lake.place, 0, lake.place] == 1.0)  # holes and the goal keep what is there
        np.add.at(counts, (before, action, lake.place), 1)
        lake.reset_some(ended)
    made = counts.sum(-1, keepdims=True)
    errors = np.sqrt(made * table * (1 - table))
    assert not counts[table == 0].any()
    assert np.abs((counts - made * table)[errors > 5] / errors[errors > 5]).max() < 5.0


def test_multi_room_has_four_rooms(tasks):
    pytest.importorskip("minigrid", reason="the task is MiniGrid's")
    rooms = tasks.MultiRoom(2, seed=0)
    rooms.reset()
    assert [len(game.rooms) for game in rooms.games] == [4, 4]


def test_the_table_leaves_out_seeds_that_not_all_methods_have(tasks):
    import spectral_study

    made = [("ppo", 200), ("spectral", 200), ("rnd", 200), ("ppo", 201), ("spectral", 201)]
    rows = [
        {"task": "multi-room", "method": method, "setting": 0, "seed": seed, "end": 0.77, "solved": True, "steps": 1000}
        for method, seed in made
    ]
    shown = [line.split(" | ")[1:4] for line in spectral_study.table(rows).splitlines()[2:]]
    assert [(method, solved) for method, _, solved in shown] == [(m, "1 of 1") for m in ("ppo", "spectral", "rnd")]


def test_a_pole_that_hangs_still_is_paid_nothing_and_a_push_costs_a_tenth(tasks):
    pytest.importorskip("bsuite", reason="bsuite is not installed")
    poles = tasks.SwingUp(2, seed=0)
    first = poles.reset()
    np.testing.assert_allclose(first[:, 3], -1.0, atol=0.01)  # the cosine of the angle
    assert not (first[0] == first[1]).all()
    lengths = []
    for step in range(1, 1003):
        _, rewards, over, infos = poles.step(np.array([1, 1 if step > 1 else 2]))
        assert rewards == pytest.approx([0.0, -0.1 if step == 1 else 0.0])
        lengths += [(step, infos[i]["episode"]["r"]) for i in np.flatnonzero(over)]
    assert len(lengths) == 2
    assert all(1000 <= step <= 1002 for step, _ in lengths)
    assert [paid for _, paid in lengths] == pytest.approx([0.0, -0.1])
