"""Tasks with distant rewards for Stable-Baselines3: many environments as NumPy arrays, one step of all of them per call."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

Values = NDArray[Any]


class Environments(VecEnv):
    """Copies of one task. A task defines `reset_some`, `observe` and `move`; episodes and their returns are counted here."""

    limit: int
    """Steps after which an episode ends."""
    truncates = False
    """Whether this end is a time limit that the value function looks beyond, as for Gymnasium's `TimeLimit`."""
    render_mode = None

    def __init__(self, count: int, observations: spaces.Space[Any], actions: int, seed: int) -> None:
        super().__init__(count, observations, spaces.Discrete(actions))
        self.random = np.random.default_rng(seed)
        self.returns, self.ages = np.zeros(count), np.zeros(count, dtype=np.int64)
        self.begin = time.time()

    def reset_some(self, chosen: Values) -> None:
        """Start an episode in the environments of a boolean mask."""
        raise NotImplementedError

    def observe(self) -> Values:
        """Return an observation per environment."""
        raise NotImplementedError

    def move(self, actions: Values) -> tuple[Values, Values]:
        """Make a step; return rewards, and whether the task itself ends the episode."""
        raise NotImplementedError

    def reset(self) -> Values:
        """Start every environment."""
        self.returns[:], self.ages[:] = 0.0, 0
        self.reset_some(np.ones(self.num_envs, dtype=bool))
        return self.observe()

    def step_async(self, actions: Values) -> None:
        """Keep the actions for `step_wait`."""
        self.actions = actions

    def step_wait(self) -> tuple[Values, Values, Values, list[dict[str, Any]]]:
        """Make the step, and start an episode where one has ended."""
        rewards, ended = self.move(self.actions)
        self.returns += rewards
        self.ages += 1
        over = ended | (self.ages == self.limit)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if over.any():
            last = self.observe()
            for i in np.flatnonzero(over):
                infos[i] = {
                    "episode": {"r": float(self.returns[i]), "l": int(self.ages[i]), "t": time.time() - self.begin},
                    "terminal_observation": last[i],
                    "TimeLimit.truncated": self.truncates and not ended[i],
                }
            self.returns[over], self.ages[over] = 0.0, 0
            self.reset_some(over)
        return self.observe(), rewards.astype(np.float32), over, infos

    def close(self) -> None:
        """Release nothing."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute once per environment."""
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of all environments."""
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **options: Any) -> list[Any]:
        """Refuse: there is no object per environment."""
        raise AttributeError(f"{type(self).__name__}: has no environment objects, so none has {method_name}")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Report that returns are counted here, as `Monitor` does."""
        return [wrapper_class.__name__ == "Monitor"] * len(list(self._get_indices(indices)))


class NumberedStates(Environments):
    """A task whose states are numbers, seen as they are; episodes start in state 0."""

    def __init__(self, count: int, states: int, actions: int, seed: int) -> None:
        super().__init__(count, spaces.Discrete(states), actions, seed)
        self.place = np.zeros(count, dtype=np.int64)

    def reset_some(self, chosen: Values) -> None:
        """Start in state 0."""
        self.place[chosen] = 0

    def observe(self) -> Values:
        """Return the places."""
        return self.place.copy()


class Chain(NumberedStates):
    """20 states: one step right, or back to the start. The right end pays 1 a step, going back pays 0.001 at the start."""

    def __init__(self, count: int, seed: int, length: int = 20) -> None:
        super().__init__(count, length, 2, seed)
        self.length, self.limit = length, length + 8

    def move(self, actions: Values) -> tuple[Values, Values]:
        """Go right (1) or back (0)."""
        right = actions == 1
        rewards = np.where(~right & (self.place == 0), 0.001, 0.0)
        self.place = np.where(right, np.minimum(self.place + 1, self.length - 1), 0)
        return rewards + (self.place == self.length - 1), np.zeros(self.num_envs, dtype=bool)


class DeepSea(Environments):
    """DeepSea as in bsuite: N x N cells, one row down a step; right costs 0.01/N, the lower right corner pays 1.

    Which of the two actions is right is drawn once for every cell, and is the same for all seeds.
    """

    def __init__(self, count: int, seed: int, size: int = 20) -> None:
        super().__init__(count, spaces.Discrete(size * size), 2, seed)
        self.size = self.limit = size
        self.right = np.random.default_rng(42).integers(2, size=(size, size))
        self.row, self.column = np.zeros((2, count), dtype=np.int64)

    def reset_some(self, chosen: Values) -> None:
        """Start in the upper left corner."""
        self.row[chosen] = self.column[chosen] = 0

    def observe(self) -> Values:
        """Return the numbers of the cells."""
        return np.minimum(self.row, self.size - 1) * self.size + self.column

    def move(self, actions: Values) -> tuple[Values, Values]:
        """Go one row down, to the left or to the right."""
        right = actions == self.right[self.row, self.column]
        rewards = right * ((self.column == self.size - 1) - 0.01 / self.size)
        self.column = np.clip(self.column + np.where(right, 1, -1), 0, self.size - 1)
        self.row = self.row + 1
        return rewards, np.zeros(self.num_envs, dtype=bool)


class FrozenLake(NumberedStates):
    """Gymnasium's FrozenLake8x8-v1, slippery: the goal pays 1, a hole ends the episode."""

    limit, truncates = 200, True

    def __init__(self, count: int, seed: int) -> None:
        import gymnasium

        table = gymnasium.make("FrozenLake8x8-v1").unwrapped.P  # type: ignore[attr-defined]  # state, action: outcomes
        super().__init__(count, len(table), 4, seed)
        each = [[(table[state][action] * 3)[:3] for action in range(4)] for state in range(len(table))]  # holes have one
        outcomes = np.array(each)
        self.chances, self.places = outcomes[..., 0].cumsum(-1), outcomes[..., 1].astype(np.int64)
        self.rewards, self.ends = outcomes[..., 2], outcomes[..., 3].astype(bool)

    def move(self, actions: Values) -> tuple[Values, Values]:
        """Go left, down, right or up, or slip to a side."""
        now = self.place, actions
        uniform = self.random.random((self.num_envs, 1))
        drawn = (uniform > self.chances[now]).sum(-1).clip(max=self.chances.shape[-1] - 1)
        self.place = self.places[(*now, drawn)]
        return self.rewards[(*now, drawn)], self.ends[(*now, drawn)]


class SparseMountainCar(Environments):
    """MountainCar-v0 that pays 1 on the hill and nothing before; both inputs are scaled to the interval from -1 to 1."""

    LOW, HIGH = np.array([-1.2, -0.07]), np.array([0.6, 0.07])
    limit, truncates = 200, True

    def __init__(self, count: int, seed: int) -> None:
        super().__init__(count, spaces.Box(-1.0, 1.0, (2,), np.float32), 3, seed)
        self.position, self.velocity = np.zeros((2, count))

    def reset_some(self, chosen: Values) -> None:
        """Start in the valley, at rest."""
        self.position[chosen] = self.random.uniform(-0.6, -0.4, chosen.sum())
        self.velocity[chosen] = 0.0

    def observe(self) -> Values:
        """Return scaled position and velocity."""
        state = np.stack([self.position, self.velocity], 1)
        return (2.0 * (state - self.LOW) / (self.HIGH - self.LOW) - 1.0).astype(np.float32)

    def move(self, actions: Values) -> tuple[Values, Values]:
        """Push left, not at all, or right."""
        self.velocity = np.clip(self.velocity + 0.001 * (actions - 1) - 0.0025 * np.cos(3 * self.position), -0.07, 0.07)
        self.position = np.clip(self.position + self.velocity, -1.2, 0.6)
        self.velocity[(self.position == -1.2) & (self.velocity < 0)] = 0.0
        arrived = self.position >= 0.5
        return arrived.astype(float), arrived


class MiniGrid(Environments):
    """An environment of MiniGrid with a new map in every episode.

    Observations are the agent's 7 x 7 view: the object, colour and state of each cell as one-hot numbers.
    """

    name: str
    """What Gymnasium calls it."""
    truncates = True
    VALUES = (11, 6, 3)  # objects, colours, states

    def __init__(self, count: int, seed: int) -> None:
        import gymnasium
        import minigrid  # noqa: F401  registers the environment

        super().__init__(count, spaces.Box(0.0, 1.0, (49 * sum(self.VALUES),), np.float32), 7, seed)
        self.games: list[Any] = [gymnasium.make(self.name).unwrapped for _ in range(count)]
        self.views = np.zeros((count, 49, 3), dtype=np.int64)
        for game, first in zip(self.games, self.random.integers(2**31, size=count).tolist(), strict=True):
            game.reset(seed=first)

    def reset_some(self, chosen: Values) -> None:
        """Start on a new map."""
        for i in np.flatnonzero(chosen):
            self.views[i] = self.games[i].reset()[0]["image"].reshape(49, 3)

    def observe(self) -> Values:
        """Return the views."""
        parts = [np.eye(values, dtype=np.float32)[self.views[..., i]] for i, values in enumerate(self.VALUES)]
        return np.concatenate(parts, -1).reshape(self.num_envs, -1)

    def move(self, actions: Values) -> tuple[Values, Values]:
        """Turn, go, pick up, drop, toggle or wait; the goal pays 1 - 0.9 (steps / limit)."""
        rewards, ended = np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=bool)
        for i, (game, action) in enumerate(zip(self.games, actions.tolist(), strict=True)):
            seen, rewards[i], ended[i], _, _ = game.step(action)
            self.views[i] = seen["image"].reshape(49, 3)
        return rewards, ended


class DoorKey(MiniGrid):
    """DoorKey 8x8: fetch the key, open the door, reach the goal."""

    name, limit = "MiniGrid-DoorKey-8x8-v0", 640


class MultiRoom(MiniGrid):
    """MultiRoom-N4-S5: open the doors between four rooms in a row, reach the goal in the last. Version 0 has six rooms."""

    name, limit = "MiniGrid-MultiRoom-N4-S5-v1", 80


class SwingUp(Environments):
    """bsuite's cartpole swing-up: the pole hangs at first; each step upright and in the middle pays 1, each push costs 0.1."""

    limit = 2000  # never reached: an episode ends after ten seconds of 100 steps, or at the edge

    def __init__(self, count: int, seed: int) -> None:
        from bsuite.experiments.cartpole_swingup.cartpole_swingup import CartpoleSwingup

        super().__init__(count, spaces.Box(-np.inf, np.inf, (8,), np.float32), 3, seed)
        self.poles = [CartpoleSwingup(seed=each) for each in self.random.integers(2**31, size=count).tolist()]
        self.states = np.zeros((count, 8), dtype=np.float32)

    def reset_some(self, chosen: Values) -> None:
        """Let the pole hang, nearly at rest."""
        for i in np.flatnonzero(chosen):
            self.states[i] = self.poles[i].reset().observation[0]

    def observe(self) -> Values:
        """Return what bsuite shows: place, speed, angle, time, and whether the cart is in the middle and the pole slow."""
        return self.states.copy()

    def move(self, actions: Values) -> tuple[Values, Values]:
        """Push to the left, not at all, or to the right."""
        rewards, ended = np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=bool)
        for i, (pole, action) in enumerate(zip(self.poles, actions.tolist(), strict=True)):
            step = pole.step(action)
            self.states[i], rewards[i], ended[i] = step.observation[0], step.reward, step.last()
        return rewards, ended
