"""The sparse loop, for rules that drain nothing (natural gradient): only the pulled arm moves.

Weights are the leaves of a tree in which every node is the sum of sixteen children, so a step is O(log K): draw by
walking down, update by summing up again along one path. Sums are always made of their children anew, so nothing drifts.

theta is kept beside the weights exp(theta - shift). The shift follows when the total leaves [1e-150, 1e150]; arms far below
then have weight zero and `scalars[HIGHEST_ZERO]`, the largest theta among them, says when one could have weight again: until
then a new shift only rescales the few weights that are not zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.compiled import compiled, from_python, inlined, kernel
from ...engine.elementary import EXP_LOWEST, exp, log
from ...engine.lanes import WIDTH, fma, lane_sum, load
from ...engine.pointers import pointer_to, table_behind
from ...engine.random import fill_uniforms
from ..metrics import measure
from .dense import learn_mean
from .policy import PADDING, SMALLEST_PROBABILITY, checked_reward, within_reach

BATCH = 128
FAN = 2 * WIDTH
LOWEST_TOTAL, HIGHEST_TOTAL = 1e-150, 1e150
MOST_BLOCKS = 4096  # with more blocks of arms that have weight, a shift computes everything anew
TOTAL, SHIFT, HIGHEST_ZERO, FULL_SHIFTS = range(4)


def new_tree(theta: np.ndarray, tracked: bool) -> tuple[np.ndarray, ...]:
    """The state (theta, sums, values, levels, scalars, arm means) of softmax(theta); tracked: the rule uses arm means.

    sums    all levels of the tree one after the other, leaves (weights) first, each padded to a multiple of sixteen
    values  in the same places, above the leaves, the sums of weight times arm mean; empty unless tracked
    levels  [number of levels, where each begins ...]; the last is the root alone
    """
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
        np.zeros(len(sums) if tracked else 0),
        np.array([len(begins), *begins], dtype=np.int64),
        np.zeros(4),
        np.zeros(padded if tracked else 0),
    )
    from_python(shift_fully)(state, tracked)
    return state


@inlined
def add_up(state, level, node, tracked):
    """Make the sums of a node at a level from its sixteen children."""
    _, sums, values, levels, _, arm_means = state
    place, first = levels[1 + level] + node, levels[level] + node * FAN
    sums[place] = lane_sum(load(sums, first) + load(sums, first + WIDTH))
    if tracked:
        if level == 1:
            low = load(sums, first) * load(arm_means, first)
            values[place] = lane_sum(fma(load(sums, first + WIDTH), load(arm_means, first + WIDTH), low))
        else:
            values[place] = lane_sum(load(values, first) + load(values, first + WIDTH))


@inlined
def add_up_from(state, arm, tracked):
    """The sums on the path from an arm to the root."""
    sums, levels, scalars = state[1], state[3], state[4]
    node = arm
    for level in range(1, levels[0]):
        node //= FAN
        add_up(state, level, node, tracked)
    scalars[TOTAL] = sums[levels[levels[0]]]


@compiled
def shift_fully(state, tracked):
    """Put the shift at the largest theta and compute every weight and sum anew."""
    theta, sums, _, levels, scalars, _ = state
    padded = levels[2]
    top = theta[0]
    for a in range(padded):
        top = max(top, theta[a])
    scalars[SHIFT], scalars[HIGHEST_ZERO] = top, PADDING
    for a in range(padded):
        sums[a] = exp(theta[a] - top)
        if sums[a] == 0.0:
            scalars[HIGHEST_ZERO] = max(scalars[HIGHEST_ZERO], theta[a])
    scalars[FULL_SHIFTS] += 1.0
    nodes = padded // FAN
    for level in range(1, levels[0]):
        for node in range(nodes):
            add_up(state, level, node, tracked)
        nodes = -(-nodes // FAN)
    scalars[TOTAL] = sums[levels[levels[0]]]


@compiled
def shift(state, arm, tracked):
    """Move the shift to where the total is about 1 again, touching only arms that have weight if no other can get any."""
    theta, sums, _, levels, scalars, _ = state
    if theta[arm] - scalars[SHIFT] > 300.0:
        target = theta[arm]
    elif scalars[TOTAL] > 1e-300:
        target = scalars[SHIFT] + log(scalars[TOTAL])
    else:
        shift_fully(state, tracked)
        return
    if scalars[HIGHEST_ZERO] - target > EXP_LOWEST:
        shift_fully(state, tracked)
        return
    # blocks of arms that have weight, found by walking down the nodes that have
    blocks = np.empty(MOST_BLOCKS, dtype=np.int64)
    stack = np.empty((levels[0] * FAN, 2), dtype=np.int64)
    n_blocks, depth = 0, 1
    stack[0, 0], stack[0, 1] = levels[0] - 1, 0
    while depth > 0:
        depth -= 1
        level, node = stack[depth, 0], stack[depth, 1]
        if level == 1:
            if n_blocks == MOST_BLOCKS:
                shift_fully(state, tracked)
                return
            blocks[n_blocks] = node
            n_blocks += 1
            continue
        for child in range(node * FAN, node * FAN + FAN):
            if sums[levels[level] + child] > 0.0:
                stack[depth, 0], stack[depth, 1] = level - 1, child
                depth += 1
    scalars[SHIFT] = target
    for i in range(n_blocks):
        for a in range(blocks[i] * FAN, blocks[i] * FAN + FAN):
            sums[a] = exp(theta[a] - target)
            if sums[a] == 0.0:
                scalars[HIGHEST_ZERO] = max(scalars[HIGHEST_ZERO], theta[a])
        add_up_from(state, blocks[i] * FAN, tracked)


@inlined
def draw(state, u):
    """The arm at u in (0, 1) of the cumulative weights: down the tree, never to an arm of weight 0."""
    sums, levels, scalars = state[1], state[3], state[4]
    target = u * scalars[TOTAL]
    node = 0
    for level in range(levels[0] - 2, -1, -1):
        first = levels[1 + level] + node * FAN
        choice, below = 0, 0.0
        for child in range(FAN):
            weight = sums[first + child]
            if weight > 0.0:
                choice = child
                if target < below + weight:
                    break
                below += weight
        target -= below
        node = node * FAN + choice
    return node


@inlined
def move(state, arm, lift, tracked):
    """theta <- theta + lift e_arm."""
    theta, sums, _, _, scalars, _ = state
    theta[arm] += lift
    sums[arm] = exp(theta[arm] - scalars[SHIFT])
    if sums[arm] == 0.0:
        scalars[HIGHEST_ZERO] = max(scalars[HIGHEST_ZERO], theta[arm])
    add_up_from(state, arm, tracked)
    if not LOWEST_TOTAL <= scalars[TOTAL] <= HIGHEST_TOTAL:
        shift(state, arm, tracked)


def _loop_with(lift_and_drain: Any, noise: Any, reward_of: Any) -> Callable[..., Any]:
    def loop(arrays, learned, hyper, problem, key, run, checkpoints, first, last, progress, out):
        """Run up to checkpoints[last - 1], measuring at checkpoints[first:last]; progress is [steps done, regret, fault]."""
        parameters, best = problem
        n_arms = parameters.shape[1]
        table, key_pointer = table_behind(parameters, 0, n_arms), pointer_to(key)
        state = (
            pointer_to(arrays[0]),
            pointer_to(arrays[1]),
            pointer_to(arrays[2]),
            pointer_to(arrays[3]),
            pointer_to(arrays[4]),
            pointer_to(arrays[5]),
        )
        sums, values, levels, scalars, arm_means = state[1], state[2], state[3], state[4], state[5]
        memory, arm_counts, tracked = pointer_to(learned[0]), pointer_to(learned[2]), learned[2].shape[0] > 0
        root = levels[levels[0]]
        uniforms, noises = np.empty(2 * BATCH), np.empty(BATCH)
        t, regret = int(progress[0]), progress[1]
        for c in range(first, last):
            while t < checkpoints[c]:
                batch = min(BATCH, checkpoints[c] - t)
                fill_uniforms(uniforms, t, batch, run, key)
                for i in range(batch):
                    noises[i] = noise(uniforms[2 * i + 1])
                for i in range(batch):
                    arm = draw(state, uniforms[2 * i])
                    reward = checked_reward(reward_of(noises[i], table, arm, (key_pointer, t, run)), progress, 2)
                    regret += table[0, best] - table[0, arm]
                    t += 1
                    probability = max(sums[arm] / scalars[TOTAL], SMALLEST_PROBABILITY)
                    if tracked:
                        memory[0] = values[root] / scalars[TOTAL]
                        memory[1] = arm_means[arm]
                    lift, _ = lift_and_drain(reward, probability, t, memory, hyper)
                    if tracked:
                        learn_mean(arm_means, arm_counts, arm, reward)
                    move(state, arm, within_reach(lift), tracked)
            measure(arrays[1], scalars[TOTAL], parameters[0], best, regret, out[c])
        progress[0], progress[1] = t, regret

    return loop


def loop_kernel(lift_and_drain: Any, noise: Any, reward_of: Any) -> Any:
    """The compiled sparse loop of a rule without drain on a reward distribution."""
    return kernel(_loop_with, lift_and_drain, noise, reward_of)
