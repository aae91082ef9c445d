"""The single-file example: both algorithms, every bonus."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from toys import EXAMPLES, module


@pytest.fixture(scope="module")
def example():
    return module(EXAMPLES / "ppo_barrier.py")


@pytest.mark.parametrize("bonus", ["none", "entropy", "barrier", "symmetric"])
@pytest.mark.parametrize("algorithm", ["PPO", "A2C"])
def test_every_combination_trains(example, collapsed_grid, algorithm, bonus):
    settings = getattr(example, algorithm)
    fixed = {
        "coefficient": 0.1,
        "anneal": True,
        "timesteps": 2 * settings.steps * settings.environments,
        "seed": 0,
        "quiet": True,
    }
    agent, _ = example.train("Goal-v0", settings, example.BONUSES[bonus], **fixed)
    assert all(torch.isfinite(weight).all() for weight in agent.parameters())


@pytest.mark.parametrize("algorithm", ["PPO", "A2C"])
def test_it_learns_to_reach_the_goal(example, collapsed_grid, algorithm):
    fixed = {"coefficient": 0.1, "anneal": True, "timesteps": 15_000, "seed": 0, "quiet": True}
    _, returns = example.train("Goal-v0", getattr(example, algorithm), example.BONUSES["barrier"], **fixed)
    assert np.mean(returns[-50:]) > 0.9 > 0.5 > np.mean(returns[:50])


def test_the_bonus_alone_makes_an_agent_uniform(example):
    torch.manual_seed(0)
    agent = example.Agent(3, 4)
    with torch.no_grad():
        agent.actor[-1].bias += torch.tensor([5.0, 0.0, 0.0, 0.0])
    states = torch.randn(64, 3)
    nothing = torch.zeros(64)
    batch = example.Batch(states, torch.zeros(64, dtype=torch.long), nothing, nothing, nothing)
    optimiser = torch.optim.Adam(agent.parameters(), 0.01)
    for _ in range(300):
        example.update(agent, optimiser, batch, example.A2C, example.BONUSES["barrier"], 1.0)
    assert torch.log_softmax(agent(states)[0], -1).detach().numpy() == pytest.approx(-math.log(4), abs=0.05)
