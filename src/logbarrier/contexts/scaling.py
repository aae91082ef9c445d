"""The scale of the features, estimated from the first contexts, so that one ridge fits every problem.

Numbers that are declared as such get mean 0 and variance 1. Then all features are divided by one number, so that their mean
square is 1. Both are estimated again at decisions 1, 2, 4, ..., 64, and the model learns its few observations again; after that
they stay as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..engine.compiled import compiled
from .regression import FIRST

LARGEST_DEVIATION = 5.0  # a standardised number is cut here


class Scaling(NamedTuple):
    """x = (1, (raw - centre) factor), for raw (d - 1,); numbers are cut at +- limit, and those missing (NaN) are 0."""

    centre: np.ndarray
    factor: np.ndarray
    limit: np.ndarray


def new_scaling(n_features: int) -> Scaling:
    """No change at all."""
    return Scaling(np.zeros(n_features), np.ones(n_features), np.full(n_features, np.inf))


def is_due(asked: int) -> bool:
    """Whether the scale is estimated again at decision number `asked` = 1, 2, ..."""
    return asked <= FIRST and asked & (asked - 1) == 0


def fit(scaling: Scaling, raw: np.ndarray, is_number: np.ndarray) -> None:
    """Estimate the scale from contexts raw (n, d), some of which may be NaN where is_number (d,)."""
    centre, factor, limit = scaling
    centre[:], factor[:], limit[:] = 0.0, 1.0, np.inf
    for j in np.flatnonzero(is_number):
        seen = raw[:, j][~np.isnan(raw[:, j])]
        if len(seen):
            centre[j] = seen.mean()
            deviation = float(np.sqrt(np.mean((seen - centre[j]) ** 2)))
            factor[j] = 1.0 / deviation if deviation > 1e-12 * abs(centre[j]) else 1.0  # a constant stays 0
        limit[j] = LARGEST_DEVIATION
    square = float(np.mean(np.square(scaled(scaling, raw)[:, 1:]))) if raw.size else 0.0
    if square > 0.0:
        factor /= np.sqrt(square)
        limit /= np.sqrt(square)


def scaled(scaling: Scaling, raw: np.ndarray) -> np.ndarray:
    """The contexts x (n, 1 + d) of raw (n, d)."""
    moved = np.clip((raw - scaling.centre) * scaling.factor, -scaling.limit, scaling.limit)
    return np.column_stack([np.ones(len(raw)), np.where(np.isnan(moved), 0.0, moved)])


@compiled
def scale_row(scaling, raw, x):
    """The same for one context raw (d,), into x (1 + d,)."""
    x[0] = 1.0
    for j in range(raw.shape[0]):
        if raw[j] != raw[j]:
            x[1 + j] = 0.0
        else:
            moved = (raw[j] - scaling.centre[j]) * scaling.factor[j]
            x[1 + j] = min(max(moved, -scaling.limit[j]), scaling.limit[j])
