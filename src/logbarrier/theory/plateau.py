"""Where LB-SGB ends on the instances of an experiment: the exact maximiser of its objective, averaged."""

from __future__ import annotations

import numpy as np

from ..bandits.problems import ProblemSource
from ..engine.random import stream_key
from .maximiser import maximising_policy


def mean_plateau(problem: ProblemSource, eta: float, seed: int, runs: int) -> tuple[float, float, float]:
    """The plateau's p(a*), min_a p(a) and r* - J, each a mean over the instances that runs 0 .. runs - 1 of a seed face."""
    key = stream_key(seed)
    found = []
    for run in range(runs):
        means = problem.instance(key, run)[0]
        policy = maximising_policy(means, eta)
        found.append((policy[np.argmax(means)], policy.min(), means.max() - policy @ means))
    optimal, least, suboptimality = np.mean(found, axis=0).tolist()
    return optimal, least, suboptimality
