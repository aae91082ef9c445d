"""What an arm was drawn from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..bandits.loops import dense

PRESENT = dense.PRESENT  # in place of probabilities (K,): those of the present policy


class Drawn(NamedTuple):
    """What an arm was drawn from, as loops/subset.py takes it: arms (m,), q (m,), q(arm), n and the weight w."""

    arms: np.ndarray
    policy: np.ndarray
    probability: float
    size: int
    weight: float
