"""Ridge regressions of the reward on the features, one per arm, updated by one observation at a time.

For an arm with contexts x_i (d,), the first entry of which is 1, and rewards r_i:

    A = ridge I + sum x_i x_i'        mu(x) = m + x' A^-1 sum (r_i - m) x_i        s(x)^2 = noise x' B^-1 x

m is the mean reward of all arms. B is A with the pending decisions counted: their contexts are known, their rewards are not.
noise is a mean of e^2/(1 + x' A^-1 x) over the prediction errors e, with weights that grow like the number of the reward.

Changes: next to these regressions, the long memory, there is a candidate: the same regressions from a later start. Rewards of
an arm that the long memory estimates as the best can tell that this is no longer so. The candidate disputes such a reward where
its estimate of the arm is below the long memory's estimate of another arm. Disputed rewards add up to the evidence:

    (e^2 - f^2) / (2 (mean of e^2) (1 + x' A_c^-1 x))        e, f: errors of the long memory and of the candidate

This is a log likelihood ratio, discounted while the candidate knows little. What the candidate estimates of other arms plays no
part: it may hardly have seen them. It replaces the long memory when its evidence exceeds THRESHOLD and its case is sound:

- It disputes at least the share DISPUTED_SHARE of such rewards. Where the reward is not linear, the long memory stays wrong at
  some contexts without any change. A candidate can be right there, but these are few.
- It has at most the share AGE_SHARE of the rewards of the long memory. Before that, the best estimate is the luckiest one, and
  its rewards disappoint without a change.

At the end of its life the candidate starts again, unless its case is sound and its evidence positive.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..engine.compiled import compiled, inlined

TELLS, MEAN, NOISE, LOSS, EVIDENCE, PREFERRED, DISPUTED = 0, 1, 2, 3, 4, 5, 6  # of a memory
LIFE = 128  # rewards after which a candidate starts again
THRESHOLD = 15.0  # of the evidence for a change
LARGEST_EVIDENCE = 1.0  # of one reward: a single outlier decides nothing
DISPUTED_SHARE = 0.25
AGE_SHARE = 0.25
MOST_NUMBERS = 2**26  # K d^2, for each of up to three matrices: 1.5 GiB together
FIRST = 64  # decisions from which the scale of the features is estimated


class Regressions(NamedTuple):
    """1 + C regressions for each of K arms, as compiled code takes them: the long memory, and C = 0 or 1 candidates.

    inverse         (1 + C, K, d, d)  A^-1
    reward_weights  (1 + C, K, d)     A^-1 sum r x
    one_weights     (1 + C, K, d)     A^-1 sum x
    counted         (K, d, d)         B^-1 of the long memory
    memories        (1 + C, 7)        rewards learnt from, their mean, noise, mean squared error; of a candidate also its
                                      evidence, rewards of arms that the long memory prefers, and how many it disputes
    restarts        (1,)              how often a candidate replaced the long memory
    """

    inverse: np.ndarray
    reward_weights: np.ndarray
    one_weights: np.ndarray
    counted: np.ndarray
    memories: np.ndarray
    restarts: np.ndarray


def new_regressions(n_arms: int, size: int, follows_changes: bool) -> Regressions:
    """Regressions of n_arms arms on `size` features, the 1 included; `start` must be called."""
    if n_arms * size**2 > MOST_NUMBERS:
        raise ValueError(
            f"contexts: {n_arms} regressions on {size} features are too large; K d^2 must be at most {MOST_NUMBERS:,}"
        )
    count, matrix = 2 if follows_changes else 1, (n_arms, size, size)
    return Regressions(
        inverse=np.zeros((count, *matrix)),
        reward_weights=np.zeros((count, n_arms, size)),
        one_weights=np.zeros((count, n_arms, size)),
        counted=np.zeros(matrix),
        memories=np.zeros((count, 7)),
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
def largest_of_others(state, arm, x):
    """Return the largest estimated reward of the other arms; the mean reward where one regression is shared by all."""
    mean, largest = state.memories[0, MEAN], -np.inf
    if state.inverse.shape[1] == 1:
        return mean
    for a in range(state.inverse.shape[1]):
        if a != arm:
            value = mean + dot(x, state.reward_weights[0, a]) - mean * dot(x, state.one_weights[0, a])
            largest = max(largest, value)
    return largest


@compiled
def learn(state, arm, x, reward, ridge):
    """Learn from the reward of an arm at context x; return whether the candidate replaced the long memory.

    Then all that is pending must be counted again.
    """
    product = np.empty(x.shape[0])
    if state.memories.shape[0] == 1:
        _observe(state, 0, arm, x, reward, product)
        return False
    long, candidate = state.memories[0], state.memories[1]
    loss, other = long[LOSS], largest_of_others(state, arm, x)
    error, _ = _observe(state, 0, arm, x, reward, product)
    candidate_error, q = _observe(state, 1, arm, x, reward, product)
    if reward - error >= other:  # the long memory prefers the arm
        candidate[PREFERRED] += 1.0
        if reward - candidate_error < other:
            candidate[DISPUTED] += 1.0
            if loss > 0.0:
                gained = (error * error - candidate_error * candidate_error) / (2.0 * loss * (1.0 + q))
                candidate[EVIDENCE] += min(gained, LARGEST_EVIDENCE)
    is_sound = candidate[DISPUTED] >= DISPUTED_SHARE * candidate[PREFERRED] and candidate[TELLS] <= AGE_SHARE * long[TELLS]
    if is_sound and candidate[EVIDENCE] > THRESHOLD:
        replace(state, ridge)
        return True
    if candidate[TELLS] >= LIFE and not (is_sound and candidate[EVIDENCE] > 0.0):
        start_memory(state, 1, ridge)
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
        learn(state, arms[i], contexts[i], rewards[i], ridge)


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
def replace(state, ridge):
    """Put the candidate in the place of the long memory; a new candidate starts."""
    for arm in range(state.inverse.shape[1]):
        for i in range(state.inverse.shape[2]):
            state.reward_weights[0, arm, i] = state.reward_weights[1, arm, i]
            state.one_weights[0, arm, i] = state.one_weights[1, arm, i]
            for k in range(state.inverse.shape[3]):
                state.inverse[0, arm, i, k] = state.inverse[1, arm, i, k]
                state.counted[arm, i, k] = state.inverse[1, arm, i, k]
    for i in range(EVIDENCE):
        state.memories[0, i] = state.memories[1, i]
    state.restarts[0] += 1.0
    start_memory(state, 1, ridge)
