"""RiverSwim (Strehl and Littman 2008): a small reward downstream, a large one at the end of a swim against the current."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import validate
from ..problem import FiniteMDP

LEFT, RIGHT = 0, 1


class RiverSwim(FiniteMDP):
    """n states in a row, start in the first. Left moves left for sure and pays .005 in the first state.

    Right moves right with .35 (.6 from the first state), stays with .6 (.4 in the first), slips left with .05. In the last
    state it stays with .6, is driven back with .4, and pays 1.

    >>> from logbarrier import mdps
    >>> mdps.RiverSwim(12).optimal_policy.argmax(axis=1).tolist()                # always swim right
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    def __init__(self, n: int, *, gamma: float = 0.99) -> None:
        n = validate.integer("RiverSwim", "n", n, 2)
        P, R = np.zeros((n, 2, n)), np.zeros((n, 2))
        for s in range(n):
            P[s, LEFT, max(s - 1, 0)] = 1.0
            P[s, RIGHT, [s - 1, s, (s + 1) % n]] = (0.05, 0.6, 0.35)
        P[0, RIGHT], P[n - 1, RIGHT] = 0.0, 0.0
        P[0, RIGHT, [0, 1]] = (0.4, 0.6)
        P[n - 1, RIGHT, [n - 2, n - 1]] = (0.4, 0.6)
        R[0, LEFT], R[n - 1, RIGHT] = 0.005, 1.0
        super().__init__(
            P=P, R=R, rho=np.eye(n)[0], gamma=gamma, name=f"RiverSwim({n})", shape=(1, n), action_names=("left", "right")
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        return {"problem": "RiverSwim", "n": self.n_states, "gamma": self.gamma}
