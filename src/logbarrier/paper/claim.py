"""What a claim is: a sentence of the paper, what it means in numbers, and a check that can fail.

p stands for pi(a*) at the horizon. "Stuck" is a run in which one wrong arm holds more than half of the probability. A run
"identifies" the optimal arm if p > 1/2. `floor` is 1/(K + 2 eta R_max), the least probability an arm has where the
barrier objective is greatest. Rules face the same instances in the same runs, so comparisons within one K are paired. One
rule is better than another if its mean p is higher by more than MARGIN: less cannot be seen in a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..bandits.algorithms.rule import Rule
from .evidence import Evidence, weakest
from .experiment import Results

MARGIN = 0.05

Check = Callable[[Results], Iterator[Evidence]]


@dataclass(frozen=True)
class Claim:
    """`check` yields the evidence on every comparison the sentence makes."""

    name: str
    place: str
    sentence: str
    meaning: str
    check: Check

    def evaluate(self, results: Results) -> Evidence | None:
        """The evidence that decides it, None where cells are missing."""
        if results.runs < 2:  # a single one says nothing of spread
            return None
        try:
            return weakest(self.check(results))
        except LookupError:
            return None


def final(results: Results, n_arms: int, rule: Rule, metric: str = "optimal_probability") -> np.ndarray:
    """A metric at the horizon (runs,)."""
    return np.asarray(results(n_arms, rule)[metric][:, -1])


def log10_over_floor(values: np.ndarray, n_arms: int, eta: float) -> np.ndarray:
    """log10 of a probability over the barrier's floor 1/(K + 2 eta)."""
    return np.asarray(np.log10(np.maximum(values, 1e-300) * (n_arms + 2 * eta)))
