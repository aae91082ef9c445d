"""The classes of light arms: refreshed, entered and left."""

from __future__ import annotations

from ....engine.codegen.lane_access import first_lanes, lane, lane_sum, lanes_above, load, splat, store
from ....engine.codegen.lanes import WIDTH, select_above
from ....engine.compiled import compiled
from ....engine.elementary import exp, log
from .layout import (
    CLASSES,
    HEAVY,
    HEAVY_ARMS,
    HEAVY_WEIGHTS,
    LIGHTEST,
    LIMITS,
    MOMENTS,
    N_HEAVY,
    ORDER,
    RATIO,
    REFRESHES,
    SQUARES,
    TOPS,
    UNIT,
)
from .series import add_to_moments, base_of, reset, value_at

MARGIN = 1.0 / 16.0  # an arm enters a class only if it is this far below the ceiling
SLACK = 2.0 * RATIO  # an arm leaves its class for a lighter one when it is this far below the ceiling


@compiled
def class_for(numbers, weight):
    """The class a light weight belongs to."""
    k = 0
    while k < CLASSES - 1 and weight <= numbers[LIMITS + k + 1] * (1.0 - MARGIN):
        k += 1
    return k


@compiled
def set_unit(numbers, unit):
    """The ceilings for a unit of weight."""
    numbers[UNIT] = unit
    limit = HEAVY * unit
    for k in range(CLASSES):
        numbers[LIMITS + k] = limit
        numbers[SQUARES + k] = limit * limit
        limit /= RATIO


@compiled
def refresh(state, k):
    """Make the present weights of class k its bases, sum up its moments and top; returns the smallest base."""
    bases, numbers, borders = state.bases, state.numbers, state.borders
    p1, p2, p3, p4 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
    p5, p6, p7, top, low = splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(1.0)
    for j in range(borders[k], borders[k + 1], WIDTH):
        old, here = load(bases, j), borders[k + 1] - j
        new = value_at(numbers, k, old)  # (2)
        store(bases, j, first_lanes(new, here, old))
        x = first_lanes(new, here, 0.0)
        xx = x * x
        x3 = xx * x
        x4 = xx * xx
        p1, p2, p3, p4 = p1 + x, p2 + xx, p3 + x3, p4 + x4
        p5, p6, p7 = p5 + x4 * x, p6 + x4 * xx, p7 + x4 * x3
        top, low = select_above(x, top, x, top), select_above(low, new, first_lanes(new, here, low), low)
    sums = (lane_sum(p1), lane_sum(p2), lane_sum(p3), lane_sum(p4), lane_sum(p5), lane_sum(p6), lane_sum(p7))
    for i in range(ORDER):
        numbers[MOMENTS + i * CLASSES + k] = sums[i]
    largest, smallest = 0.0, 1.0
    for i in range(WIDTH):
        largest, smallest = max(largest, lane(top, i)), min(smallest, lane(low, i))
    numbers[TOPS + k] = largest
    reset(numbers, k)
    return smallest


@compiled
def step_exactly(state, k, c):
    """Take a step too large for the series: w -> w exp(-c w) in class k, arm by arm."""
    bases, numbers, borders = state.bases, state.numbers, state.borders
    for j in range(borders[k], borders[k + 1], WIDTH):
        old = load(bases, j)
        weight = value_at(numbers, k, old)
        store(bases, j, first_lanes(weight * exp(weight * -c), borders[k + 1] - j, old))  # (1)
    reset(numbers, k)


@compiled
def resettle(state, k):
    """Refresh class k and move the arms that no longer belong to it."""
    bases, arms, numbers, borders = state.bases, state.arms, state.numbers, state.borders
    numbers[REFRESHES] += 1.0
    smallest = refresh(state, k)
    limit = numbers[LIMITS + k]
    floor = limit / SLACK if k < CLASSES - 1 else LIGHTEST
    again = numbers[TOPS + k] > limit or smallest < floor
    while again:
        again = False
        j = borders[k + 1]
        while j > borders[k]:  # from the end: a removal fills the hole with an arm already seen
            if j - WIDTH >= borders[k]:
                eight = load(bases, j - WIDTH)
                if lanes_above(eight, limit) | lanes_above(floor, eight) == 0:
                    j -= WIDTH
                    continue
            j -= 1
            weight = bases[j]
            if weight > limit or weight < floor:
                arm = arms[j]
                remove(state, k, j)
                insert(state, arm, weight)
                again = again or weight > limit  # going up shifts this class by one arm, which is then not yet seen


@compiled
def remove(state, k, position):
    """Take the arm at a position out of class k; the hole wanders to the end, one arm a class."""
    bases, arms, numbers, borders = state.bases, state.arms, state.numbers, state.borders
    if k < CLASSES:
        if borders[k + 1] - borders[k] == 1:
            for i in range(ORDER):
                numbers[MOMENTS + i * CLASSES + k] = 0.0
        else:
            add_to_moments(numbers, k, bases[position], -1.0)
    hole = position
    for border in range(k + 1, CLASSES + 2):
        last = borders[border] - 1
        bases[hole], arms[hole] = bases[last], arms[last]
        hole = last
        borders[border] -= 1


@compiled
def insert(state, arm, weight):
    """Put an arm of a present weight (or, if negative, a logarithm) where it belongs."""
    numbers, borders = state.numbers, state.borders
    if weight > numbers[LIMITS] * (1.0 - MARGIN):
        numbers[HEAVY_WEIGHTS + borders[N_HEAVY]], borders[HEAVY_ARMS + borders[N_HEAVY]] = weight, arm
        borders[N_HEAVY] += 1
        return
    if weight > LIGHTEST:
        k = class_for(numbers, weight)
        insert_light(state, k, arm, base_of(numbers, k, weight))
    else:
        insert_light(state, CLASSES, arm, log(weight) if weight > 0.0 else weight)


@compiled
def insert_light(state, k, arm, base):
    """Put an arm into class k (12: the dead) with a base; a hole wanders there from the end, one arm a class."""
    bases, arms, numbers, borders = state.bases, state.arms, state.numbers, state.borders
    hole = borders[CLASSES + 1]
    for border in range(CLASSES + 1, k + 1, -1):
        first = borders[border - 1]
        bases[hole], arms[hole] = bases[first], arms[first]
        borders[border] += 1
        hole = first
    borders[k + 1] += 1
    bases[hole], arms[hole] = base, arm
    if k < CLASSES:
        add_to_moments(numbers, k, base, 1.0)
        numbers[TOPS + k] = max(numbers[TOPS + k], base)


@compiled
def remove_heavy(state, i):
    """Take heavy arm number i out."""
    numbers, borders = state.numbers, state.borders
    last = borders[N_HEAVY] - 1
    numbers[HEAVY_WEIGHTS + i], borders[HEAVY_ARMS + i] = numbers[HEAVY_WEIGHTS + last], borders[HEAVY_ARMS + last]
    numbers[HEAVY_WEIGHTS + last] = 0.0
    borders[N_HEAVY] = last


@compiled
def demote_light_heavies(state):
    """Heavy arms that fell well below the border go to their classes."""
    numbers, borders = state.numbers, state.borders
    for i in range(borders[N_HEAVY] - 1, -1, -1):
        if numbers[HEAVY_WEIGHTS + i] < numbers[LIMITS] * 0.5:
            arm, weight = borders[HEAVY_ARMS + i], numbers[HEAVY_WEIGHTS + i]
            remove_heavy(state, i)
            insert(state, arm, weight)
