"""Ridge regressions of the reward on the features, one per arm, updated by one observation at a time.

For an arm with contexts x_i (d,), the first entry of which is 1, and rewards r_i:

    A = ridge I + sum x_i x_i'        mu(x) = m + x' A^-1 sum (r_i - m) x_i        s(x)^2 = noise x' B^-1 x

m is the mean reward of all arms. B is A with the pending decisions counted: their contexts are known, their rewards are not.
noise is a mean of e^2/(1 + x' A^-1 x) over the prediction errors e, with weights that grow like the number of the reward.

Changes: next to these regressions, the long memory, there are candidates: the same regressions from later starts. The evidence
for a candidate is a sum over the rewards since its start at which it predicted less than the long memory did. Only rewards of
arms that the long memory still estimates as the best, and the candidate does not, are counted:

    (e^2 - f^2) / (2 (mean of e^2) (1 + x' A_c^-1 x))        e, f: errors of the long memory and of the candidate

This is a log likelihood ratio, discounted while the candidate knows little. Rewards above the predictions of the long memory
cost no regret, so they are not counted. A candidate with evidence above a threshold replaces the long memory; one that reaches
the end of its life starts again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..engine.compiled import compiled, inlined

TELLS, MEAN, NOISE, LOSS, EVIDENCE = 0, 1, 2, 3, 4  # of a memory
LARGEST_EVIDENCE = 1.0  # for a change, of one reward: a single outlier decides nothing
FIRST = 64  # decisions from which the scale of the features is estimated; so many rewards come before any replacement


class Regressions(NamedTuple):
    """1 + C regressions for each of K arms, as compiled code takes them: the long memory, then C candidates.

    inverse         (1 + C, K, d, d)  A^-1
    reward_weights  (1 + C, K, d)     A^-1 sum r x
    one_weights     (1 + C, K, d)     A^-1 sum x
    counted         (K, d, d)         B^-1 of the long memory
    memories        (1 + C, 5)        rewards learnt from, their mean, noise, mean squared error, evidence
    lives           (C,)              after how many rewards a candidate starts again
    restarts        (1,)              how often a candidate replaced the long memory
    """

    inverse: np.ndarray
    reward_weights: np.ndarray
    one_weights: np.ndarray
    counted: np.ndarray
    memories: np.ndarray
    lives: np.ndarray
    restarts: np.ndarray


def new_regressions(n_arms: int, size: int, lives: tuple[int, ...]) -> Regressions:
    """Regressions of n_arms arms on `size` features, the 1 included; `start` must be called."""
    count, matrix = 1 + len(lives), (n_arms, size, size)
    return Regressions(
        inverse=np.zeros((count, *matrix)),
        reward_weights=np.zeros((count, n_arms, size)),
        one_weights=np.zeros((count, n_arms, size)),
        counted=np.zeros(matrix),
        memories=np.zeros((count, 5)),
        lives=np.array(lives, dtype=np.float64),
        restarts=np.zeros(1),
    )


@inlined
def dot(x, y):
    """x' y, from the first entry to the last."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@inlined
def times(matrix, x, product):
    """product <- matrix x, for a symmetric matrix: row after row, so that the inner loop runs in vector registers."""
    for i in range(x.shape[0]):
        product[i] = 0.0
    for j in range(x.shape[0]):
        if x[j] != 0.0:
            for i in range(x.shape[0]):
                product[i] += x[j] * matrix[j, i]


@inlined
def add_observation(inverse, product, sign, root):
    """A^-1 of A + sign x x' (Sherman and Morrison): A^-1 - sign y y'/(1 + sign x' y), y = A^-1 x = product.

    root = sqrt(1 + sign x' y). Both triangles get the same bits.
    """
    for j in range(product.shape[0]):
        product[j] /= root
    for j in range(product.shape[0]):
        if product[j] != 0.0:
            for i in range(product.shape[0]):
                inverse[j, i] -= sign * product[j] * product[i]


@compiled
def score(state, arms, x, values, widths):
    """Fill mu and s/sqrt(noise) of arms (n,) at context x (d,)."""
    product = np.empty(x.shape[0])
    mean = state.memories[0, MEAN]
    for i in range(arms.shape[0]):
        arm = arms[i]
        values[i] = mean + dot(x, state.reward_weights[0, arm]) - mean * dot(x, state.one_weights[0, arm])
        times(state.counted[arm], x, product)
        widths[i] = math.sqrt(max(dot(x, product), 0.0))


@compiled
def count(state, arm, x, sign):
    """Count a pending decision in the uncertainty of its arm (sign 1), or remove one that will have no reward (sign -1)."""
    product = np.empty(x.shape[0])
    times(state.counted[arm], x, product)
    add_observation(state.counted[arm], product, sign, math.sqrt(1.0 + sign * dot(x, product)))


@compiled
def _observe(state, memory, arm, x, reward, product):
    """Add an observation to the regression of an arm in a memory; return the error of its prediction and q = x' A^-1 x."""
    inverse, rewards, ones = state.inverse[memory, arm], state.reward_weights[memory, arm], state.one_weights[memory, arm]
    times(inverse, x, product)
    q, by_reward, by_one = dot(x, product), dot(x, rewards), dot(x, ones)
    for i in range(x.shape[0]):
        rewards[i] += product[i] * ((reward - by_reward) / (1.0 + q))
        ones[i] += product[i] * ((1.0 - by_one) / (1.0 + q))
    add_observation(inverse, product, 1.0, math.sqrt(1.0 + q))
    numbers = state.memories[memory]
    mean = numbers[MEAN] if numbers[TELLS] > 0.0 else reward
    error = reward - (mean + by_reward - mean * by_one)
    numbers[TELLS] += 1.0
    numbers[MEAN] += (reward - numbers[MEAN]) / numbers[TELLS]
    if numbers[TELLS] > 1.0:
        weight = 2.0 / (numbers[TELLS] + 1.0)  # about the last half of the rewards counts
        numbers[NOISE] += weight * (error * error / (1.0 + q) - numbers[NOISE])
        numbers[LOSS] += weight * (error * error - numbers[LOSS])
    return error, q


@compiled
def is_best(state, memory, arm, x):
    """Whether no other arm has a larger estimated reward in a memory."""
    mean, chosen, largest = state.memories[memory, MEAN], 0.0, -np.inf
    for a in range(state.inverse.shape[1]):
        value = dot(x, state.reward_weights[memory, a]) - mean * dot(x, state.one_weights[memory, a])
        if a == arm:
            chosen = value
        else:
            largest = max(largest, value)
    return chosen >= largest


@compiled
def learn(state, arm, x, reward, ridge, threshold):
    """Learn from the reward of an arm at context x; return whether a candidate replaced the long memory.

    Then all that is pending must be counted again.
    """
    product = np.empty(x.shape[0])
    loss = state.memories[0, LOSS]
    is_shared = state.inverse.shape[1] == 1  # by all actions: nothing says which one is best
    stands = is_shared or is_best(state, 0, arm, x)
    error, _ = _observe(state, 0, arm, x, reward, product)
    for c in range(1, state.memories.shape[0]):
        is_disputed = stands and (is_shared or not is_best(state, c, arm, x))
        candidate_error, q = _observe(state, c, arm, x, reward, product)
        numbers = state.memories[c]
        if loss > 0.0 and candidate_error > error and is_disputed:  # the candidate predicted less
            gained = (error * error - candidate_error * candidate_error) / (2.0 * loss * (1.0 + q))
            numbers[EVIDENCE] += min(gained, LARGEST_EVIDENCE)
        if numbers[EVIDENCE] > threshold and state.memories[0, TELLS] > FIRST:
            replace(state, c, ridge)
            return True
        if numbers[TELLS] >= state.lives[c - 1]:
            start_memory(state, c, ridge)
    return False


@compiled
def rebuild(state, contexts, arms, rewards, rewarded, ridge):
    """Learn the first decisions again, with contexts (n, d) in a new scale. Pending ones are not counted.

    rewarded  (m,) rows with a reward, in the order in which the rewards came
    """
    start(state, ridge)
    for place in range(rewarded.shape[0]):
        i = rewarded[place]
        count(state, arms[i], contexts[i], 1.0)
        learn(state, arms[i], contexts[i], rewards[i], ridge, np.inf)


@compiled
def start_arm(state, memory, arm, ridge):
    """Set the regression of an arm in a memory to no observations."""
    inverse = state.inverse[memory, arm]
    for i in range(inverse.shape[0]):
        state.reward_weights[memory, arm, i] = 0.0
        state.one_weights[memory, arm, i] = 0.0
        for k in range(inverse.shape[0]):
            inverse[i, k] = 1.0 / ridge if i == k else 0.0
            if memory == 0:
                state.counted[arm, i, k] = inverse[i, k]


@compiled
def start_memory(state, memory, ridge):
    """Set a memory to no observations."""
    for arm in range(state.inverse.shape[1]):
        start_arm(state, memory, arm, ridge)
    for i in range(state.memories.shape[1]):
        state.memories[memory, i] = 0.0


@compiled
def start(state, ridge):
    """Set everything to no observations."""
    state.restarts[0] = 0.0
    for memory in range(state.memories.shape[0]):
        start_memory(state, memory, ridge)


@compiled
def replace(state, candidate, ridge):
    """Put a candidate in the place of the long memory; all candidates start again."""
    for arm in range(state.inverse.shape[1]):
        for i in range(state.inverse.shape[2]):
            state.reward_weights[0, arm, i] = state.reward_weights[candidate, arm, i]
            state.one_weights[0, arm, i] = state.one_weights[candidate, arm, i]
            for k in range(state.inverse.shape[3]):
                state.inverse[0, arm, i, k] = state.inverse[candidate, arm, i, k]
                state.counted[arm, i, k] = state.inverse[candidate, arm, i, k]
    for i in range(state.memories.shape[1]):
        state.memories[0, i] = state.memories[candidate, i]
    state.memories[0, EVIDENCE] = 0.0
    state.restarts[0] += 1.0
    for each in range(1, state.memories.shape[0]):
        start_memory(state, each, ridge)
