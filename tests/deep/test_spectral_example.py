"""The single-file example of the spectral bonus."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from toys import EXAMPLES, module


@pytest.fixture(scope="module")
def example():
    return module(EXAMPLES / "ppo_spectral.py")


def test_it_reaches_the_goal_of_deep_sea_in_most_episodes(example):
    _, shares = example.train(example.Settings(size=10, timesteps=30_000), quiet=True)
    assert shares[0] == 0.0
    assert np.mean(shares[-3:]) > 0.6


def test_its_bonus_is_the_leverage_against_the_covariance(example):
    torch.manual_seed(0)
    bonus = example.SpectralBonus(5, 8, 0.5)
    gram = np.zeros((8, 8))
    for _ in range(3):
        states = torch.randn(20, 5)
        z = bonus.network(states).double().numpy()
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        gram = 0.5 * gram + z.T @ z
        expected = np.einsum("ni,ij,nj->n", z, np.linalg.inv(gram + np.eye(8)), z)
        assert bonus(states).numpy() == pytest.approx(expected, abs=1e-5)


def test_the_way_to_the_goal_is_always_right(example):
    sea = example.DeepSea(4, 2)
    total = np.zeros(2)
    for _ in range(4):
        way = sea.right[sea.row, sea.column]
        reward, over = sea.step(np.array([way[0], 1 - way[1]]))  # the first environment goes right, the second left
        total += reward
    assert over
    assert total == pytest.approx([1 - 4 * 0.01 / 4, 0.0])
