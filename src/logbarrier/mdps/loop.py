"""The loop: act, move, and learn when an episode is over; compiled once for each rule, its cost the same for any number of states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.compiled import compiled, kernel
from ..engine.random import fill_uniforms, philox, uniform
from .episode import ENDED, count_visits
from .problem import FiniteMDP

BATCH = 256  # steps whose random numbers are drawn together
START = 4  # the purpose, in the random counter, of a draw of a first state
TIME, STATE, POSITION, REWARDS = (
    0,
    1,
    2,
    3,
)  # where a run stands: steps made, present state, steps of this episode, sum of rewards
CERTAIN = 2.0  # above every uniform

World = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]


def world_of(mdp: FiniteMDP) -> World:
    """An MDP as the loop samples it: cumulative probabilities of the successors of each (s, a), and of the first state."""
    cumulative = np.cumsum(mdp.probabilities)
    counts = np.diff(mdp.offsets)
    before = np.concatenate([[0.0], cumulative])[mdp.offsets[:-1]]
    cumulative -= np.repeat(before, counts)
    surely = (mdp.missing.ravel() == 0.0) & (counts > 0)
    cumulative[mdp.offsets[1:][surely] - 1] = CERTAIN
    start = np.cumsum(mdp.rho)
    start[np.flatnonzero(mdp.rho)[-1] :] = CERTAIN
    return mdp.offsets, mdp.successors, cumulative, np.ascontiguousarray(mdp.R).ravel(), start, mdp.gamma


@compiled
def first_above(cumulative, first, last, u):
    """The first index in first .. last - 1 whose cumulative probability is above u, or last."""
    while first < last:
        middle = (first + last) // 2
        if cumulative[middle] > u:
            last = middle
        else:
            first = middle + 1
    return first


def _loop_with(act: Any, at_once: Any, learn: Any) -> Callable[..., Any]:
    def loop(world, episode, states, tally, memory, hyper, stand, key, run, until):
        """Go on from where `stand` says up to step `until`."""
        offsets, successors, cumulative, rewards, start, gamma = world
        visited, actions, paid, policies, _, _ = episode
        n_actions = policies.shape[1]
        uniforms = np.empty(2 * BATCH)
        t, state, position, total = int(stand[TIME]), int(stand[STATE]), int(stand[POSITION]), stand[REWARDS]
        while t < until:
            batch = min(BATCH, until - t)
            fill_uniforms(uniforms, t, batch, run, key)
            for i in range(batch):
                if position == 0:
                    state = first_above(start, 0, start.shape[0], uniform(philox(t, 0, run, START, key)[0]))
                action = act(states, state, uniforms[2 * i], policies, position)
                row = state * n_actions + action
                place = first_above(cumulative, offsets[row], offsets[row + 1], uniforms[2 * i + 1])
                successor = successors[place] if place < offsets[row + 1] else ENDED
                visited[position], actions[position], paid[position] = state, action, rewards[row]
                total += rewards[row]
                at_once(states, state, action, rewards[row], successor, hyper)
                state = successor
                position += 1
                t += 1
                if successor == ENDED or position == actions.shape[0]:
                    visited[position] = successor
                    learn(episode, position, states, tally, memory, hyper)
                    count_visits(episode, position, states, tally, gamma)
                    position = 0
        stand[TIME], stand[STATE], stand[POSITION], stand[REWARDS] = t, state, position, total

    return loop


def loop_kernel(act: Any, at_once: Any, learn: Any) -> Any:
    """The compiled loop of a rule."""
    return kernel(_loop_with, act, at_once, learn)
