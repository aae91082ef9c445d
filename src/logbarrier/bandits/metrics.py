"""What is measured of a policy at a checkpoint. The order of RANGES is the order of the columns."""

from __future__ import annotations

import math

from ..engine.compiled import compiled
from ..engine.elementary import log

RANGES = {  # metric -> the least and the greatest value it can have
    "optimal_probability": (0.0, 1.0),
    "min_probability": (0.0, 1.0),
    "wrong_probability": (0.0, 1.0),
    "regret": (0.0, math.inf),
    "suboptimality": (0.0, math.inf),
    "gradient_norm": (0.0, math.inf),
    "inverse_square_probability": (1.0, math.inf),
    "entropy": (0.0, math.inf),
}
METRICS = tuple(RANGES)
SMALLEST_SQUARED = 1e-150  # below, 1/p^2 would leave float64; it is reported as 1e300


@compiled
def measure(weights, total, means, n_arms, best, regret, row):
    """Fill row (8,) with the metrics of p = weights/total under the mean rewards means (K,), best the optimal arm."""
    suboptimality, least, most_wrong, entropy = 0.0, weights[0], 0.0, 0.0
    for a in range(n_arms):
        p = weights[a] / total
        suboptimality += p * (means[best] - means[a])
        least = min(least, weights[a])
        if a != best:
            most_wrong = max(most_wrong, p)
        if p > 1e-300:
            entropy -= p * log(p)
    squared = 0.0
    for a in range(n_arms):
        slope = weights[a] / total * (suboptimality - (means[best] - means[a]))  # p_a (r_a - J)
        squared += slope * slope
    optimal = weights[best] / total
    row[0] = optimal
    row[1] = least / total
    row[2] = most_wrong
    row[3] = regret
    row[4] = suboptimality
    row[5] = math.sqrt(squared)
    row[6] = 1.0 / max(optimal, SMALLEST_SQUARED) ** 2
    row[7] = max(entropy, 0.0)
