"""The lazy loop: a step whose cost hardly grows with the number of arms (docs/engine.md has the derivation).

Arms that are not pulled all go through the same map, so it is composed once per class of arms (series.py) instead of
being applied to each arm. Only the heavy arms and the pulled one are touched in a step (step.py). A class is refreshed, arm by
arm, when its map has moved by REACH. Arms that weigh less move less, so lighter classes are refreshed less often. In all, a few
times drain / REACH arms are refreshed per step, whatever K.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ....engine.codegen.pointers import buffer_of, pointer_at, pointer_to, prefetch
from ....engine.compiled import compiled, inlined, kernel
from ....engine.random import ARM, TRIES, fill_tries, philox, uniform
from ..functions import call_moves, share_to_mix
from ..policy import LARGEST_MOVE, SMALLEST_PROBABILITY, cut_move
from ..single import BATCH, loop_of
from .layout import (
    CLASSES,
    HEAVY_ARMS,
    HEAVY_TOTAL,
    HEAVY_WEIGHTS,
    LIGHT_TOTAL,
    MASSES,
    N_ARMS,
    N_HEAVY,
    TOPS,
    TOTAL,
    class_size,
    opened_classes,
)
from .series import REACH, value_at
from .sorting import write_levels
from .step import NO_CLASS, keep_in_order, mix_with_uniform, move, update_totals

AHEAD = 6  # steps, for each of two stages of fetching
CACHED_ARMS = 20_000  # with fewer arms everything is in the cache anyway
BLOCKS = 64  # of two random numbers for an arm; then its class is searched through, which draws from the same law
_room_for_tries = buffer_of(TRIES * BATCH)


class Lazy(NamedTuple):
    """The state of the loop: the classes, the rule's addresses and numbers, random numbers, the problem's parameters."""

    classes: Any
    moves: int
    mixing: int
    hyper: Any
    memory: Any
    remembered: Any
    remembers_arms: bool
    fault: Any
    tries: Any
    parameters: Any
    n_arms: int


@inlined
def draw(state, u, tries, t, run, key):
    """Draw an arm by its weight; return its class (NO_CLASS for a heavy arm), its position there and its weight.

    The uniform number u picks a heavy arm, or a class by its mass. A try times the size of the class has a whole part and a
    rest. The whole part proposes an arm. The rest accepts it if below weight / largest weight, equation (9) of docs/engine.md.
    state: the `Classes` of layout.py.
    """
    bases, numbers, borders = state.bases, state.numbers, state.borders
    target = u * numbers[TOTAL]
    if target < numbers[HEAVY_TOTAL] or numbers[LIGHT_TOTAL] <= 0.0:
        below = 0.0
        for i in range(borders[N_HEAVY] - 1):
            below += numbers[HEAVY_WEIGHTS + i]
            if target < below:
                return NO_CLASS, i, numbers[HEAVY_WEIGHTS + i]
        return NO_CLASS, borders[N_HEAVY] - 1, numbers[HEAVY_WEIGHTS + borders[N_HEAVY] - 1]
    target -= numbers[HEAVY_TOTAL]
    k = 0
    for candidate in range(CLASSES):
        if borders[candidate + 1] > borders[candidate]:
            k = candidate
            if target < numbers[MASSES + candidate]:
                break
            target -= numbers[MASSES + candidate]
    count = borders[k + 1] - borders[k]
    largest = value_at(numbers, k, numbers[TOPS + k])
    for i in range(TRIES):
        scaled = tries[i] * count
        offset = int(scaled)
        accept, base = scaled - offset, bases[borders[k] + offset]
        # a base, known long before the weight, is within REACH of it: most refusals are plain at once
        if accept * numbers[TOPS + k] < base * (1.0 + 3.0 * REACH):
            weight = value_at(numbers, k, base)
            if accept * largest < weight:  # (9)
                return k, borders[k] + offset, weight
    return draw_on(state, k, largest, t, run, key)


@compiled
def draw_on(state, k, largest, t, run, key):
    """Further tries in class k, which after BLOCKS is searched through."""
    bases, numbers, borders = state.bases, state.numbers, state.borders
    for block in range(TRIES // 2, BLOCKS):
        place, accept = philox(t, block, run, ARM, key)
        position = borders[k] + int(uniform(place) * (borders[k + 1] - borders[k]))
        weight = value_at(numbers, k, bases[position])
        if uniform(accept) * largest < weight:  # (9)
            return k, position, weight
    u = uniform(philox(t, BLOCKS, run, ARM, key)[0])
    mass = 0.0
    for j in range(borders[k], borders[k + 1]):
        mass += value_at(numbers, k, bases[j])
    below, position = 0.0, borders[k]
    for j in range(borders[k], borders[k + 1]):
        position = j
        below += value_at(numbers, k, bases[j])
        if below > u * mass:
            break
    return k, position, value_at(numbers, k, bases[position])


@inlined
def crowded_class(state):
    """The class with the most arms."""
    crowd = 0
    for k in range(1, CLASSES):
        if class_size(state, k) > class_size(state, crowd):
            crowd = k
    return crowd


@inlined
def look_ahead(state, parameters, n_arms, crowd, tries, i, batch):
    """Ask for the memory that the steps to come will read, if they draw from the crowded class."""
    first, count = state.borders[crowd], class_size(state, crowd)
    if i + 2 * AHEAD < batch:
        position = first + int(tries[TRIES * (i + 2 * AHEAD)] * count)
        prefetch(state.bases, position)
        prefetch(state.arms, position)
    if i + AHEAD < batch and count > 0:
        arm = state.arms[first + int(tries[TRIES * (i + AHEAD)] * count)]
        prefetch(parameters, arm)
        prefetch(parameters, n_arms + arm)


@inlined
def open_state(arrays, parameters, t, fault):
    classes, calls, learned = opened_classes(arrays[0]), arrays[1], arrays[2]
    update_totals(classes)
    hyper, n_arms = pointer_to(calls[2]), classes.borders[N_ARMS]
    memory = pointer_to(learned[0]), pointer_to(learned[2]), learned[2].shape[0] > 0
    return Lazy(
        classes, calls[0], calls[1], hyper, memory[0], memory[1], memory[2], fault, _room_for_tries(), parameters, n_arms
    )


@inlined
def refill(state, t, batch, run, key):
    fill_tries(state.tries, t, batch, run, key)
    return crowded_class(state.classes)


@inlined
def draw_place(state, hint, i, batch, u, t, run, key):
    if state.n_arms > CACHED_ARMS:
        look_ahead(state.classes, state.parameters, state.n_arms, hint, state.tries, i, batch)
    return draw(state.classes, u, pointer_at(state.tries, TRIES * i), t, run, key)


@inlined
def arm_at(state, place):
    k, position, _ = place
    return state.classes.borders[HEAVY_ARMS + position] if k == NO_CLASS else state.classes.arms[position]


@inlined
def learn_step(state, place, arm, reward, t):
    classes, (k, position, weight) = state.classes, place
    probability = max(weight / classes.numbers[TOTAL], SMALLEST_PROBABILITY)
    if state.remembers_arms:
        state.memory[0] = state.remembered[arm]  # of_arm
    lift, drain = call_moves(state.moves, (reward, probability, t, state.memory, state.hyper, state.fault))
    if state.remembers_arms:
        state.remembered[arm] = state.memory[0]
    if not abs(lift) + abs(drain) <= LARGEST_MOVE:  # `move` needs this sum anyway
        lift, drain = cut_move(lift, t, state.fault), cut_move(drain, t, state.fault)
    move(classes, k, position, weight, lift, drain)
    keep_in_order(classes, t)
    share = share_to_mix(state, t)
    if share > 0.0:
        mix_with_uniform(classes, share)


@inlined
def weights_now(state, t):
    classes = state.classes
    write_levels(classes)
    for a in range(state.n_arms):
        classes.levels[a] = max(classes.levels[a], 0.0)
    return classes.levels, classes.numbers[TOTAL]


def loop_kernel() -> Any:
    """The compiled lazy loop, for rules that drain."""
    return kernel(loop_of, "the lazy loop", False, open_state, refill, draw_place, arm_at, learn_step, weights_now)
