"""One step of the lazy engine: theta <- theta + lift e_arm - drain p. Numbers in brackets are equations of docs/engine.md."""

from __future__ import annotations

from ....engine.codegen.lane_access import lane_sum, lanes_above, load_half, splat_half, store, with_lane
from ....engine.codegen.lanes import HALF
from ....engine.compiled import compiled, inlined
from ....engine.elementary import log, moderate_exp, small_exp
from ..policy import within_reach
from .classes import MARGIN, demote_light_heavies, insert, insert_light, remove, resettle, step_exactly
from .layout import (
    CLASSES,
    HEAVY_ARMS,
    HEAVY_TOTAL,
    HEAVY_WEIGHTS,
    K2,
    K3,
    LARGEST_TOTAL,
    LIGHT_TOTAL,
    LIGHTEST,
    LIMITS,
    MASSES,
    N_ARMS,
    N_HEAVY,
    SCALE,
    SLOW_STEPS,
    SMALLEST_TOTAL,
    SQUARES,
    TOPS,
    TOTAL,
    UNIT,
    class_size,
)
from .series import REACH, base_of, class_masses, compose, replace_in_moments, reset, value_at
from .sorting import from_theta, rebuild, write_levels
from .unit import change_unit

LARGEST_SERIES_MOVE = 40.0  # a larger lift or drain is taken in theta, arm by arm
SMALL_STEP = 0.34  # below log(2)/2: the exponential of a smaller one is a polynomial
DEMOTE_EVERY = 64
NO_CLASS = -1  # the heavy arms


@compiled
def update_totals(state):
    """Masses of the classes, of the heavy arms, and of all."""
    numbers, borders = state.numbers, state.borders
    masses = splat_half(0.0)
    for first in range(0, CLASSES, HALF):
        masses = masses + class_masses(numbers, first)
    heavies = splat_half(0.0)
    for i in range(0, borders[N_HEAVY], HALF):
        heavies = heavies + load_half(numbers, HEAVY_WEIGHTS + i)
    numbers[HEAVY_TOTAL] = lane_sum(heavies)
    numbers[LIGHT_TOTAL] = lane_sum(masses)
    numbers[TOTAL] = numbers[HEAVY_TOTAL] + numbers[LIGHT_TOTAL]


@inlined
def move(state, k, position, weight, lift, drain):
    """theta <- theta + lift e_arm - drain p, for the arm at a position of class k (-1: heavy) that weighs `weight` now."""
    numbers = state.numbers
    if not (abs(lift) <= LARGEST_SERIES_MOVE and abs(drain) <= LARGEST_SERIES_MOVE):
        move_in_theta(state, k, position, within_reach(lift), within_reach(drain))
        return
    c = drain / numbers[TOTAL]  # (1)
    log_factor = lift - c * weight
    small = abs(lift) + abs(drain) < SMALL_STEP
    moved = weight * (small_exp(log_factor) if small else moderate_exp(log_factor))  # (5)
    exact = step_heaviest_classes(state, c)
    heavies = step_heavy_arms(state, c, small, position if k == NO_CLASS else -1, moved)
    masses, far = step_classes(state, c)
    if exact == 0 and (k == NO_CLASS or stays(state, k, moved)):
        light = lane_sum(masses)
        if k != NO_CLASS:
            light += rebase(state, k, position, moved)
        numbers[LIGHT_TOTAL] = light
        numbers[HEAVY_TOTAL] = lane_sum(heavies)
        numbers[TOTAL] = numbers[HEAVY_TOTAL] + light
    else:
        settle(state, k, position, moved, log(weight) + log_factor if moved <= LIGHTEST else 0.0, exact)
        far = far >> exact << exact
    if far != 0:
        refresh_those(state, far)
        update_totals(state)


@inlined
def step_heaviest_classes(state, c):
    """Classes 0 .. n - 1, too heavy for the series of a step of this size, make it arm by arm; returns n, mostly 0."""
    exact = 0
    while exact < CLASSES and abs(c) * state.numbers[LIMITS + exact] > 0.25 * REACH:
        step_exactly(state, exact, c)
        exact += 1
    return exact


@inlined
def step_heavy_arms(state, c, small, pulled, moved):
    """w -> w exp(-c w) for each heavy arm, `moved` for the pulled one; returns their sums in four lanes."""
    numbers, step, heavies = state.numbers, splat_half(-c), splat_half(0.0)
    for i in range(0, state.borders[N_HEAVY], HALF):
        w = load_half(numbers, HEAVY_WEIGHTS + i)
        factor = small_exp(w * step) if small else moderate_exp(w * step)
        w = with_lane(w * factor, pulled - i, moved)  # (1)
        store(numbers, HEAVY_WEIGHTS + i, w)
        heavies = heavies + w
    return heavies


@inlined
def step_classes(state, c):
    """The maps of all classes; returns their masses in four lanes, and as bits which have moved too far."""
    numbers, borders = state.numbers, state.borders
    masses, far = splat_half(0.0), 0
    for first in range(0, CLASSES, HALF):
        if borders[first + HALF] > borders[first]:  # the map of a class without arms may be any, so it need not follow
            compose(numbers, first, c)  # (3)
            masses = masses + class_masses(numbers, first)  # (4)
            far |= moved_far(numbers, first) << first
    return masses, far


@inlined
def moved_far(numbers, first):
    """Which of the classes first .. first + 3 have a map that has moved by REACH, as bits."""
    far = lanes_above(abs(load_half(numbers, K2 + first)) * load_half(numbers, LIMITS + first), REACH)  # (8)
    squares = load_half(numbers, SQUARES + first)
    return far | lanes_above(abs(load_half(numbers, K3 + first)) * squares, 2.0 * REACH * REACH)


@inlined
def stands_out(state, k, moved):
    """Whether an arm weighs so much more than others of class k that their draws would often be rejected."""
    numbers = state.numbers
    # `&`: both are often a toss-up, and a branch mispredicted costs more than a comparison
    return (moved > 0.5 * numbers[LIMITS + k]) & (moved * class_size(state, k) > 1.5 * numbers[MASSES + k])


@inlined
def stays(state, k, moved):
    """Whether an arm of this weight may be in class k."""
    fits = (moved > LIGHTEST) & (moved <= state.numbers[LIMITS + k] * (1.0 - 2.0 * REACH))
    return fits & (not stands_out(state, k, moved))


@inlined
def rebase(state, k, position, moved):
    """Give the arm of class k at a position its new weight; returns what the class gains."""
    numbers, base = state.numbers, state.bases[position]
    gain = moved - value_at(numbers, k, base)
    numbers[MASSES + k] += gain
    new = base_of(numbers, k, moved)  # (6)
    replace_in_moments(numbers, k, base, new)  # (7)
    state.bases[position] = new
    if new > numbers[TOPS + k]:  # a branch: the next draw need not wait for a top that has not changed
        numbers[TOPS + k] = new
    return gain


@compiled
def settle(state, k, position, moved, log_moved, exact):
    """End a step after which arms change their classes; classes 0 .. exact - 1 have made it arm by arm already."""
    numbers = state.numbers
    for j in range(exact):
        reset(numbers, j)
    if k != NO_CLASS:
        if stays(state, k, moved):
            rebase(state, k, position, moved)
        else:
            arm = state.arms[position]
            rises = stands_out(state, k, moved) and k > 0 and moved <= numbers[LIMITS + k - 1] * (1.0 - MARGIN)
            remove(state, k, position)
            if rises:
                insert_light(state, k - 1, arm, base_of(numbers, k - 1, moved))  # (6)
            else:
                insert(state, arm, moved if moved > LIGHTEST else log_moved)
    for j in range(exact):
        resettle(state, j)
    update_totals(state)


@compiled
def refresh_those(state, far):
    """Refresh the classes whose bits are set."""
    k = 0
    while far != 0:
        if far & 1:
            if class_size(state, k) > 0:
                resettle(state, k)
            else:
                reset(state.numbers, k)
        far >>= 1
        k += 1


@compiled
def move_in_theta(state, k, position, lift, drain):
    """The same step for one so large that weights could overflow: through theta, then everything is sorted again."""
    numbers, borders, levels = state.numbers, state.borders, state.levels
    arm = borders[HEAVY_ARMS + position] if k == NO_CLASS else state.arms[position]
    write_levels(state)
    for a in range(borders[N_ARMS]):
        level = levels[a]
        if level > 0.0:
            theta = log(level) + numbers[SCALE]
            levels[a] = theta - drain * (level / numbers[TOTAL])
        else:
            levels[a] = level + numbers[SCALE]
    levels[arm] += lift
    from_theta(state)
    numbers[SLOW_STEPS] += 1.0
    update_totals(state)


@inlined
def keep_in_order(state, t):
    """Now and then: heavy arms that became light leave, and the unit follows the total."""
    numbers = state.numbers
    if t % DEMOTE_EVERY == 0:
        demote_light_heavies(state)
        update_totals(state)
    if not SMALLEST_TOTAL * numbers[UNIT] <= numbers[TOTAL] <= LARGEST_TOTAL * numbers[UNIT]:
        change_unit(state)
        update_totals(state)


@compiled
def mix_with_uniform(state, share):
    """p <- share/K + (1 - share) p."""
    numbers, levels, n_arms = state.numbers, state.levels, state.borders[N_ARMS]
    write_levels(state)
    for a in range(n_arms):
        levels[a] = share / n_arms + (1.0 - share) * (max(levels[a], 0.0) / numbers[TOTAL])
    numbers[SCALE] = 0.0
    rebuild(state)
    update_totals(state)
