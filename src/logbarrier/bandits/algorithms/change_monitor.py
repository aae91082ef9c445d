"""Noticing that an arm has changed: two-sided CUSUM sums of its standardised residuals, for shifts of three sizes.

With residuals e of mean 0 and variance 1, the sum S <- max(S + e - k, 0) stays small; after a shift by more than k it grows.
Under Gaussian rewards, S passes h by chance once in about exp(2 k (h + 1.17))/(2 k^2) pulls (Siegmund 1985).
"""

from __future__ import annotations

import math

from ...engine.compiled import compiled

FIRST = 7  # the row of the first sum
SHIFTS = (0.5, 0.125, 0.03125)  # k, in standard deviations: half of the shift that is noticed soonest
LIMITS = (16.0, 53.0, 175.0)  # h: each sum has one false alarm in 2e7 Gaussian rewards or more
LARGEST_SHARE = 0.25  # of h that a single residual may add: no outlier is an alarm by itself
MOST_SKEW = 0.5  # of k times the skewness: beyond, chance makes the sums of rare rewards grow
FEWEST = 10.0  # pulls of an arm before it is monitored
REMEMBERED = 1.0  # pulls that an arm keeps after a change
MONITORS = ("rises", "falls", "slow_rises", "slow_falls", "slowest_rises", "slowest_falls")


@compiled
def is_changed(arm, reward, vectors, memory, variance):
    """Add a reward to the sums of its arm, and return whether one of them has passed its threshold."""
    pulls = vectors[1][arm]
    if pulls < FEWEST or not variance > 0.0:
        return False
    spread = max(variance, vectors[2][arm] / (pulls - 1.0))  # of an arm that is noisier than most: no false alarm
    residual = (reward - vectors[0][arm]) / math.sqrt(spread * (1.0 + 1.0 / pulls))
    thirds, seconds = memory.third * memory.third * memory.freedom, memory.second * memory.second * memory.second
    changed = False
    for i in range(3):
        shift = SHIFTS[i]
        if shift * shift * thirds < MOST_SKEW * MOST_SKEW * seconds:  # skewness^2 = third^2 freedom / second^3
            limit = LIMITS[i]
            step = min(max(residual, -LARGEST_SHARE * limit), LARGEST_SHARE * limit)
            rises, falls = vectors[FIRST + 2 * i], vectors[FIRST + 2 * i + 1]
            rises[arm] = max(rises[arm] + step - shift, 0.0)
            falls[arm] = max(falls[arm] - step - shift, 0.0)
            changed = changed or rises[arm] > limit or falls[arm] > limit
    return changed


@compiled
def forget(arm, vectors, memory):
    """Forget the table: every arm keeps at most REMEMBERED pulls, the arm that changed none; the law of the noise stays."""
    means, counts, squares = vectors[0], vectors[1], vectors[2]
    n_arms = means.shape[0]
    for a in range(n_arms):
        left = 0.0 if a == arm else min(counts[a], REMEMBERED)
        squares[a] *= left / max(counts[a], 1.0)
        counts[a] = left
        for i in range(6):
            vectors[FIRST + i][a] = 0.0
    spread = max(memory.all_squares / (memory.pulls - 1.0), memory.variance)  # the leader's rewards alone may vary little
    memory.pulls = min(memory.pulls, float(n_arms))
    memory.all_squares = spread * max(memory.pulls - 1.0, 1.0)
    memory.changes += 1.0
