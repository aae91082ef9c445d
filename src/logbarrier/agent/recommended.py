"""The rule of a new experiment for which none is named."""

from __future__ import annotations

from ..bandits.algorithms.optimistic_barrier import OptimisticBarrier
from ..bandits.algorithms.rule import Rule


def recommended_rule() -> Rule:
    """Return a rule without parameters that suits most experiments."""
    return OptimisticBarrier()
