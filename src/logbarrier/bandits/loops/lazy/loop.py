"""The lazy loop: a step whose cost hardly grows with the number of arms (docs/engine.md has the derivation).

Arms that are not pulled all go through the same map, so it is composed once per class of arms (series.py) instead of
being applied to each arm. Only the heavy arms and the pulled one are touched in a step. A class is refreshed, arm by arm,
when its map has moved by REACH; arms that weigh less move less, so lighter classes are refreshed less often, and the arms
refreshed per step number a few times drain / REACH in all, whatever K.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....engine.compiled import compiled, inlined, kernel
from ....engine.elementary import log, moderate_exp, small_exp
from ....engine.lanes import HALF, lane_sum, lanes_above, load_half, magnitude, splat_half, store, with_lane
from ....engine.pointers import pointer_behind, pointer_to, prefetch, table_behind
from ....engine.random import ARM, TRIES, fill_tries, fill_uniforms, philox, uniform
from ...metrics import measure
from ..policy import SMALLEST_PROBABILITY, checked_reward, within_reach
from .classes import (
    HEAVY_ARMS,
    HEAVY_TOTAL,
    HEAVY_WEIGHTS,
    LARGEST_TOTAL,
    LIGHT_TOTAL,
    LIGHTEST,
    LIMITS,
    MARGIN,
    N_ARMS,
    N_HEAVY,
    SCALE,
    SLOW_STEPS,
    SMALLEST_TOTAL,
    SQUARES,
    TOPS,
    TOTAL,
    UNIT,
    change_unit,
    demote_light_heavies,
    from_theta,
    insert,
    insert_light,
    rebuild,
    remove,
    resettle,
    step_exactly,
    to_theta,
    write_levels,
)
from .series import CLASSES, K2, K3, MASSES, REACH, base_of, class_masses, compose, replace_in_moments, reset, value_at

BATCH = 128
LARGEST_STEP = 40.0  # a larger lift or drain is taken in theta, arm by arm
SMALL_STEP = 0.34  # below log(2)/2: the exponential of a smaller one is a polynomial
AHEAD = 6  # steps, for each of two stages of fetching
CACHED_ARMS = 20_000  # with fewer arms everything is in the cache anyway
BLOCKS = 64  # of two random numbers for an arm; then its class is searched through, which draws from the same law
DEMOTE_EVERY = 64
NO_CLASS = -1  # the heavy arms


@compiled
def update_totals(state):
    """Masses of the classes, of the heavy arms, and of all."""
    page, borders = state[2], state[3]
    masses = splat_half(0.0)
    for first in range(0, CLASSES, HALF):
        masses = masses + class_masses(page, first)
    heavies = splat_half(0.0)
    for i in range(0, borders[N_HEAVY], HALF):
        heavies = heavies + load_half(page, HEAVY_WEIGHTS + i)
    page[HEAVY_TOTAL] = lane_sum(heavies)
    page[LIGHT_TOTAL] = lane_sum(masses)
    page[TOTAL] = page[HEAVY_TOTAL] + page[LIGHT_TOTAL]


@inlined
def draw(state, u, tries, t, run, key):
    """(class, position, weight) of an arm drawn by its weight; class NO_CLASS is the heavy arms.

    u picks the class. Then each of the tries picks an arm in it, which is taken if what the try leaves over, again a uniform,
    is below weight / largest weight: rejection, so exact.
    """
    bases, page, borders = state[0], state[2], state[3]
    target = u * page[TOTAL]
    if target < page[HEAVY_TOTAL] or page[LIGHT_TOTAL] <= 0.0:
        below = 0.0
        for i in range(borders[N_HEAVY] - 1):
            below += page[HEAVY_WEIGHTS + i]
            if target < below:
                return NO_CLASS, i, page[HEAVY_WEIGHTS + i]
        return NO_CLASS, borders[N_HEAVY] - 1, page[HEAVY_WEIGHTS + borders[N_HEAVY] - 1]
    target -= page[HEAVY_TOTAL]
    k = 0
    for candidate in range(CLASSES):
        if borders[candidate + 1] > borders[candidate]:
            k = candidate
            if target < page[MASSES + candidate]:
                break
            target -= page[MASSES + candidate]
    count = borders[k + 1] - borders[k]
    largest = value_at(page, k, page[TOPS + k])
    for i in range(TRIES):
        scaled = tries[i] * count
        offset = int(scaled)
        accept, base = scaled - offset, bases[borders[k] + offset]
        # a base, known long before the weight, is within REACH of it: most refusals are plain at once
        if accept * page[TOPS + k] < base * (1.0 + 3.0 * REACH):
            weight = value_at(page, k, base)
            if accept * largest < weight:
                return k, borders[k] + offset, weight
    return draw_on(state, k, largest, t, run, key)


@compiled
def draw_on(state, k, largest, t, run, key):
    """Further tries in class k, which after BLOCKS is searched through."""
    bases, page, borders = state[0], state[2], state[3]
    for block in range(TRIES // 2, BLOCKS):
        place, accept = philox(t, block, run, ARM, key)
        position = borders[k] + int(uniform(place) * (borders[k + 1] - borders[k]))
        weight = value_at(page, k, bases[position])
        if uniform(accept) * largest < weight:
            return k, position, weight
    u = uniform(philox(t, BLOCKS, run, ARM, key)[0])
    mass = 0.0
    for j in range(borders[k], borders[k + 1]):
        mass += value_at(page, k, bases[j])
    below, position = 0.0, borders[k]
    for j in range(borders[k], borders[k + 1]):
        position = j
        below += value_at(page, k, bases[j])
        if below > u * mass:
            break
    return k, position, value_at(page, k, bases[position])


@inlined
def move(state, k, position, weight, lift, drain):
    """theta <- theta + lift e_arm - drain p, for the arm at a position of class k (-1: heavy) that weighs `weight` now."""
    bases, page, borders = state[0], state[2], state[3]
    if not (abs(lift) <= LARGEST_STEP and abs(drain) <= LARGEST_STEP):
        move_in_theta(state, k, position, within_reach(lift), within_reach(drain))
        return
    c = drain / page[TOTAL]
    log_factor = lift - c * weight
    small = abs(lift) + abs(drain) < SMALL_STEP
    moved = weight * (small_exp(log_factor) if small else moderate_exp(log_factor))
    exact = 0  # classes 0 .. exact - 1 are too heavy for the series of a step of this size
    while exact < CLASSES and abs(c) * page[LIMITS + exact] > 0.25 * REACH:
        step_exactly(state, exact, c)
        exact += 1
    step = splat_half(-c)
    heavy = position if k == NO_CLASS else -1
    heavies = splat_half(0.0)
    for i in range(0, borders[N_HEAVY], HALF):
        w = load_half(page, HEAVY_WEIGHTS + i)
        factor = small_exp(w * step) if small else moderate_exp(w * step)
        w = with_lane(w * factor, heavy - i, moved)
        store(page, HEAVY_WEIGHTS + i, w)
        heavies = heavies + w
    masses, far = splat_half(0.0), 0
    for first in range(0, CLASSES, HALF):
        if borders[first + HALF] > borders[first]:  # the map of a class without arms may be any, so it need not follow
            compose(page, first, c)
            masses = masses + class_masses(page, first)
            far |= moved_far(page, first) << first
    if exact == 0 and (k == NO_CLASS or stays(state, k, moved)):
        light = lane_sum(masses)
        if k != NO_CLASS:
            base = bases[position]
            gain = moved - value_at(page, k, base)
            page[MASSES + k] += gain
            light += gain
            rebase(state, k, position, base, moved)
        page[LIGHT_TOTAL] = light
        page[HEAVY_TOTAL] = lane_sum(heavies)
        page[TOTAL] = page[HEAVY_TOTAL] + light
    else:
        settle(state, k, position, moved, log(weight) + log_factor if moved <= LIGHTEST else 0.0, exact)
        far = far >> exact << exact
    if far != 0:
        refresh_those(state, far)
        update_totals(state)


@inlined
def stands_out(state, k, moved):
    """Whether an arm weighs so much more than others of class k that their draws would often be rejected."""
    page, borders = state[2], state[3]
    # `&`: both are often a toss-up, and a branch mispredicted costs more than a comparison
    return (moved > 0.5 * page[LIMITS + k]) & (moved * (borders[k + 1] - borders[k]) > 1.5 * page[MASSES + k])


@inlined
def stays(state, k, moved):
    """Whether an arm of this weight may be in class k."""
    fits = (moved > LIGHTEST) & (moved <= state[2][LIMITS + k] * (1.0 - 2.0 * REACH))
    return fits & (not stands_out(state, k, moved))


@inlined
def rebase(state, k, position, base, moved):
    """Give the arm of class k at a position its new weight."""
    bases, page = state[0], state[2]
    new = base_of(page, k, moved)
    replace_in_moments(page, k, base, new)
    bases[position] = new
    if new > page[TOPS + k]:  # a branch: the next draw need not wait for a top that has not changed
        page[TOPS + k] = new


@compiled
def settle(state, k, position, moved, log_moved, exact):
    """End a step after which arms change their classes; classes 0 .. exact - 1 have made it arm by arm already."""
    bases, arms, page, _, _ = state
    for j in range(exact):
        reset(page, j)
    if k != NO_CLASS:
        if stays(state, k, moved):
            rebase(state, k, position, bases[position], moved)
        else:
            arm = arms[position]
            rises = stands_out(state, k, moved) and k > 0 and moved <= page[LIMITS + k - 1] * (1.0 - MARGIN)
            remove(state, k, position)
            if rises:
                insert_light(state, k - 1, arm, base_of(page, k - 1, moved))
            else:
                insert(state, arm, moved if moved > LIGHTEST else log_moved)
    for j in range(exact):
        resettle(state, j)
    update_totals(state)


@inlined
def moved_far(page, first):
    """Which of the classes first .. first + 3 have a map that has moved by REACH, as bits."""
    far = lanes_above(magnitude(load_half(page, K2 + first)) * load_half(page, LIMITS + first), REACH)
    squares = load_half(page, SQUARES + first)
    return far | lanes_above(magnitude(load_half(page, K3 + first)) * squares, 2.0 * REACH * REACH)


@compiled
def refresh_those(state, far):
    """Refresh the classes whose bits are set."""
    page, borders = state[2], state[3]
    k = 0
    while far != 0:
        if far & 1:
            if borders[k + 1] > borders[k]:
                resettle(state, k)
            else:
                reset(page, k)
        far >>= 1
        k += 1


@compiled
def move_in_theta(state, k, position, lift, drain):
    """The same step for one so large that weights could overflow: through theta, then everything is sorted anew."""
    _, arms, page, borders, levels = state
    arm = borders[HEAVY_ARMS + position] if k == NO_CLASS else arms[position]
    theta = np.empty(borders[N_ARMS])
    to_theta(state, theta)
    for a in range(borders[N_ARMS]):
        if levels[a] > 0.0:
            theta[a] -= drain * (levels[a] / page[TOTAL])
    theta[arm] += lift
    from_theta(state, theta)
    page[SLOW_STEPS] += 1.0
    update_totals(state)


@inlined
def keep_in_order(state, t):
    """Now and then: heavy arms that became light leave, and the unit follows the total."""
    page = state[2]
    if t % DEMOTE_EVERY == 0:
        demote_light_heavies(state)
        update_totals(state)
    if not SMALLEST_TOTAL * page[UNIT] <= page[TOTAL] <= LARGEST_TOTAL * page[UNIT]:
        change_unit(state)
        update_totals(state)


@compiled
def mix_with_uniform(state, share):
    """p <- share/K + (1 - share) p."""
    _, _, page, borders, levels = state
    write_levels(state)
    n_arms = borders[N_ARMS]
    for a in range(n_arms):
        levels[a] = share / n_arms + (1.0 - share) * (max(levels[a], 0.0) / page[TOTAL])
    page[SCALE] = 0.0
    rebuild(state)
    update_totals(state)


@inlined
def crowded_class(borders):
    """The class with the most arms."""
    crowd = 0
    for k in range(1, CLASSES):
        if borders[k + 1] - borders[k] > borders[crowd + 1] - borders[crowd]:
            crowd = k
    return crowd


@inlined
def look_ahead(state, numbers, n_arms, crowd, tries, i, batch):
    """Ask for the memory that the steps to come will read, if they draw from the crowded class."""
    bases, arms, _, borders, _ = state
    first, count = borders[crowd], borders[crowd + 1] - borders[crowd]
    if i + 2 * AHEAD < batch:
        position = first + int(tries[TRIES * (i + 2 * AHEAD)] * count)
        prefetch(bases, position)
        prefetch(arms, position)
    if i + AHEAD < batch and count > 0:
        arm = arms[first + int(tries[TRIES * (i + AHEAD)] * count)]
        prefetch(numbers, arm)
        prefetch(numbers, n_arms + arm)


def _loop_with(lift_and_drain: Any, mixing: Any, noise: Any, reward_of: Any) -> Callable[..., Any]:
    def loop(arrays, learned, hyper, problem, key, run, checkpoints, first, last, progress, out):
        """Run up to checkpoints[last - 1], measuring at checkpoints[first:last]; progress is [steps done, regret, fault]."""
        parameters, best = problem
        bases, arms, page, borders, levels = arrays
        state = (pointer_to(bases), pointer_to(arms), pointer_to(page), pointer_to(borders), pointer_to(levels))
        memory, n_arms = pointer_to(learned[0]), parameters.shape[1]
        table, numbers, key_pointer = table_behind(parameters, 0, n_arms), pointer_to(parameters), pointer_to(key)
        uniforms, noises = np.empty(2 * BATCH), np.empty(BATCH)
        tries = np.empty(TRIES * BATCH)
        t, regret = int(progress[0]), progress[1]
        update_totals(state)
        for checkpoint in range(first, last):
            while t < checkpoints[checkpoint]:
                batch = min(BATCH, checkpoints[checkpoint] - t)
                fill_uniforms(uniforms, t, batch, run, key)
                fill_tries(tries, t, batch, run, key)
                for i in range(batch):
                    noises[i] = noise(uniforms[2 * i + 1])
                crowd = crowded_class(borders)
                for i in range(batch):
                    if n_arms > CACHED_ARMS:
                        look_ahead(state, numbers, n_arms, crowd, tries, i, batch)
                    k, position, weight = draw(state, uniforms[2 * i], pointer_behind(tries, TRIES * i), t, run, key_pointer)
                    arm = state[3][HEAVY_ARMS + position] if k == NO_CLASS else state[1][position]
                    reward = checked_reward(reward_of(noises[i], table, arm, (key_pointer, t, run)), progress, 2)
                    regret += table[0, best] - table[0, arm]
                    t += 1
                    probability = max(weight / page[TOTAL], SMALLEST_PROBABILITY)
                    lift, drain = lift_and_drain(reward, probability, t, memory, hyper)
                    move(state, k, position, weight, lift, drain)
                    keep_in_order(state, t)
                    share = mixing(t, hyper)
                    if share > 0.0:
                        mix_with_uniform(state, share)
            write_levels(state)
            for a in range(n_arms):
                levels[a] = max(levels[a], 0.0)
            measure(levels, page[TOTAL], parameters[0], best, regret, out[checkpoint])
        progress[0], progress[1] = t, regret

    return loop


def loop_kernel(lift_and_drain: Any, mixing: Any, noise: Any, reward_of: Any) -> Any:
    """The compiled lazy loop of a rule on a reward distribution."""
    return kernel(_loop_with, lift_and_drain, mixing, noise, reward_of)
