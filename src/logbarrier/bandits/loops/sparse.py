"""The sparse loop, for rules that drain nothing (natural gradient): only the pulled arm moves.

Weights are the leaves of a tree in which every node is the sum of sixteen children. So a step is O(log K): draw by
walking down, update by summing up again along one path. Sums are always computed again from their children, so nothing drifts.

theta is stored with the weights exp(theta - shift). The shift follows when the total leaves [1e-150, 1e150]. Arms far below
then have weight zero. `scalars[HIGHEST_ZERO]`, the largest theta among them, says when one could have weight again. Until
then a new shift only rescales the few weights that are not zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.core import types

from ...engine.codegen.lane_access import lane_sum, load
from ...engine.codegen.lanes import WIDTH, fma
from ...engine.codegen.pointers import buffer_of, pointer_to
from ...engine.compiled import compiled, from_python, inlined, kernel
from ...engine.elementary import EXP_LOWEST, exp, log
from .dense import learn_mean, opened_learned
from .functions import call_moves
from .policy import PADDING, SMALLEST_PROBABILITY, checked_move
from .single import loop_of, no_refill, same_place

FAN = 2 * WIDTH
LOWEST_TOTAL, HIGHEST_TOTAL = 1e-150, 1e150
MOST_BLOCKS = 4096  # with more blocks of arms that have weight, a shift computes everything again
MOST_LEVELS = 16  # sixteen to that power is more than memory holds
TOTAL, SHIFT, HIGHEST_ZERO, FULL_SHIFTS = range(4)
_room_for_blocks, _room_for_stack = buffer_of(MOST_BLOCKS, types.int64), buffer_of(MOST_LEVELS * FAN * 2, types.int64)


class Tree(NamedTuple):
    """The state as compiled code sees it: pointers.

    theta      (padded,)  preferences
    sums       all levels of the tree one after the other, leaves (weights) first, each padded to a multiple of sixteen
    values     in the same places, above the leaves, the sums of weight times arm mean; empty unless keeps_means
    levels     [number of levels, where each begins ...]; the last is the root alone
    scalars    (4,)       [total, shift, largest theta of an arm without weight, how often everything was computed again]
    arm_means  (padded,)  empty unless keeps_means
    keeps_means    whether the rule uses arm means
    """

    theta: Any
    sums: Any
    values: Any
    levels: Any
    scalars: Any
    arm_means: Any
    keeps_means: bool


class Sparse(NamedTuple):
    """The state of the loop."""

    tree: Any
    learned: Any


def new_tree(theta: np.ndarray, keeps_means: bool) -> tuple[np.ndarray, ...]:
    """The arrays of `Tree` for softmax(theta); keeps_means: the rule uses arm means."""
    begins, size = [0], len(theta)
    while size > 1 or len(begins) == 1:
        begins.append(begins[-1] + -(-size // FAN) * FAN)
        size = -(-size // FAN)
    padded = begins[1]
    full = np.full(padded, PADDING)
    full[: len(theta)] = theta
    sums = np.zeros(begins[-1] + FAN)
    state = (
        full,
        sums,
        np.zeros(len(sums) if keeps_means else 0),
        np.array([len(begins), *begins], dtype=np.int64),
        np.zeros(4),
        np.zeros(padded if keeps_means else 0),
    )
    from_python(shift_arrays_fully)(state)
    return state


@inlined
def opened_tree(arrays):
    """The pointers into the arrays of `new_tree`."""
    lower = pointer_to(arrays[0]), pointer_to(arrays[1]), pointer_to(arrays[2])
    upper = pointer_to(arrays[3]), pointer_to(arrays[4]), pointer_to(arrays[5])
    return Tree(lower[0], lower[1], lower[2], upper[0], upper[1], upper[2], arrays[5].shape[0] > 0)


@inlined
def add_up(tree, level, node):
    """Make the sums of a node at a level from its sixteen children."""
    sums, values, arm_means = tree.sums, tree.values, tree.arm_means
    place, first = tree.levels[1 + level] + node, tree.levels[level] + node * FAN
    sums[place] = lane_sum(load(sums, first) + load(sums, first + WIDTH))
    if tree.keeps_means:
        if level == 1:
            low = load(sums, first) * load(arm_means, first)
            values[place] = lane_sum(fma(load(sums, first + WIDTH), load(arm_means, first + WIDTH), low))
        else:
            values[place] = lane_sum(load(values, first) + load(values, first + WIDTH))


@inlined
def root_of(tree):
    """The place of the sum of all."""
    return tree.levels[tree.levels[0]]


@inlined
def add_up_from(tree, arm):
    """The sums on the path from an arm to the root."""
    node = arm
    for level in range(1, tree.levels[0]):
        node //= FAN
        add_up(tree, level, node)
    tree.scalars[TOTAL] = tree.sums[root_of(tree)]


@inlined
def weigh(tree, arm):
    """The weight of an arm from its theta."""
    scalars = tree.scalars
    tree.sums[arm] = exp(tree.theta[arm] - scalars[SHIFT])
    if tree.sums[arm] == 0.0:
        scalars[HIGHEST_ZERO] = max(scalars[HIGHEST_ZERO], tree.theta[arm])


@compiled
def shift_fully(tree):
    """Put the shift at the largest theta and compute every weight and sum again."""
    scalars, padded = tree.scalars, tree.levels[2]
    top = tree.theta[0]
    for a in range(padded):
        top = max(top, tree.theta[a])
    scalars[SHIFT], scalars[HIGHEST_ZERO] = top, PADDING
    for a in range(padded):
        weigh(tree, a)
    scalars[FULL_SHIFTS] += 1.0
    nodes = padded // FAN
    for level in range(1, tree.levels[0]):
        for node in range(nodes):
            add_up(tree, level, node)
        nodes = -(-nodes // FAN)
    scalars[TOTAL] = tree.sums[root_of(tree)]


@compiled
def shift_arrays_fully(arrays):
    """The same for Python."""
    shift_fully(opened_tree(arrays))


@compiled
def find_blocks(tree, blocks):
    """The blocks of arms that have weight, by walking down the nodes that have; how many, or -1 if too many."""
    stack, levels = _room_for_stack(), tree.levels
    n_blocks, depth = 0, 1
    stack[0], stack[1] = levels[0] - 1, 0
    while depth > 0:
        depth -= 1
        level, node = stack[2 * depth], stack[2 * depth + 1]
        if level == 1:
            if n_blocks == MOST_BLOCKS:
                return -1
            blocks[n_blocks] = node
            n_blocks += 1
            continue
        for child in range(node * FAN, node * FAN + FAN):
            if tree.sums[levels[level] + child] > 0.0:
                stack[2 * depth], stack[2 * depth + 1] = level - 1, child
                depth += 1
    return n_blocks


@compiled
def shift(tree, arm):
    """Move the shift to where the total is about 1 again, touching only arms that have weight if no other can get any."""
    scalars, blocks = tree.scalars, _room_for_blocks()
    if tree.theta[arm] - scalars[SHIFT] > 300.0:
        target = tree.theta[arm]
    elif scalars[TOTAL] > 1e-300:
        target = scalars[SHIFT] + log(scalars[TOTAL])
    else:
        shift_fully(tree)
        return
    n_blocks = -1 if scalars[HIGHEST_ZERO] - target > EXP_LOWEST else find_blocks(tree, blocks)
    if n_blocks < 0:
        shift_fully(tree)
        return
    scalars[SHIFT] = target
    for i in range(n_blocks):
        for a in range(blocks[i] * FAN, blocks[i] * FAN + FAN):
            weigh(tree, a)
        add_up_from(tree, blocks[i] * FAN)


@inlined
def draw(tree, u):
    """The arm at u in (0, 1) of the cumulative weights: down the tree, never to an arm of weight 0."""
    target = u * tree.scalars[TOTAL]
    node = 0
    for level in range(tree.levels[0] - 2, -1, -1):
        first = tree.levels[1 + level] + node * FAN
        choice, below = 0, 0.0
        for child in range(FAN):
            weight = tree.sums[first + child]
            if weight > 0.0:
                choice = child
                if target < below + weight:
                    break
                below += weight
        target -= below
        node = node * FAN + choice
    return node


@inlined
def move(tree, arm, lift):
    """theta <- theta + lift e_arm."""
    tree.theta[arm] += lift
    weigh(tree, arm)
    add_up_from(tree, arm)
    if not LOWEST_TOTAL <= tree.scalars[TOTAL] <= HIGHEST_TOTAL:
        shift(tree, arm)


@inlined
def open_state(arrays, parameters, t, fault):
    return Sparse(opened_tree(arrays[0]), opened_learned(arrays[1], arrays[2], fault))


@inlined
def draw_place(state, hint, i, batch, u, t, run, key):
    return draw(state.tree, u)


@inlined
def learn_step(state, place, arm, reward, t):
    tree, learned = state.tree, state.learned
    probability = max(tree.sums[arm] / tree.scalars[TOTAL], SMALLEST_PROBABILITY)
    if tree.keeps_means:
        learned.memory[0] = tree.values[root_of(tree)] / tree.scalars[TOTAL]  # policy_mean
        learned.memory[1] = tree.arm_means[arm]  # arm_mean
    lift, drain = call_moves(learned.moves, (reward, probability, t, learned.memory, learned.hyper, learned.fault))
    if tree.keeps_means:
        learn_mean(tree.arm_means, learned.arm_counts, arm, reward)
    checked_move(drain, t, learned.fault)  # 0 where the rule keeps its word
    move(tree, arm, checked_move(lift, t, learned.fault))


@inlined
def weights_now(state, t):
    return state.tree.sums, state.tree.scalars[TOTAL]


def loop_kernel() -> Any:
    """The compiled sparse loop, for rules without drain."""
    return kernel(loop_of, "the sparse loop", True, open_state, no_refill, draw_place, same_place, learn_step, weights_now)
