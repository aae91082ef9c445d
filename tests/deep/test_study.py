"""The study's own PPO and tasks, where each has an independent truth."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest
import torch
from toys import ROOT

pytest.importorskip("sklearn", reason="the study's tasks need scikit-learn")


@pytest.fixture(scope="module", autouse=True)
def _benchmarks_can_be_imported():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield
    sys.path.remove(str(ROOT / "benchmarks"))


def short(task, updates):
    return dataclasses.replace(task, updates=updates)


def test_bounds_of_a_task_are_the_returns_of_play():
    from deep_tasks import Environments, frozen_lake, grid_moving

    for task, runs in ((grid_moving(), 40), (frozen_lake(), 40)):
        low, high = task.phases[0].bounds(task.starts, task.limit)
        environments = Environments(task, torch.arange(runs) % 10, 50, torch.Generator().manual_seed(0))
        generator = torch.Generator().manual_seed(1)
        ended = []
        for _ in range(3 * task.limit):
            _, done, returned = environments.step(torch.randint(4, environments.state.shape, generator=generator))
            ended.append(returned[done])
        played = torch.cat(ended)
        # Short episodes end more often within the time played, so the tolerance is wide; 5 standard errors besides.
        assert played.mean().item() == pytest.approx(low.mean(), abs=0.03 + 5 * played.std().item() / len(played) ** 0.5)
        assert (high > low + 0.5).all()


def test_the_best_return_in_the_grid_is_that_of_the_shortest_path():
    from deep_tasks import SIDE, _goals, grid_moving

    task = grid_moving()
    goals, centre = _goals(2)[0], SIDE // 2
    distance = abs(goals // SIDE - centre) + abs(goals % SIDE - centre)
    assert np.allclose(task.phases[0].bounds(task.starts, task.limit)[1], 1 - 0.01 * distance)


def test_passing_every_state_or_every_sample_through_the_networks_is_the_same(monkeypatch):
    import deep_ppo
    from deep_tasks import grid_moving

    bonuses = [deep_ppo.bonus(name, 0.3) for name in ("entropy", "barrier", "symmetric", "annealed")]
    task = short(grid_moving(), (2, 2))
    by_state = deep_ppo.train(task, bonuses, [7, 8], stream=1)
    monkeypatch.setattr(deep_ppo, "FEW_STATES", 0)
    by_sample = deep_ppo.train(task, bonuses, [7, 8], stream=1)
    assert np.allclose(by_state.min_probability, by_sample.min_probability, atol=1e-6)
    assert np.array_equal(by_state.score, by_sample.score)


def test_one_step_of_many_runs_is_what_torch_does_to_each_alone():
    import deep_ppo
    from deep_tasks import grid_moving

    task = grid_moving()
    bonuses = [deep_ppo.bonus("entropy", 0.2), deep_ppo.bonus("barrier", 0.5)]
    networks = deep_ppo.Networks.fresh(49, 4, [3, 4])
    training = deep_ppo.Training(task, networks, [3, 4], bonuses, 0)
    counts = [torch.zeros(2, deep_ppo.ENVIRONMENTS, dtype=torch.float64) for _ in range(2)]
    data = training._collect(*counts)
    loss = training._loss(data, *training._reader(torch.ones(2, 1))(data["state"]))
    loss.sum().backward()
    training._clip()
    for run, (entropy_weight, barrier_weight) in enumerate(((0.2, 0.0), (0.0, 0.5))):
        layers = [w.detach()[run].clone().requires_grad_() for w in networks.weights]
        x = torch.eye(49)[data["state"][run]]
        outputs = []
        for part in (layers[:6], layers[6:]):
            hidden = torch.tanh(torch.tanh(x @ part[0] + part[1]) @ part[2] + part[3])
            outputs.append(hidden @ part[4] + part[5])
        policy = torch.distributions.Categorical(logits=outputs[0])
        advantage = data["advantage"][run]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        ratio = (policy.log_prob(data["action"][run]) - data["log_pi"][run]).exp()
        gain = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        bonus = entropy_weight * policy.entropy() + barrier_weight * policy.logits.mean(-1)
        alone = (0.5 * (outputs[1][:, 0] - data["target"][run]).square() - gain - bonus).mean()
        alone.backward()
        torch.nn.utils.clip_grad_norm_(layers, 0.5)
        for ours, theirs in zip(networks.weights, layers, strict=True):
            assert torch.allclose(ours.grad[run], theirs.grad, atol=1e-5)


def test_interquartile_means_and_holm_are_what_they_say():
    import deep_study

    assert deep_study.interquartile_mean(np.array([-100.0, 1.0, 2.0, 900.0])) == 1.5
    assert deep_study.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_the_bootstrap_interval_of_a_difference_covers_the_truth_about_as_often_as_it_says():
    import deep_study

    rng = np.random.default_rng(0)
    rows = [{"score": {"a": rng.normal(1.0, 1.0, 30), "b": rng.normal(0.0, 1.0, 30)}} for _ in range(40)]
    covered = sum(low < 1.0 < high for _, low, high in (deep_study.difference([row], "score", "a", "b") for row in rows))
    # Bootstrap intervals of 30 runs cover about 93 %; 32 or fewer of 40 would then happen less than once in 200 times.
    assert covered > 32
