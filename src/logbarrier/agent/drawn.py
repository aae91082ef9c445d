"""What an arm was drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..bandits.loops import dense
from .pending import Pending

if TYPE_CHECKING:
    from .learner import Learner

PRESENT = dense.PRESENT  # in place of probabilities (K,): those of the present policy


class Drawn(NamedTuple):
    """What an arm was drawn from, as loops/subset.py takes it: arms (m,), q (m,), q(arm), n and the weight w."""

    arms: np.ndarray
    policy: np.ndarray
    probability: float
    size: int
    weight: float


def drawn_from(pending: Pending, learner: Learner, all_arms: np.ndarray, present: bool) -> Drawn:
    """Return what an arm was drawn from; where that policy was evicted, the present one with the weight that corrects."""
    moment, probability = pending.moment, pending.probability
    arms = all_arms if moment.arms is None else moment.arms
    policy = learner.restricted(arms) if moment.policy is None else moment.policy
    if moment.policy is None and not present:
        probability = float(policy[np.searchsorted(arms, pending.arm)]) if pending.arm >= 0 else 0.0
    return Drawn(arms, policy, probability, moment.size, probability / pending.decision.probability)
