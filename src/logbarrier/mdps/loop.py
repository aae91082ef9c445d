"""The loop: act, move, and learn when an episode is over. Compiled once for each rule; its cost hardly depends on S."""

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

World = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]


def world_of(mdp: FiniteMDP) -> World:
    """An MDP as the loop samples it: offsets, moves, rewards (S K,), first states (S, 2), gamma.

    A row of `moves` is the cumulative probability of a successor of (s, a), and the successor: side by side, because a step in
    a large MDP waits for memory and for little else. The same for the first state.
    """
    counts = np.diff(mdp.offsets)
    cumulative = np.cumsum(mdp.probabilities)
    before = np.concatenate([[0.0], cumulative])[mdp.offsets[:-1]]
    cumulative -= np.repeat(before, counts)
    surely = (mdp.missing.ravel() == 0.0) & (counts > 0)
    cumulative[mdp.offsets[1:][surely] - 1] = CERTAIN
    first = np.flatnonzero(mdp.rho)
    upto = np.cumsum(mdp.rho[first])
    upto[-1] = CERTAIN
    moves, start = np.column_stack([cumulative, mdp.successors]), np.column_stack([upto, first])
    return mdp.offsets, np.ascontiguousarray(moves), np.ascontiguousarray(mdp.R).ravel(), np.ascontiguousarray(start), mdp.gamma


@compiled
def drawn(moves, first, last, u):
    """The state in moves[first:last] that the uniform number u draws, or ENDED where it is above all of them."""
    end = last
    while first < last:
        middle = (first + last) // 2
        if moves[middle, 0] > u:
            last = middle
        else:
            first = middle + 1
    return int(moves[first, 1]) if first < end else ENDED


def _loop_with(act: Any, at_once: Any, learn: Any) -> Callable[..., Any]:
    def loop(world, episode, states, tally, memory, hyper, stand, key, run, until):
        """Go on from where `stand` says up to step `until`."""
        offsets, moves, rewards, start, gamma = world
        visited, actions, paid, policies, _, _ = episode
        n_actions = policies.shape[1]
        uniforms = np.empty(2 * BATCH)
        t, state, position, total = int(stand[TIME]), int(stand[STATE]), int(stand[POSITION]), stand[REWARDS]
        while t < until:
            batch = min(BATCH, until - t)
            fill_uniforms(uniforms, t, batch, run, key)
            for i in range(batch):
                if position == 0:
                    state = drawn(start, 0, start.shape[0], uniform(philox(t, 0, run, START, key)[0]))
                action = act(states, state, uniforms[2 * i], policies, position)
                row = state * n_actions + action
                successor = drawn(moves, offsets[row], offsets[row + 1], uniforms[2 * i + 1])
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
