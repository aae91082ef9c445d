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

import numpy as np

from ...engine.compiled import compiled, from_python
from ...engine.elementary import exp, log
from ...engine.lanes import WIDTH, lane_sum, load, splat, store

BLOCK = 64
TOTAL, SHIFT = 0, 1
LOWEST_TOTAL, HIGHEST_TOTAL = 2.0**-64, 2.0**64
LARGEST_MOVE = 1e280  # lift and drain are cut here, so that theta stays finite for 1e20 steps
SMALLEST_PROBABILITY = 1e-300  # what a rule is told of an arm whose probability is zero in float64
PADDING = -1e300
LARGEST_REWARD = 1e100  # squares and sums of rewards stay finite


def new_policy(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The state (theta, weights, sums, scalars) of softmax(theta)."""
    padded = -(-len(theta) // WIDTH) * WIDTH
    state_theta = np.full(padded, PADDING)
    state_theta[: len(theta)] = theta
    state = (state_theta, np.zeros(padded), np.zeros(-(-padded // BLOCK)), np.zeros(2))
    from_python(recentre)(*state)
    return state


@compiled
def drain_all(theta, weights, sums, scale, shift):
    """theta <- theta - scale * weights, weights <- exp(theta - shift); returns the new total. The hot loop."""
    scale, shift = splat(scale), splat(shift)
    total = 0.0
    for block in range(sums.shape[0]):
        low = block * BLOCK
        block_sum = splat(0.0)
        for j in range(low, min(low + BLOCK, theta.shape[0]), WIDTH):
            moved = load(theta, j) - scale * load(weights, j)
            weight = exp(moved - shift)
            store(theta, j, moved)
            store(weights, j, weight)
            block_sum = block_sum + weight
        sums[block] = lane_sum(block_sum)
        total += sums[block]
    return total


@compiled
def reweigh_one(theta, weights, sums, arm, shift):
    """The weight of one arm whose theta moved, the sum of its block, and the total: to the bit what drain_all gives."""
    weights[arm] = exp(theta[arm] - shift)
    low = arm // BLOCK * BLOCK
    block_sum = splat(0.0)
    for j in range(low, min(low + BLOCK, theta.shape[0]), WIDTH):
        block_sum = block_sum + load(weights, j)
    sums[arm // BLOCK] = lane_sum(block_sum)
    total = 0.0
    for block in range(sums.shape[0]):
        total += sums[block]
    return total


@compiled
def recentre(theta, weights, sums, scalars):
    """Put the shift at the largest theta and compute every weight anew."""
    top = theta[0]
    for j in range(1, theta.shape[0]):
        top = max(top, theta[j])
    scalars[SHIFT] = top
    scalars[TOTAL] = drain_all(theta, weights, sums, 0.0, top)


@compiled
def within_reach(move):
    """A lift or drain cut to what theta can bear; one that is not a number moves nothing."""
    if move != move:
        return 0.0
    return min(max(move, -LARGEST_MOVE), LARGEST_MOVE)


@compiled
def checked_reward(reward, progress, fault):
    """The reward; one that is no finite number of size up to 1e100 is noted in progress[fault] and counts as 0."""
    if -LARGEST_REWARD <= reward <= LARGEST_REWARD:
        return reward
    progress[fault] = 1.0
    return 0.0


@compiled
def move(theta, weights, sums, scalars, arm, lift, drain):
    """theta <- theta + lift e_arm - drain p: every rule's step."""
    scale = drain / scalars[TOTAL]
    theta[arm] += lift
    if scale == 0.0:
        total = reweigh_one(theta, weights, sums, arm, scalars[SHIFT])
    else:
        total = drain_all(theta, weights, sums, scale, scalars[SHIFT])
    if LOWEST_TOTAL <= total <= HIGHEST_TOTAL:
        scalars[TOTAL] = total
    else:
        recentre(theta, weights, sums, scalars)


@compiled
def move_from(theta, weights, sums, scalars, probabilities, arm, lift, drain):
    """The same step with the drain of an earlier policy p (K,): a reward that comes late."""
    for j in range(probabilities.shape[0]):
        theta[j] -= drain * probabilities[j]
    theta[arm] += lift
    recentre(theta, weights, sums, scalars)


@compiled
def mix_with_uniform(theta, weights, sums, scalars, n_arms, share):
    """p <- share/K + (1 - share) p, theta <- log p."""
    floor = share / n_arms
    for j in range(n_arms):
        theta[j] = log(floor + (1.0 - share) * (weights[j] / scalars[TOTAL]))
    recentre(theta, weights, sums, scalars)


@compiled
def draw_arm(weights, sums, total, u):
    """The arm at u in (0, 1) of the cumulative distribution: block by block, then arm by arm. Never an arm of weight 0."""
    target = u * total
    block, before, below = 0, 0.0, 0.0
    for candidate in range(sums.shape[0]):
        if sums[candidate] > 0.0:
            block, before = candidate, below
            below += sums[candidate]
            if below > target:
                break
    arm, below = block * BLOCK, before
    for candidate in range(block * BLOCK, min((block + 1) * BLOCK, weights.shape[0])):
        if weights[candidate] > 0.0:
            arm = candidate
            below += weights[candidate]
            if below > target:
                break
    return arm


@compiled
def mean_under(values, weights, total):
    """sum_a p(a) values(a), for values (K,) at most as long as the padded weights."""
    summed = 0.0
    for j in range(values.shape[0]):
        summed += weights[j] * values[j]
    return summed / total
