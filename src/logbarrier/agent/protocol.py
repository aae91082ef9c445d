"""What every online agent offers, in memory or in a file."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from ..bandits.algorithms.rule import Rule
from ..statistics import LEVEL
from .pending import Decision
from .summary import Summary


@runtime_checkable
class OnlineAgent(Protocol):
    """A policy over arms that decides and learns from rewards: `Agent` and `DurableAgent`."""

    @property
    def rule(self) -> Rule:
        """The rule by which it learns."""
        ...

    @property
    def arms(self) -> tuple[Any, ...]:
        """The names of the arms (n_arms,)."""
        ...

    @property
    def n_arms(self) -> int:
        """K."""
        ...

    @property
    def floor(self) -> float:
        """The least probability of an arm is floor/K."""
        ...

    @property
    def policy(self) -> np.ndarray:
        """Probabilities (n_arms,) of the arms now, the floor included."""
        ...

    @property
    def theta(self) -> np.ndarray:
        """Preferences (n_arms,), shifted to sum to zero."""
        ...

    @property
    def asked(self) -> int:
        """How many decisions were made; the next one has this id."""
        ...

    @property
    def updates(self) -> int:
        """How many rewards have been learnt from."""
        ...

    @property
    def pending(self) -> tuple[int, ...]:
        """The ids of the pending decisions, oldest first."""
        ...

    def ask(self, available: Sequence[Hashable] | None = None) -> Decision:
        """Draw an arm from the policy, or from its restriction to the arms that are available."""
        ...

    def tell(self, decision: Decision | int, reward: float) -> Literal["told", "duplicate"]:
        """Learn from the reward of a decision, once."""
        ...

    def observe(self, arm: Hashable, reward: float, *, probability: float | None = None) -> None:
        """Learn from a pull that this agent did not draw."""
        ...

    def forget(self, decision: Decision | int) -> Literal["forgotten", "duplicate"]:
        """Drop a decision that will never have a reward."""
        ...

    def add_arm(self, arm: Hashable, *, probability: float | None = None) -> None:
        """Add an arm."""
        ...

    def remove_arm(self, arm: Hashable) -> None:
        """Remove an arm."""
        ...

    def summary(self, *, baseline: Any = None, difference: float | None = None, level: float = LEVEL) -> Summary:
        """Summarise the rewards of each arm and say which one wins."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        ...
