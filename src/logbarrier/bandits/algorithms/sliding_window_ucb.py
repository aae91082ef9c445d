"""Sliding-window UCB: optimism that forgets, for arms that change."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from ...base.parameters import Positive, whole
from ...engine.compiled import compiled
from ...engine.elementary import log
from ..loops.vectors import largest
from .arm_means import by_largest
from .vector_rule import VectorRule


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """Sums and numbers of the rewards of the last `window` pulls."""
    sums, counts = vectors
    window = int(hyper[1])
    place = int(memory.oldest)
    leaving = int(memory.history[place]) - 1
    if leaving >= 0:
        counts[leaving] = max(counts[leaving] - 1.0, 0.0)
        sums[leaving] = sums[leaving] - memory.history[window + place] if counts[leaving] > 0.0 else 0.0
    sums[arm] += reward
    counts[arm] += 1.0
    memory.history[place], memory.history[window + place] = arm + 1.0, reward
    memory.oldest = (place + 1) % window
    return True


@compiled
def fill_bounds(t, vectors, hyper, bounds):
    """bounds (K,) <- m(a) + c sqrt(log min(t, window) / n(a)), infinite for arms not in the window; returns the largest."""
    sums, counts = vectors
    width = hyper[0] * math.sqrt(log(max(min(float(t), hyper[1]), 1.0)))
    for a in range(sums.shape[0]):
        bounds[a] = sums[a] / counts[a] + width / math.sqrt(counts[a]) if counts[a] > 0.0 else math.inf
    return largest(bounds)


weigh, draw = by_largest(fill_bounds)


@dataclass(frozen=True, kw_only=True)
class SlidingWindowUCB(VectorRule):
    """Sliding-window UCB (Garivier and Moulines 2011): UCB1 that remembers only its last `window` pulls.

        m(a) + c sqrt(log min(t, window) / n(a))

    m and n over the window; arms that are not in it come first. c > 0: 2 sigma for Gaussian rewards of deviation sigma.
    """

    name = "sliding-window-ucb"
    place = "outside the paper"
    rows: ClassVar[tuple[str, ...]] = ("sums", "counts")
    memory = (
        "oldest",  # the place of the oldest pull
        "*history",  # at every place 1 + the arm, 0 for none; then at every place the reward
    )
    never_negative = ("counts",)
    has_preferences = False
    learn = staticmethod(learn)
    weigh = staticmethod(weigh)
    draw = staticmethod(draw)

    c: Positive = 2.0
    window: Annotated[int, whole(1, 10_000_000)] = 2000

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return float(self.c), float(self.window)

    def new_memory(self) -> np.ndarray:
        return np.zeros(1 + 2 * int(self.window))

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """p(a) r(a) comes to the sums, and what is oldest leaves."""
        change = policy * means
        known = self.memory_at(memory)
        place = int(known.oldest)
        leaving = int(known.history[place]) - 1
        if leaving >= 0:
            change[leaving] -= known.history[int(self.window) + place]
        return np.asarray(change)
