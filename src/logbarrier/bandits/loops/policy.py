"""The dense softmax policy: theta and its weights, drawn from and moved in one pass over the arms.

State of one policy over K arms, padded to a multiple of eight with arms of weight zero:
    theta    (padded,)  preferences
    weights  (padded,)  exp(theta - shift)
    sums     (blocks,)  weights summed over blocks of 64 arms
    scalars  (2,)       [total weight, shift]
The shift moves only when the total leaves [2**-64, 2**64]: probabilities from 1 down to 1e-280 keep full precision at any
size of theta.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...engine.codegen.lane_access import lane_sum, load, splat, store
from ...engine.codegen.lanes import WIDTH
from ...engine.codegen.pointers import pointer_to
from ...engine.compiled import compiled, from_python, inlined
from ...engine.elementary import exp, log
from .faults import BAD_MOVE, BAD_REWARD, LARGEST, note

BLOCK = 64
TOTAL, SHIFT = 0, 1
LOWEST_TOTAL, HIGHEST_TOTAL = 2.0**-64, 2.0**64
LARGEST_MOVE = 1e280  # lift and drain are cut here, so that theta stays finite for 1e20 steps
SMALLEST_PROBABILITY = 1e-300  # what a rule is given for an arm whose probability is zero in float64
PADDING = -1e300
LARGEST_REWARD = 1e100  # squares and sums of rewards stay finite


class Policy(NamedTuple):
    """The state as compiled code sees it: pointers, and how many arms and blocks there are with the padding."""

    theta: Any
    weights: Any
    sums: Any
    scalars: Any
    padded: int
    blocks: int


def new_policy(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The state (theta, weights, sums, scalars) of softmax(theta)."""
    padded = -(-len(theta) // WIDTH) * WIDTH
    state_theta = np.full(padded, PADDING)
    state_theta[: len(theta)] = theta
    state = (state_theta, np.zeros(padded), np.zeros(-(-padded // BLOCK)), np.zeros(2))
    from_python(recentre_arrays)(state)
    return state


@inlined
def opened_policy(arrays):
    """The pointers into (theta, weights, sums, scalars)."""
    theta, weights, sums, scalars = arrays
    pointers = pointer_to(theta), pointer_to(weights), pointer_to(sums), pointer_to(scalars)
    return Policy(pointers[0], pointers[1], pointers[2], pointers[3], theta.shape[0], sums.shape[0])


@compiled
def drain_all(policy, scale, shift):
    """theta <- theta - scale * weights, weights <- exp(theta - shift); returns the new total. The hot loop."""
    theta, weights = policy.theta, policy.weights
    scale, shift = splat(scale), splat(shift)
    total = 0.0
    for block in range(policy.blocks):
        low = block * BLOCK
        block_sum = splat(0.0)
        for j in range(low, min(low + BLOCK, policy.padded), WIDTH):
            moved = load(theta, j) - scale * load(weights, j)
            weight = exp(moved - shift)
            store(theta, j, moved)
            store(weights, j, weight)
            block_sum = block_sum + weight
        policy.sums[block] = lane_sum(block_sum)
        total += policy.sums[block]
    return total


@compiled
def reweigh_one(policy, arm):
    """The weight of one arm whose theta moved, the sum of its block, and the total: to the bit what drain_all gives."""
    policy.weights[arm] = exp(policy.theta[arm] - policy.scalars[SHIFT])
    low = arm // BLOCK * BLOCK
    block_sum = splat(0.0)
    for j in range(low, min(low + BLOCK, policy.padded), WIDTH):
        block_sum = block_sum + load(policy.weights, j)
    policy.sums[arm // BLOCK] = lane_sum(block_sum)
    total = 0.0
    for block in range(policy.blocks):
        total += policy.sums[block]
    return total


@compiled
def recentre(policy):
    """Put the shift at the largest theta and compute every weight again."""
    top = policy.theta[0]
    for j in range(1, policy.padded):
        top = max(top, policy.theta[j])
    policy.scalars[SHIFT] = top
    policy.scalars[TOTAL] = drain_all(policy, 0.0, top)


@compiled
def recentre_arrays(arrays):
    """The same for Python."""
    recentre(opened_policy(arrays))


@compiled
def weigh_arrays(arrays):
    """Every weight again from theta and the shift; returns their total. For Python."""
    return drain_all(opened_policy(arrays), 0.0, arrays[3][SHIFT])


@compiled
def within_reach(move):
    """A lift or drain cut to what theta can bear; one that is not a number moves nothing."""
    if move != move:
        return 0.0
    return min(max(move, -LARGEST_MOVE), LARGEST_MOVE)


@compiled
def cut_move(move, t, fault):
    """A lift or drain beyond LARGEST_MOVE, cut to it; one that is not finite is noted as a fault and counts as 0."""
    if abs(move) <= LARGEST:
        return within_reach(move)
    note(fault, BAD_MOVE, t)
    return 0.0


@inlined
def checked_move(move, t, fault):
    """The lift or drain of step t, cut to what theta can bear; one that is not finite is noted as a fault."""
    return move if abs(move) <= LARGEST_MOVE else cut_move(move, t, fault)


@compiled
def checked_reward(reward, fault):
    """The reward; one that is not a finite number of size at most 1e100 is noted in fault[0] and counts as 0."""
    if -LARGEST_REWARD <= reward <= LARGEST_REWARD:
        return reward
    note(fault, BAD_REWARD, 0)
    return 0.0


@compiled
def check_moves_of_runs(lifts, drains, t, fault):
    """`checked_move` of eight runs side by side."""
    for lane in range(WIDTH):
        lifts[lane], drains[lane] = checked_move(lifts[lane], t, fault), checked_move(drains[lane], t, fault)


@compiled
def check_rewards_of_runs(rewards, fault):
    """`checked_reward` of eight runs side by side."""
    for lane in range(WIDTH):
        rewards[lane] = checked_reward(rewards[lane], fault)


@compiled
def move(policy, arm, lift, drain):
    """theta <- theta + lift e_arm - drain p: every rule's step."""
    scalars = policy.scalars
    scale = drain / scalars[TOTAL]
    policy.theta[arm] += lift
    total = reweigh_one(policy, arm) if scale == 0.0 else drain_all(policy, scale, scalars[SHIFT])
    if LOWEST_TOTAL <= total <= HIGHEST_TOTAL:
        scalars[TOTAL] = total
    else:
        recentre(policy)


@compiled
def move_from(policy, probabilities, n_arms, arm, lift, drain):
    """The same step with the drain of an earlier policy p (K,): a reward that comes late."""
    for j in range(n_arms):
        policy.theta[j] -= drain * probabilities[j]
    policy.theta[arm] += lift
    recentre(policy)


@compiled
def mix_with_uniform(policy, n_arms, share):
    """p <- share/K + (1 - share) p, theta <- log p."""
    floor = share / n_arms
    for j in range(n_arms):
        policy.theta[j] = log(floor + (1.0 - share) * (policy.weights[j] / policy.scalars[TOTAL]))
    recentre(policy)


@inlined
def first_beyond(target, weights, first, end, below):
    """The arm of first .. end - 1 whose weight takes the sum, `below` before, beyond the target. Never one of weight 0."""
    arm = first
    for candidate in range(first, end):
        if weights[candidate] > 0.0:
            arm = candidate
            below += weights[candidate]
            if below > target:
                break
    return arm


@compiled
def draw_arm(policy, u):
    """The arm at u in (0, 1) of the cumulative distribution: block by block, then arm by arm. Never an arm of weight 0."""
    weights, sums = policy.weights, policy.sums
    target = u * policy.scalars[TOTAL]
    block, before, below = 0, 0.0, 0.0
    for candidate in range(policy.blocks):
        if sums[candidate] > 0.0:
            block, before = candidate, below
            below += sums[candidate]
            if below > target:
                break
    return first_beyond(target, weights, block * BLOCK, min((block + 1) * BLOCK, policy.padded), before)


@compiled
def mean_under(values, n_values, weights, total):
    """sum_a p(a) values(a), for values (K,)."""
    summed = 0.0
    for j in range(n_values):
        summed += weights[j] * values[j]
    return summed / total
