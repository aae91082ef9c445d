"""MiniGrid-DoorKey-5x5 as a table: every state that can be reached, with what the environment itself answers there."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium
import minigrid  # noqa: F401  registers the env
import numpy as np
from numpy.typing import NDArray

from deep_tasks import VARIANTS, Task, phase_of

ACTIONS = 7
STEP_COST = 0.004


def minigrid_door_key() -> Task:
    """Fetch the key, open the door, reach the goal: one layout per variant.

    Features are the agent's own 7x7 view, each cell's object, colour and state as one-hot numbers, constant ones left out.
    Reaching the goal pays 1 and a step costs 0.004 (MiniGrid takes the time off the prize instead, which no table can do).
    """
    layouts = [_enumerate(layout) for layout in range(VARIANTS)]
    states = max(len(views) for views, _, _ in layouts)
    views, successor, reward = (
        np.stack([np.pad(part, ((0, states - len(part)), (0, 0))) for part in parts]) for parts in zip(*layouts, strict=True)
    )
    flat = views.reshape(-1, views.shape[-1])
    features = views[..., flat.any(0) & ~flat.all(0)].astype(np.float64)
    only = phase_of(successor, reward, reward > 0)
    starts = np.zeros((VARIANTS, 1), np.int64)
    return Task("MiniGrid DoorKey 5x5", features, starts, (only,), (60,), 100, fresh=True)


def _enumerate(layout: int) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.float64]]:
    """Views (S, F), successors (S, 7) and rewards (S, 7) of one layout; the start is state 0."""
    start: Any = gymnasium.make("MiniGrid-DoorKey-5x5-v0", max_steps=10**9).unwrapped
    start.reset(seed=layout)
    number, views, pending = {_key(start): 0}, [_view(start)], [start]
    successor: dict[tuple[int, int], int] = {}
    reward: dict[tuple[int, int], float] = {}
    while pending:
        env = pending.pop()
        at = number[_key(env)]
        for action in range(ACTIONS):
            after = copy.deepcopy(env)
            _, _, over, _, _ = after.step(action)
            if not over and _key(after) not in number:
                number[_key(after)] = len(views)
                views.append(_view(after))
                pending.append(after)
            successor[at, action] = at if over else number[_key(after)]
            reward[at, action] = float(over) - STEP_COST
    order = [(state, action) for state in range(len(views)) for action in range(ACTIONS)]
    shape = (len(views), ACTIONS)
    return (
        np.stack(views),
        np.array([successor[o] for o in order]).reshape(shape),
        np.array([reward[o] for o in order]).reshape(shape),
    )


def _key(env: Any) -> tuple[Any, ...]:
    return (tuple(env.agent_pos), env.agent_dir, env.carrying and env.carrying.type, env.grid.encode().tobytes())


def _view(env: Any) -> NDArray[np.bool_]:
    image = env.gen_obs()["image"]
    return np.concatenate([np.eye(values, dtype=bool)[image[..., i]].ravel() for i, values in enumerate((11, 6, 3))])
