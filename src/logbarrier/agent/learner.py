"""Learners: the state of one policy that an online agent draws from and teaches, for each kind of rule."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..bandits.algorithms.rule import Rule, TwoScalarRule
from ..bandits.algorithms.vector_rule import VectorRule
from ..base.failure import WrongTypeError
from .drawn import Drawn
from .two_scalar_learner import TwoScalarLearner
from .vector_learner import VectorLearner


class Learner(Protocol):
    """What an agent needs of a policy.

    follows_arms      whether arms may be added, removed and unavailable, and propensities have a floor
    needs_past_policy whether the reward of a pending decision is learnt from with the policy that drew it
    """

    @property
    def follows_arms(self) -> bool: ...

    @property
    def needs_past_policy(self) -> bool: ...

    @property
    def probabilities(self) -> np.ndarray:
        """Probabilities (K,) of the next pull."""
        ...

    @property
    def theta(self) -> np.ndarray:
        """Preferences (K,), where the rule has any."""
        ...

    def draw(self, number: int, key: np.ndarray) -> tuple[int, float]:
        """The arm of decision `number` = 0, 1, ... and its probability: a pure function of the key and the number."""
        ...

    def note_pending(self, arm: int, change: int) -> None:
        """Count a decision that is pending from now on (1), or no longer (-1), of an arm (-1: removed)."""
        ...

    def update(self, t: int, arm: int, reward: float, earlier: np.ndarray) -> None:
        """Step t = 1, 2, ... from the reward of an arm drawn from probabilities `earlier` (K,), PRESENT for today's."""
        ...

    def restricted(self, arms: np.ndarray) -> np.ndarray:
        """The policy q (n,) on arms (n,)."""
        ...

    def draw_subset(self, number: int, key: np.ndarray, arms: np.ndarray, floor: float) -> tuple[int, np.ndarray, float]:
        """Where in arms (n,) the arm of decision `number` stands, the policy q (n,) on them, and its propensity."""
        ...

    def update_subset(self, t: int, arm: int, reward: float, drawn: Drawn) -> None:
        """Step t from the reward of an arm (-1: removed since) drawn from a subset of the arms or by another policy."""
        ...

    def add(self, probability: float | None) -> None:
        """Add an arm, as the last one; probability: None for the default of the rule."""
        ...

    def remove(self, arm: int) -> None:
        """Remove an arm."""
        ...

    def state(self) -> dict[str, Any]:
        """Plain JSON values."""
        ...

    def restore(self, owner: str, state: dict[str, Any], t: int) -> None:
        """Go on from what `state` returned after t steps; checked."""
        ...


def learner_of(rule: Rule, theta: np.ndarray, means: np.ndarray | None, features: np.ndarray | None = None) -> Learner:
    """A policy at the start: theta (K,) log probabilities; means (K,) and features (m, K) for a rule that knows them."""
    if isinstance(rule, VectorRule):
        return VectorLearner(rule, theta, means, features)
    if not isinstance(rule, TwoScalarRule):
        raise WrongTypeError(
            f"{type(rule).__name__}: must inherit from TwoScalarRule or VectorRule, which say how it learns, not from Rule"
        )
    return TwoScalarLearner(rule, theta)
