"""The optimal policy of an MDP: value iteration until the actions stay the same, then policy iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .problem import FiniteMDP

BETTER = 1e-12  # of the size of the values: an action must be better by this for policy iteration to switch
UNCHANGED = 20  # sweeps of value iteration without a new action, after which policy iteration is faster,
SETTLED = 0.01  # if values also change by no more than this share of the largest


def optimal_actions(mdp: FiniteMDP) -> np.ndarray:
    """Return actions (S,) that no others do better than.

    Sweeps of value iteration come first, as policy iteration carries a reward one state at a time at the cost of a solution.
    """
    everyone, value, chosen, unchanged = np.arange(mdp.n_states), np.zeros(mdp.n_states), np.full(mdp.n_states, -1), 0
    for _ in range(mdp.n_states + UNCHANGED):
        quality = mdp.action_value(value)
        before, chosen, earlier, value = chosen, quality.argmax(axis=1), value, quality.max(axis=1)
        settled = (chosen == before).all() and np.abs(value - earlier).max() <= SETTLED * np.abs(value).max()
        unchanged = unchanged + 1 if settled else 0
        if unchanged == UNCHANGED:
            break
    while True:
        value = mdp.value(np.eye(mdp.n_actions)[chosen])
        quality = mdp.action_value(value)
        size = BETTER * max(float(np.abs(value).max()), float(np.abs(mdp.R).max()))
        better = quality.max(axis=1) > quality[everyone, chosen] + size
        if not better.any():
            return chosen
        chosen = np.where(better, quality.argmax(axis=1), chosen)
