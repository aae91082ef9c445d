"""What an agent has seen of each arm: decisions, and the number, mean and spread of their rewards."""

from __future__ import annotations

import math
from typing import Any

FIELDS = ("decisions", "rewards", "means", "squares")


class ArmStatistics:
    """Per arm: decisions, rewards n, their mean, and the sum of squared deviations from it (Welford 1962)."""

    __slots__ = (*FIELDS, "is_binary")

    def __init__(self, n_arms: int) -> None:
        self.decisions, self.rewards = [0] * n_arms, [0] * n_arms
        self.means, self.squares = [0.0] * n_arms, [0.0] * n_arms
        self.is_binary = True  # whether every reward was 0 or 1

    def add_reward(self, arm: int, reward: float) -> None:
        """Count a reward; arm -1, removed since, is not counted."""
        if arm < 0:
            return
        count = self.rewards[arm] + 1
        change = reward - self.means[arm]
        mean = self.means[arm] + change / count
        self.rewards[arm], self.means[arm] = count, mean
        self.squares[arm] += change * (reward - mean)
        if self.is_binary and reward not in (0.0, 1.0):
            self.is_binary = False

    def add_arm(self) -> None:
        """Add an arm, as the last one."""
        for name in FIELDS:
            values = getattr(self, name)
            values.append(type(values[0])())

    def remove_arm(self, arm: int) -> None:
        """Remove an arm."""
        for name in FIELDS:
            del getattr(self, name)[arm]

    def clear(self, arm: int) -> None:
        """Forget what was counted of an arm."""
        for name in FIELDS:
            values = getattr(self, name)
            values[arm] = type(values[arm])()

    def copy(self) -> ArmStatistics:
        """Return a copy that later events do not change."""
        copied = ArmStatistics(0)
        for name in FIELDS:
            setattr(copied, name, list(getattr(self, name)))
        copied.is_binary = self.is_binary
        return copied

    def state(self) -> dict[str, Any]:
        """Plain JSON values; finite, since rewards of at most 1e100 in size have finite squares."""
        return {**{name: list(getattr(self, name)) for name in FIELDS}, "is_binary": self.is_binary}

    def restore(self, owner: str, state: dict[str, Any]) -> None:
        """Set what `state` returned; checked."""
        n_arms = len(self.decisions)
        for name in FIELDS:
            values = state[name]
            kind = (int,) if name in ("decisions", "rewards") else (int, float)
            fits = isinstance(values, list) and len(values) == n_arms and all(type(value) in kind for value in values)
            if not fits or not all(math.isfinite(value) and (name == "means" or value >= 0) for value in values):
                raise ValueError(f"{owner}: {name} of the statistics must be one number per arm, got {values!r}")
            setattr(self, name, list(values))
        self.is_binary = bool(state["is_binary"])
