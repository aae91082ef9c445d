"""Discounted Thompson sampling: beliefs that widen again, for arms that change."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import Share
from ...engine.compiled import compiled
from . import thompson_sampling
from .thompson_sampling import ThompsonSampling


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """n <- discount n and S <- discount S for every arm, then the reward is counted; centre = S/(n + q)."""
    centres, counts, deviations = vectors
    scale, earlier, discount = hyper
    for a in range(centres.shape[0]):
        total = discount * centres[a] * (counts[a] + earlier)
        counts[a] *= discount
        if a == arm:
            total += reward
            counts[a] += 1.0
        centres[a] = total / (counts[a] + earlier)
        deviations[a] = scale / math.sqrt(counts[a] + earlier)
    return True


@dataclass(frozen=True, kw_only=True)
class DiscountedThompsonSampling(ThompsonSampling):
    """Thompson sampling whose memory fades (Raj and Kalyani 2017, with Gaussian beliefs).

        pull the largest of samples from N(S(a)/(n(a) + q), scale^2/(n(a) + q)),   q = (scale/prior_scale)^2

    where a reward k pulls ago counts discount^k in the number n(a) and the sum S(a). scale and prior_scale: the deviations of
    a reward from its mean and of a mean from 0, as in `ThompsonSampling`.
    discount: 1 forgets nothing; the memory is about 1/(1 - discount) pulls long.
    """

    name = "discounted-thompson-sampling"
    learn = staticmethod(learn)
    weigh = staticmethod(thompson_sampling.weigh)
    draw = staticmethod(thompson_sampling.draw)

    discount: Share = 0.999

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return float(self.scale), self.earlier, float(self.discount)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """Every centre fades, and that of the pulled arm takes in its reward."""
        centres, counts, _ = vectors
        faded = self.discount * centres * (counts + self.earlier)
        left = self.discount * counts + self.earlier
        return np.asarray((1 - policy) * faded / left + policy * (faded + means) / (left + 1) - centres)
