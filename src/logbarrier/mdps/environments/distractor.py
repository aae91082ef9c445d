"""The distractor chain: a small reward at hand, a large one at the end of a walk that pays nothing on the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import validate
from ..problem import FiniteMDP

LEFT, RIGHT = 0, 1


class Distractor(FiniteMDP):
    """n states in a row, start in the first. Left goes back to the first state and pays .02 if it is taken there.

    Right moves on and pays 1 in the last state, from where it goes back to the first.

    >>> from logbarrier import mdps
    >>> mdps.Distractor(10).optimal_policy.argmax(axis=1).tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    def __init__(self, n: int, *, gamma: float = 0.99) -> None:
        n = validate.integer("Distractor", "n", n, 2)
        P, R = np.zeros((n, 2, n)), np.zeros((n, 2))
        P[:, LEFT, 0] = 1.0
        P[np.arange(n), RIGHT, (np.arange(n) + 1) % n] = 1.0
        R[0, LEFT], R[n - 1, RIGHT] = 0.02, 1.0
        super().__init__(
            P=P, R=R, rho=np.eye(n)[0], gamma=gamma, name=f"Distractor({n})", shape=(1, n), action_names=("left", "right")
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        return {"problem": "Distractor", "n": self.n_states, "gamma": self.gamma}
