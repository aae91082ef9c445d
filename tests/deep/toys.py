"""A toy environment with any spaces, and the examples as modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"


class Toy(gymnasium.Env[Any, Any]):
    """Any spaces: observations are drawn at random, episodes last 10 steps, and the allowed actions are the even ones."""

    def __init__(self, action_space: spaces.Space[Any], observation_space: spaces.Space[Any] | None = None) -> None:
        self.action_space = action_space
        self.observation_space = observation_space or spaces.Box(-1.0, 1.0, (3,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self.age = 0
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.age += 1
        return self.observation_space.sample(), float(np.sum(action) == 0), self.age == 10, False, {}

    def action_masks(self) -> np.ndarray:
        return np.arange(self.action_space.n) % 2 == 0


class Chain(gymnasium.Env[Any, Any]):
    """One step right or back to the start; the right end pays 1 a step, going back pays 0.001 at the start."""

    def __init__(self, length: int = 20) -> None:
        self.length = length
        self.observation_space = spaces.Discrete(length)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = self.age = 0
        return self.place, {}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.age += 1
        reward = 0.0 if action else 0.001 * (self.place == 0)
        self.place = min(self.place + 1, self.length - 1) if action else 0
        return self.place, reward + (self.place == self.length - 1), self.age == self.length + 8, False, {}


def module(path: Path) -> Any:
    """A script, imported."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = loaded  # dataclasses look their module up
    spec.loader.exec_module(loaded)
    return loaded
