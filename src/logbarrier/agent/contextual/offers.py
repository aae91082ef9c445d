"""What a decision is offered: arms by name, or actions by their features; checked."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ...base import validate
from ...base.failure import WrongTypeError
from .encoder import LARGEST_FEATURE

LARGEST_OF_ACTION = LARGEST_FEATURE**0.5  # products with a context still have finite squares


def place_of(who: str, index: Mapping[Any, int], arm: Any) -> int:
    """The place of an arm, by name -> place."""
    if not isinstance(arm, Hashable) or arm not in index:
        raise ValueError(f"{who}: arm must be one of {', '.join(map(str, list(index)[:10]))}, got {arm!r}")
    return index[arm]


def places_of(who: str, index: Mapping[Any, int], available: Any) -> np.ndarray:
    """The places (n,) of the arms available, rising."""
    if isinstance(available, str) or not hasattr(available, "__iter__"):
        raise WrongTypeError(f"{who}: available must be a sequence of arms, got {available!r}")
    places = np.array(sorted(place_of(who, index, arm) for arm in available), dtype=np.int64)
    if len(places) == 0:
        raise ValueError(f"{who}: available must name at least one arm")
    if (np.diff(places) == 0).any():
        raise ValueError(f"{who}: available must name each arm once")
    return places


def action_table(who: str, actions: Any, size: int) -> tuple[Sequence[Any] | None, np.ndarray]:
    """The names of actions, None where they are numbered, and their features (n, size)."""
    names = list(actions) if isinstance(actions, Mapping) else None
    given = list(actions.values()) if isinstance(actions, Mapping) else actions
    table = validate.array(who, "actions", given, f"rows of {size} numbers")
    if table.ndim != 2 or table.shape[1] != size or len(table) == 0:
        raise ValueError(f"{who}: actions must be rows of {size} numbers, got shape {table.shape}")
    if not (table.max() <= LARGEST_OF_ACTION and table.min() >= -LARGEST_OF_ACTION):  # NaN is neither
        raise ValueError(f"{who}: actions must be finite numbers of size at most {LARGEST_OF_ACTION:g}")
    return names, table


def crossed(table: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Features of actions (n, a), the context x (d,), and all products of both: (n, a + d + a d)."""
    if len(x) == 0:
        return table
    products = (table[:, :, None] * x).reshape(len(table), -1)
    return np.hstack([table, np.tile(x, (len(table), 1)), products])
