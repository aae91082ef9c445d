"""The moments of rewards, by arm and of all arms together: means, variances, and how much the variances differ."""

from __future__ import annotations

import math

from ...engine.compiled import compiled

KURTOSIS_SHARE = 3.0  # pseudo-observations of the pooled variance per unit of kurtosis - 1: rare clicks need many
USUAL_KURTOSIS, USUAL_WEIGHT = 3.0, 10.0  # what the kurtosis is before there is data, and for how many observations it counts
USUAL_DISPERSION = 0.5  # of the arms' variances before there is data, counts as one arm: without it, noisy arms are lost
LARGEST_SQUARE = 1e300
FEWEST_DEGREES = 0.5  # of freedom of the optimistic value: keeps exp from overflowing


@compiled
def add_reward(arm, reward, vectors, memory):
    """Add a reward to the moments of its arm (Welford), of all rewards, and of the standardised residuals within arms."""
    means, counts, squares = vectors[0], vectors[1], vectors[2]
    counts[arm] += 1.0
    shift = reward - means[arm]
    means[arm] += shift / counts[arm]
    residual = shift * (reward - means[arm])
    squares[arm] += residual
    variance = variance_of(means[arm], counts[arm], squares[arm], memory)
    if counts[arm] > 1.0 and variance > 0.0:
        square = residual / variance
        memory.freedom += 1.0
        memory.second += square
        memory.third += square * shift / math.sqrt(variance)
        memory.fourth += square * square
    memory.pulls += 1.0
    shift = reward - memory.all_mean
    memory.all_mean += shift / memory.pulls
    memory.all_squares += shift * (reward - memory.all_mean)


@compiled
def pool(vectors, memory):
    """Estimate what the arms share: the variance of a reward and how much it differs between arms, the strength of the prior.

    A new arm has the mean of all rewards and their variance V as its prior, which is worth n0 = sigma^2/V <= 1 pulls.
    The variance of d + 1 rewards has a squared relative error of (kurtosis - 1)/d, so an arm has weight d/(d + kurtosis - 1).
    """
    means, counts, squares = vectors[0], vectors[1], vectors[2]
    kurtosis = USUAL_KURTOSIS
    if memory.second > 0.0:
        kurtosis = max(memory.fourth * memory.freedom / (memory.second * memory.second), 1.0)
    kurtosis += (USUAL_KURTOSIS - kurtosis) * USUAL_WEIGHT / (USUAL_WEIGHT + memory.freedom)
    memory.shrinkage = 1.0 + KURTOSIS_SHARE * (kurtosis - 1.0)
    variances, variances_square, weights = 0.0, 0.0, 0.0
    for a in range(means.shape[0]):
        if counts[a] > 1.0:
            weight = (counts[a] - 1.0) / (counts[a] + kurtosis - 2.0)
            weighted = weight * squares[a] / (counts[a] - 1.0)
            variances += weighted
            variances_square += weighted * weighted
            weights += weight
    total = memory.all_squares / max(memory.pulls - 1.0, 1.0)  # has the weight of an arm with two rewards
    memory.variance = (variances + total / kurtosis) / (weights + 1.0 / kurtosis)
    memory.prior = min(memory.variance / total, 1.0) if total > 0.0 else 1.0
    dispersion = 0.0
    if 0.0 < variances_square < LARGEST_SQUARE:  # elsewhere squares of variances underflow or overflow
        dispersion = max(weights * variances_square / (variances * variances) - 1.0, 0.0)
    memory.degrees = max((1.0 + weights) / (USUAL_DISPERSION + weights * dispersion), FEWEST_DEGREES)


@compiled
def variance_of(mean, count, squares, memory):
    """The variance of an arm's rewards, shrunk to the pooled one, with the prior as n0 more rewards of the mean of all.

    A first reward that is far from all others may be that of a bad arm, or of a noisy one: a larger variance allows for both.
    """
    shift = mean - memory.all_mean
    surprise = memory.prior * count / (memory.prior + count) * shift * shift
    return (memory.shrinkage * memory.variance + squares + surprise) / (memory.shrinkage + count)
