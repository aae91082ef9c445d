"""Returns of episodes, and what they say about a policy that has lost actions.

A policy that is certain may be right. It is called collapsed if it has lost actions and its returns are poor. Poor
returns are not above those of uniform play, or have less than half of the gain over them that the critic expects.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO, RecurrentPPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import VecEnv

MANY_LOST = 0.1  # a policy that has lost a smaller share of its actions is alive
KEPT = 0.5  # least share of the gain over uniform play that a healthy policy has of what its critic expects


class Episodes:
    """Returns of the episodes of several environments, in the order in which they end.

    `unit` is what one unit of the critic's values is in rewards: other than 1 if the model was trained on scaled rewards.
    """

    def __init__(self, model: Any, environments: int, unit: float) -> None:
        self.model, self.gamma, self.unit = model, model.gamma, unit
        self.values = not isinstance(model, RecurrentPPO)  # its critic needs the states of its memory
        self.sum, self.discounted_sum, self.discount = (np.zeros(environments), np.zeros(environments), np.ones(environments))
        self.value_at_start = np.full(environments, np.nan)
        self.returns: list[float] = []
        self.discounted: list[float] = []
        self.expected: list[float] = []

    def begin(self, observation: Any, starts: NDArray[np.bool_]) -> None:
        """Note what the critic expects where an episode starts."""
        if self.values and starts.any():
            self.value_at_start[starts] = self._value(observation)[starts]

    def add(self, reward: NDArray[np.float64], over: NDArray[np.bool_], infos: list[dict[str, Any]]) -> None:
        """Add a step; after a time limit the critic's value stands for the rest of the episode."""
        self.sum += reward
        self.discounted_sum += self.discount * reward
        self.discount *= self.gamma
        for i in np.flatnonzero(over):
            rest = 0.0
            if self.values and infos[i].get("TimeLimit.truncated", False):
                rest = float(self._value(infos[i]["terminal_observation"])[0])
            self.returns.append(float(self.sum[i]))
            self.discounted.append(float(self.discounted_sum[i] + self.discount[i] * rest))
            self.expected.append(float(self.value_at_start[i]))
        self.sum[over] = self.discounted_sum[over] = 0.0
        self.discount[over] = 1.0

    def _value(self, observation: Any) -> NDArray[np.float64]:
        tensor, _ = self.model.policy.obs_to_tensor(observation)
        with torch.no_grad():
            return self.unit * self.model.policy.predict_values(tensor).flatten().cpu().double().numpy()


def uniform_play(model: Any, vectors: VecEnv, rounds: int, seed: int, unit: float) -> Episodes:
    """Let uniform actions, the allowed ones for MaskablePPO, act in the environments of a model."""
    chance = np.random.default_rng(seed)
    vectors.seed(seed)
    vectors.action_space.seed(seed)
    vectors.reset()
    episodes = Episodes(model, vectors.num_envs, unit)
    for _ in range(rounds):
        if isinstance(model, MaskablePPO) and hasattr(vectors.action_space, "n"):
            action = np.array([chance.choice(np.flatnonzero(mask)) for mask in get_action_masks(vectors)])
        else:
            action = np.array([vectors.action_space.sample() for _ in range(vectors.num_envs)])
        _, reward, over, infos = vectors.step(action)
        episodes.add(reward, over, infos)
    return episodes


def is_collapsed(lost_share: float, discounted: list[float], uniform: list[float], expected: list[float]) -> bool | None:
    """Return whether a policy has collapsed; None if it has lost actions and too few episodes ended to tell.

    >>> is_collapsed(0.9, [48.0, 47.0], [20.0, 22.0], [49.0, 49.0]), is_collapsed(0.9, [1.0, 2.0], [20.0, 22.0], [49.0, 49.0])
    (False, True)
    """
    if lost_share < MANY_LOST:
        return False
    if not (len(discounted) >= 2 and len(uniform) >= 2):
        return None
    gain = float(np.mean(discounted) - np.mean(uniform))
    if gain <= 2.0 * _standard_error(discounted, uniform):
        return True
    hoped = float(np.mean(expected) - np.mean(uniform))
    return False if math.isnan(hoped) else gain < KEPT * hoped


def is_worse(after: list[float], before: list[float]) -> bool:
    """Return whether returns fell by more than two standard errors."""
    if not (len(after) >= 2 and len(before) >= 2):
        return False
    return bool(np.mean(after) < np.mean(before) - 2.0 * _standard_error(after, before))


def _standard_error(*samples: list[float]) -> float:
    return math.sqrt(sum(float(np.var(sample, ddof=1)) / len(sample) for sample in samples))
