"""The simplex of three arms: its corners, policies inside it, and where a rule moves them."""

from __future__ import annotations

import numpy as np

from ..bandits.algorithms.rule import TwoScalarRule
from ..bandits.softmax import fisher

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3.0) / 2.0]])  # where arms 0, 1, 2 are certain


def policy_grid(count: int) -> np.ndarray:
    """Return policies (n, 3) evenly over the inside of the simplex."""
    steps = np.arange(1, count)
    return np.array([(i, j, count - i - j) for i in steps for j in steps if i + j < count]) / count


def policy_motion(rule: TwoScalarRule, policy: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return dp = F E[update of theta] (K,): where the policy moves on average in a small step, for mean rewards (K,)."""
    return np.asarray(fisher(np.log(policy)) @ rule.expected_update(1, policy, means, np.zeros(len(means))))
