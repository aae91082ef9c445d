"""The loop: act, move, and learn when an episode is over. Compiled once for each rule; its cost hardly depends on S."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import uint64

from ..engine.codegen.fields import Fields
from ..engine.compiled import kernel
from ..engine.random import fill_uniforms, philox, uniform
from .episode import ENDED, Episode, count_visits
from .transitions import Transitions, fetch_ahead, searched, successor_of

BATCH = 256  # steps whose random numbers are drawn together
START = 4  # the purpose, in the random counter, of a draw of a first state
TIME, STATE, POSITION, REWARDS = (
    0,
    1,
    2,
    3,
)  # where a run stands: steps made, present state, steps of this episode, sum of rewards


class Job(NamedTuple):
    """What a loop works on: all that stays where it is from call to call; `stand` says where the run is."""

    transitions: Transitions
    episode: Episode
    states: np.ndarray
    tally: np.ndarray
    memory: Fields
    hyper: tuple[Any, ...]
    stand: np.ndarray
    key: np.ndarray
    run: int


def _loop_with(act: Any, at_once: Any, learn: Any, renew: Any) -> Callable[..., Any]:
    def loop(job, until):
        """Go on from where `stand` says up to step `until`."""
        reals, wholes, others, rewards, start, gamma = job.transitions
        episode, states, tally, memory, hyper = job.episode, job.states, job.tally, job.memory, job.hyper
        stand, key, run = job.stand, job.key, job.run
        visited, actions, paid, policies, _, _ = episode
        n_actions = policies.shape[1]
        uniforms = np.empty(2 * BATCH)
        t, state, position, total = int(stand[TIME]), int(stand[STATE]), int(stand[POSITION]), stand[REWARDS]
        while t < until:
            batch = min(BATCH, until - t)
            fill_uniforms(uniforms, t, batch, run, key)
            for i in range(batch):
                if position == 0:
                    state = searched(start, 0, start.shape[0] - 1, uniform(philox(t, 0, run, START, key)[0]))
                fetch_ahead(reals, state * n_actions)
                fetch_ahead(reals, state * n_actions + n_actions - 1)
                here = uint64(position)
                action = act(states, uint64(state), uniforms[2 * i], policies, here)
                row = uint64(state * n_actions + action)
                successor = successor_of(reals, wholes, others, row, uniforms[2 * i + 1])
                reward = rewards[row]
                visited[here], actions[here], paid[here] = state, action, reward
                total += reward
                at_once(states, state, action, reward, successor, hyper)
                state = successor
                position += 1
                t += 1
                if successor == ENDED or position == actions.shape[0]:
                    visited[position] = successor
                    learn(episode, position, states, tally, memory, hyper)
                    count_visits(episode, position, states, tally, gamma)
                    renew(episode, position, states)
                    position = 0
        stand[TIME], stand[STATE], stand[POSITION], stand[REWARDS] = t, state, position, total

    return loop


def loop_kernel(act: Any, at_once: Any, learn: Any, renew: Any) -> Any:
    """The compiled loop of a rule."""
    return kernel(_loop_with, act, at_once, learn, renew)
