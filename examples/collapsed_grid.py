"""Makes a policy that has collapsed: PPO learns one goal of a small grid until it is certain, and is saved.

    python examples/collapsed_grid.py collapsed.zip
    logbarrier rescue collapsed.zip --env collapsed_grid:MovedGoal-v0 --timesteps 20000      (in this folder)

`Goal-v0` has its goal in one corner, `MovedGoal-v0` in another. Trained on without a bonus, the policy keeps running to the
old corner: it tries the other way too seldom to find out. With the log barrier it learns the new one.
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from stable_baselines3 import PPO

SIDE = 5
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))


class Grid(gymnasium.Env[int, int]):
    """Start in the middle of a 5 x 5 grid; reaching the goal pays 1 and ends, every step costs 0.01, 30 steps at most."""

    def __init__(self, goal: tuple[int, int] = (0, 0)) -> None:
        self.goal = goal
        self.observation_space = spaces.Discrete(SIDE * SIDE)
        self.action_space = spaces.Discrete(len(MOVES))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Back to the middle."""
        super().reset(seed=seed)
        self.place = (SIDE // 2, SIDE // 2)
        return self._observation(), {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """One move; walls stop it."""
        row, column = (int(np.clip(at + by, 0, SIDE - 1)) for at, by in zip(self.place, MOVES[int(action)], strict=True))
        self.place = (row, column)
        reached = self.place == self.goal
        return self._observation(), float(reached) - 0.01, reached, False, {}

    def _observation(self) -> int:
        return self.place[0] * SIDE + self.place[1]


for name, corner in (("Goal-v0", (0, 0)), ("MovedGoal-v0", (SIDE - 1, SIDE - 1))):
    if name not in gymnasium.registry:
        gymnasium.register(name, Grid, max_episode_steps=30, kwargs={"goal": corner})


def collapsed_model(*, timesteps: int = 12_000, seed: int = 0) -> PPO:
    """PPO without a bonus, trained for longer than it needs."""
    settings: dict[str, Any] = {"n_steps": 256, "batch_size": 128, "n_epochs": 8, "learning_rate": 3e-3}
    model = PPO("MlpPolicy", gymnasium.make("Goal-v0"), ent_coef=0.0, seed=seed, device="cpu", **settings)
    return model.learn(timesteps)


if __name__ == "__main__":
    collapsed_model().save(sys.argv[1] if len(sys.argv) > 1 else "collapsed.zip")
