"""Both sides of a statement at a point, so that anyone can see how tight it is or where it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Sides:
    """A statement claims lesser <= greater. Numbers or arrays (...); `rounding` is what float64 may add to their difference.

    >>> Sides(lesser=1.0, greater=2.0).ratio
    0.5
    """

    lesser: Any
    greater: Any
    rounding: Any = 0.0

    @property
    def slack(self) -> Any:
        """greater - lesser: negative where the statement fails."""
        return self.greater - self.lesser

    @property
    def ratio(self) -> Any:
        """lesser/greater, 1 where the statement is tight, above 1 where it fails; 0 where lesser is not even positive."""
        bound = np.maximum(self.greater + self.rounding, np.finfo(float).tiny)
        ratio = np.where(np.asarray(self.lesser) > 0, self.lesser / bound, 0.0)
        return ratio[()] if np.ndim(ratio) else float(ratio)


def equality(left: Any, right: Any, size: Any) -> Sides:
    """left = right as an inequality: |left - right| is at most 1e-9 of the size of the terms that make them up."""
    return Sides(lesser=np.abs(left - right), greater=1e-9 * size)
