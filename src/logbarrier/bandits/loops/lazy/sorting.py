"""All arms sorted again: from preferences, or from levels written out by arm."""

from __future__ import annotations

import numpy as np
from numba.core import types

from ....engine.codegen.pointers import buffer_of
from ....engine.compiled import compiled, from_python, inlined
from ....engine.elementary import exp, log
from .classes import MARGIN, class_for, refresh, set_unit
from .layout import (
    CAPACITY,
    CLASSES,
    HEAVY,
    HEAVY_ARMS,
    HEAVY_WEIGHTS,
    LIGHTEST,
    LIMITS,
    LOG_DEAD,
    N_ARMS,
    N_HEAVY,
    RATIO,
    REBUILDS,
    SCALE,
    empty_classes,
    opened_classes,
)
from .series import value_at

_room_for_counts = buffer_of(CLASSES + 1, types.int64)


def new_classes(theta: np.ndarray) -> tuple[np.ndarray, ...]:
    """The arrays of softmax(theta)."""
    arrays = empty_classes(len(theta))
    arrays[-1][:] = theta
    from_python(sort_arrays)(arrays)
    return arrays


@compiled
def sort_arrays(arrays):
    """Sort from preferences in scratch, for Python."""
    from_theta(opened_classes(arrays))


@compiled
def from_theta(state):
    """Sort all arms again from preferences in scratch."""
    levels, n_arms = state.levels, state.borders[N_ARMS]
    top = levels[0]
    for a in range(n_arms):
        top = max(top, levels[a])
    for a in range(n_arms):
        below = levels[a] - top
        levels[a] = exp(below) if below > LOG_DEAD else below
    state.numbers[SCALE] = top
    rebuild(state)


@compiled
def write_levels(state):
    """Every arm's present level into scratch, by arm."""
    bases, arms, numbers, borders, levels = state.bases, state.arms, state.numbers, state.borders, state.levels
    for i in range(borders[N_HEAVY]):
        levels[borders[HEAVY_ARMS + i]] = numbers[HEAVY_WEIGHTS + i]
    for k in range(CLASSES):
        for j in range(borders[k], borders[k + 1]):
            levels[arms[j]] = value_at(numbers, k, bases[j])  # (2)
    for j in range(borders[CLASSES], borders[CLASSES + 1]):
        levels[arms[j]] = bases[j]


@inlined
def rescale(state):
    """Levels in units in which they sum to 1; an arm below 1e-250 becomes its logarithm."""
    levels, n_arms = state.levels, state.borders[N_ARMS]
    total = 0.0
    for a in range(n_arms):
        if levels[a] > 0.0:
            total += levels[a]
    log_total = log(total)
    state.numbers[SCALE] += log_total
    for a in range(n_arms):
        below = levels[a] - log_total if levels[a] <= 0.0 else 0.0
        if below < 0.0:
            levels[a] = exp(below) if below > LOG_DEAD else below
        else:
            weight = levels[a] / total
            levels[a] = weight if weight > LIGHTEST else log(levels[a]) - log_total


@inlined
def choose_unit(state):
    """A unit for a total of 1."""
    unit = 2.6 / (HEAVY * state.borders[N_ARMS])  # a ceiling is well above the mean weight, and seldom refreshed
    while unit < 0.5:
        unit *= RATIO
    while unit >= 0.5 * RATIO:
        unit /= RATIO
    set_unit(state.numbers, unit)


@inlined
def place_of(numbers, level):
    """The class of a level, CLASSES for the dead, -1 for the heavy arms."""
    if level > numbers[LIMITS] * (1.0 - MARGIN):
        return -1
    return class_for(numbers, level) if level > 0.0 else CLASSES


@inlined
def set_borders(state, counts):
    """The borders for how many arms each class will have; counts[k] becomes where class k begins."""
    borders, levels = state.borders, state.levels
    for k in range(CLASSES + 1):
        counts[k] = 0
    for a in range(borders[N_ARMS]):
        k = place_of(state.numbers, levels[a])
        if k >= 0:
            counts[k] += 1
    borders[0] = 0
    for k in range(CLASSES + 1):
        borders[k + 1] = borders[k] + counts[k]
        counts[k] = borders[k]


@compiled
def rebuild(state):
    """Sort all arms again from the levels in scratch, in units in which they sum to 1."""
    bases, arms, numbers, borders, levels = state.bases, state.arms, state.numbers, state.borders, state.levels
    counts = _room_for_counts()
    numbers[REBUILDS] += 1.0
    rescale(state)
    choose_unit(state)
    set_borders(state, counts)
    borders[N_HEAVY] = 0
    for i in range(borders[CAPACITY]):
        numbers[HEAVY_WEIGHTS + i] = 0.0
    for i in range(LIMITS):
        numbers[i] = 0.0
    for a in range(borders[N_ARMS]):
        level = levels[a]
        k = place_of(numbers, level)
        if k < 0:
            numbers[HEAVY_WEIGHTS + borders[N_HEAVY]] = level
            borders[HEAVY_ARMS + borders[N_HEAVY]] = a
            borders[N_HEAVY] += 1
        else:
            bases[counts[k]] = level
            arms[counts[k]] = a
            counts[k] += 1
    for k in range(CLASSES):
        refresh(state, k)
