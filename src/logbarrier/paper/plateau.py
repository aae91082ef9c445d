"""Where LB-SGB ends: the exact maximiser of Phi_eta = J + (1/eta) sum_a log p(a) over the simplex.

Its gradient vanishes where p_a (r_a - J) + (1/eta)(1 - K p_a) = 0, so p_a = 1/(K + eta (J - r_a)), with the one J that makes
the probabilities sum to 1. In x = 1/p(a*) = K + eta (J - r*) that is one root between 1 and K.
"""

from __future__ import annotations

import numpy as np

from ..engine.random import stream_key
from ..problems import ProblemSource


def plateau(means: np.ndarray, eta: float) -> np.ndarray:
    """The maximising policy (K,) for mean rewards (K,).

    >>> import numpy as np
    >>> plateau(np.array([0.0, 0.0, 0.0, 0.0]), eta=10)
    array([0.25, 0.25, 0.25, 0.25])
    """
    from scipy.optimize import brentq  # here, so that drawing other figures does not wait for scipy

    below = eta * (means.max() - means)
    inverse = brentq(lambda x: (1.0 / (x + below)).sum() - 1.0, 1.0, len(means), xtol=1e-13, rtol=1e-14)
    return np.asarray(1.0 / (inverse + below))


def mean_plateau(problem: ProblemSource, eta: float, seed: int, runs: int) -> tuple[float, float, float]:
    """The plateau's p(a*), min_a p(a) and r* - J, each a mean over the instances that runs 0 .. runs - 1 of a seed face."""
    key = stream_key(seed)
    found = []
    for run in range(runs):
        means = problem.instance(key, run)[0]
        policy = plateau(means, eta)
        found.append((policy[np.argmax(means)], policy.min(), means.max() - policy @ means))
    optimal, least, suboptimality = np.mean(found, axis=0).tolist()
    return optimal, least, suboptimality
