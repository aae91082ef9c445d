"""What the rules share that estimate losses in [0, 1]: the range of a reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...base.parameters import between
from .vector_rule import VectorRule


@dataclass(frozen=True, kw_only=True)
class LossRule(VectorRule):
    """The base of rules that take a reward between `lowest` and `highest` as a loss in [0, 1]."""

    place = "outside the paper"
    has_preferences = False

    lowest: Annotated[float, between(-1e100, 1e100)] = 0.0
    highest: Annotated[float, between(-1e100, 1e100)] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not float(self.highest) - float(self.lowest) >= 1e-100:
            name = type(self).__name__
            raise ValueError(f"{name}: lowest must be below highest, got {self.lowest} and {self.highest}")

    @property
    def range(self) -> tuple[float, float]:
        """Return (lowest, width) as compiled functions take them."""
        return float(self.lowest), float(self.highest) - float(self.lowest)

    def losses_of(self, rewards: np.ndarray) -> np.ndarray:
        """Return the losses of rewards."""
        lowest, width = self.range
        return np.asarray((lowest + width - rewards) / width)
