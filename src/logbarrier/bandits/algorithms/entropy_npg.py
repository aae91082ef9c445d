"""Natural policy gradient with entropy regularisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import Positive
from ...engine.compiled import compiled
from ..loops.policy import within_reach
from .vector_rule import VectorRule


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """theta <- (1 - alpha tau) theta + alpha (R/p(a)) e_a."""
    alpha, tau = hyper
    theta = vectors[0]
    for a in range(theta.shape[0]):
        theta[a] *= 1.0 - alpha * tau
    theta[arm] += within_reach(alpha * reward / probability)
    return True


@dataclass(frozen=True, kw_only=True)
class EntropyNPG(VectorRule):
    """Entropy-regularised natural policy gradient (Cen et al. 2021, in bandit form as we read it).

        theta <- (1 - alpha tau) theta + alpha (R/p(a)) e_a

    Cen et al. have every arm's value from a generative model; a bandit pulls one arm, so its reward is weighted by 1/p(a),
    which has the same mean.

    learning_rate: alpha, at most 1/tau. tau > 0: the temperature; the fixed point is p ~ exp(r/tau).
    """

    name = "entropy-npg"
    place = "Table 2, Cen et al. 2021"
    rows = ("theta",)
    learn = staticmethod(learn)

    learning_rate: Positive
    tau: Positive

    def __post_init__(self) -> None:
        super().__post_init__()
        alpha = float(self.learning_rate)
        tau = float(self.tau)
        if alpha * tau > 1:
            raise ValueError(f"EntropyNPG: learning_rate must be at most 1/tau = {1 / tau:g}, got {alpha}")

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return float(self.learning_rate), float(self.tau)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """alpha (r - tau theta), the natural gradient of J + tau H up to a constant."""
        return np.asarray(self.learning_rate * (means - self.tau * vectors[0]))
