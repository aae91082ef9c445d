"""The unit of weight follows the total: by a factor 4 at a time, each class becomes its neighbour."""

from __future__ import annotations

from ....engine.compiled import compiled
from .classes import demote_light_heavies, insert, refresh, remove, set_unit
from .layout import CLASSES, LARGEST_TOTAL, LIMITS, RATIO, SMALLEST_TOTAL, TOTAL, UNIT
from .series import reset, value_at
from .sorting import rebuild, write_levels


@compiled
def change_unit(state):
    """Make the unit follow the total by factors of RATIO: the classes move up or down by one, hardly an arm is touched."""
    numbers = state.numbers
    while numbers[TOTAL] < SMALLEST_TOTAL * numbers[UNIT]:
        shift_up(state)
    while numbers[TOTAL] > LARGEST_TOTAL * numbers[UNIT]:
        shift_down(state)
    if not 2.0**-150 < numbers[UNIT] < 2.0**150:
        write_levels(state)
        rebuild(state)


@compiled
def shift_up(state):
    """The unit shrinks: class k + 1 becomes class k; the arms of class 0 are placed again, most of them as heavy ones."""
    bases, arms, numbers, borders, levels = state.bases, state.arms, state.numbers, state.borders, state.levels
    count = borders[1]
    for j in range(count):  # the weights of class 0 wait in scratch, by place
        levels[j] = value_at(numbers, 0, bases[j])
    while borders[1] > 0:  # its arms wait behind the last, where a removal leaves room; an insertion will have read them first
        arm = arms[borders[1] - 1]
        remove(state, 0, borders[1] - 1)
        arms[borders[CLASSES + 1]] = arm
    first = borders[CLASSES + 1]
    for k in range(CLASSES):
        borders[k] = borders[k + 1]
    for row in range(0, LIMITS, CLASSES):
        for k in range(CLASSES - 1):
            numbers[row + k] = numbers[row + k + 1]
        numbers[row + CLASSES - 1] = 0.0
    set_unit(numbers, numbers[UNIT] / RATIO)
    for j in range(count):
        insert(state, arms[first + j], levels[j])


@compiled
def shift_down(state):
    """The unit grows: class k becomes class k + 1, the two lightest are joined, and light heavy arms leave."""
    numbers, borders = state.numbers, state.borders
    refresh(state, CLASSES - 2)
    refresh(state, CLASSES - 1)
    for k in range(CLASSES - 1, 0, -1):
        borders[k] = borders[k - 1]
    for row in range(0, LIMITS, CLASSES):
        for k in range(CLASSES - 1, 0, -1):
            numbers[row + k] = numbers[row + k - 1]
        numbers[row] = 0.0
    reset(numbers, CLASSES - 1)
    refresh(state, CLASSES - 1)
    set_unit(numbers, numbers[UNIT] * RATIO)
    demote_light_heavies(state)
