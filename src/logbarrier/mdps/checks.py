"""What an MDP and a policy must satisfy: one sentence each: who, what must hold, what was given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from ..base import validate

ROUNDING = 1e-9  # how far sums may be from 1


def rewards(owner: str, R: Any) -> np.ndarray:
    """R (S, K), finite, at least one state and one action."""
    array = finite_array(owner, "R", R)
    if array.ndim != 2:
        raise ValueError(f"{owner}: R must have one row per state and one column per action, got shape {array.shape}")
    if array.shape[0] < 1:
        raise ValueError(f"{owner}: there must be at least one state, got R of shape {array.shape}")
    if array.shape[1] < 1:
        raise ValueError(f"{owner}: every state must have an action, got R of shape {array.shape}")
    return array


def transitions(owner: str, P: Any, n_states: int, n_actions: int) -> csr_array:
    """P as sparse rows (S K, S): probabilities whose rows sum to at most 1."""
    if isinstance(P, Mapping):
        P = csr_array((P["probabilities"], P["successors"], P["offsets"]), shape=(n_states * n_actions, n_states))
    flat = (n_states * n_actions, n_states)
    if issparse(P):
        rows = csr_array(P, dtype=np.float64, copy=True)
        if rows.shape != flat:
            raise ValueError(f"{owner}: sparse P must have shape {flat} to go with R, got {rows.shape}")
    else:
        dense = finite_array(owner, "P", P)
        if dense.shape != (n_states, n_actions, n_states):
            raise ValueError(f"{owner}: P must have shape {(n_states, n_actions, n_states)} to go with R, got {dense.shape}")
        rows = csr_array(dense.reshape(flat))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if not np.isfinite(rows.data).all():
        raise ValueError(f"{owner}: P must be finite, got {rows.data[~np.isfinite(rows.data)][0]}")
    if rows.nnz and rows.data.min() < 0.0:
        raise ValueError(f"{owner}: P must not be negative, got {rows.data.min()}")
    sums = np.asarray(rows.sum(axis=1)).ravel()
    if sums.max() > 1.0 + ROUNDING:
        state, action = divmod(int(sums.argmax()), n_actions)
        raise ValueError(f"{owner}: rows of P must sum to at most 1, got {sums.max()} for state {state} and action {action}")
    return rows


def listed_transitions(
    owner: str, transitions: Iterable[tuple[int, int, int, float]], n_states: int, n_actions: int
) -> csr_array:
    """Sparse rows (S K, S) from a list of (state, action, next state, probability)."""
    table = finite_array(owner, "transitions", list(transitions)).reshape(-1, 4)
    state, action, successor = table[:, :3].astype(np.int64).T
    for name, index, count in (("states", state, n_states), ("actions", action, n_actions), ("states", successor, n_states)):
        if len(index) and (index.min() < 0 or index.max() >= count):
            raise ValueError(
                f"{owner}: {name} must be numbered 0 to {count - 1}, got {index[(index < 0) | (index >= count)][0]}"
            )
    return csr_array((table[:, 3], (state * n_actions + action, successor)), shape=(n_states * n_actions, n_states))


def distribution(owner: str, name: str, values: Any, size: int) -> np.ndarray:
    """Probabilities (size,) that sum to 1."""
    array = finite_array(owner, name, values)
    if array.shape != (size,):
        raise ValueError(f"{owner}: {name} must have one entry per state, {size}, got shape {array.shape}")
    if array.min() < 0.0:
        raise ValueError(f"{owner}: {name} must not be negative, got {array.min()}")
    if abs(array.sum() - 1.0) > ROUNDING:
        raise ValueError(f"{owner}: {name} must sum to 1, got {array.sum()}")
    return array


def policy(owner: str, values: Any, n_states: int, n_actions: int) -> np.ndarray:
    """Probabilities (S, K) whose rows sum to 1."""
    array = finite_array(owner, "policy", values)
    if array.shape != (n_states, n_actions):
        raise ValueError(f"{owner}: policy must have shape {(n_states, n_actions)}, got {array.shape}")
    if array.min() < 0.0:
        raise ValueError(f"{owner}: policy must not be negative, got {array.min()}")
    sums = array.sum(axis=1)
    worst = int(np.abs(sums - 1.0).argmax())
    if abs(sums[worst] - 1.0) > ROUNDING:
        raise ValueError(f"{owner}: rows of policy must sum to 1, got {sums[worst]} for state {worst}")
    return array


def parameters(name: str, values: Any, n_states: int, n_actions: int) -> np.ndarray:
    """Parameters (S, K) of a softmax policy, or a direction in their space."""
    array = finite_array("exact", name, values)
    if array.shape != (n_states, n_actions):
        raise ValueError(f"exact: {name} must have shape {(n_states, n_actions)}, got {array.shape}")
    return array


def every_episode_ends(owner: str, rows: csr_array, missing: np.ndarray) -> None:
    """With gamma 1 no policy may stay for ever: shrink the set of states that can stay among themselves until it is empty."""
    staying = np.ones(missing.shape[0], dtype=bool)
    while staying.any():
        kept = (rows @ staying.astype(np.float64)).reshape(missing.shape) >= 1.0 - ROUNDING
        still = staying & (kept & (missing == 0.0)).any(axis=1)
        if (still == staying).all():
            raise ValueError(
                f"{owner}: with gamma 1 every policy must end the episode, got {int(staying.sum())} states such as "
                f"{int(np.flatnonzero(staying)[0])} in which an episode can stay for ever"
            )
        staying = still


def finite_array(owner: str, name: str, values: Any) -> np.ndarray:
    """A new float64 array of any shape whose entries are finite."""
    array = validate.array(owner, name, values, "an array of numbers")
    if not np.isfinite(array).all():
        raise ValueError(f"{owner}: {name} must be finite, got {array[~np.isfinite(array)][0]}")
    return array
