"""The maximiser of sum_a p(a) v(a) + (1/eta) sum_a log p(a) over the simplex: p(a) = 1/(lambda + eta (max v - v(a)))."""

from __future__ import annotations

from .compiled import compiled

LARGEST_GAP = 1e300  # eta times a gap is cut here, so that every probability stays above zero
MOST_STEPS = 60


@compiled
def barrier_weights(values, eta, probabilities):
    """Fill probabilities (K,) with the maximiser for values (K,) and eta in [0, inf], and return lambda.

    lambda is between 1 and K and solves sum_a 1/(lambda + gap(a)) = 1, gap(a) = eta (max v - v(a)). The harmonic mean is
    concave in lambda, so Newton steps on 1/sum from below never pass the root. K - mean gap is below it by Jensen's
    inequality.
    """
    n_arms = values.shape[0]
    best = values[0]
    for a in range(1, n_arms):
        best = max(best, values[a])
    mean_gap = 0.0
    for a in range(n_arms):
        below = best - values[a]
        gap = min(eta * below, LARGEST_GAP) if below > 0.0 else 0.0
        probabilities[a] = gap
        mean_gap += gap / n_arms
    multiplier = max(1.0, n_arms - mean_gap)
    for _ in range(MOST_STEPS):
        total, squares = 0.0, 0.0
        for a in range(n_arms):
            inverse = 1.0 / (multiplier + probabilities[a])
            total += inverse
            squares += inverse * inverse
        step = total * (total - 1.0) / squares
        multiplier += max(step, 0.0)
        if step <= 1e-15 * multiplier:
            break
    total = 0.0
    for a in range(n_arms):
        probabilities[a] = 1.0 / (multiplier + probabilities[a])
        total += probabilities[a]
    for a in range(n_arms):
        probabilities[a] /= total
    return multiplier
