"""Confidence sequences for the mean reward of an arm: intervals that hold at all times at once, however arms were chosen.

Each arm has a martingale M(mu) with M = 1 at the start, from its rewards in the order in which they came. For the true mean,
P(M ever reaches 1/alpha) <= alpha (Ville's inequality), whichever arm a rule pulls and whenever the data are inspected. So

    {mu : M(mu) < 1/alpha}

contains the true mean at all times with probability 1 - alpha. With n rewards, mean m and variance v:

    0 or 1    M(p) = B(a + s, b + n - s) / B(a, b) / (p^s (1 - p)^(n - s)),  s = n m,  a = c/(1 - p),  b = c/p   exact
              (Robbins 1970): a mixture of likelihood ratios over Beta(a, b). Its mean is p, and its log-odds differ from those
              of p by about 1/sqrt(c), however rare clicks are
    others    M(mu) = exp(rho^2 S^2 / (2 (1 + n rho^2))) / sqrt(1 + n rho^2),  S = n (m - mu)/sqrt(v)   asymptotic
              (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024), with v estimated

Two arms: the product of their martingales at one common mean is a martingale too where their means are equal. M grows with the
distance from the mean seen, so its minimum over the common mean is evidence against "a is no better than b".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

FEWEST = 30  # rewards of an arm, below which an asymptotic interval would say nothing
SHRUNK_BY = 5.0  # rewards of the pooled variance that each arm's variance is mixed with
TIGHTEST_AT = 1000  # rewards, where the asymptotic intervals of level 0.95 are tightest
OF_INTERVALS = 2.0  # c of intervals: means that differ by factors of about 2, as the first rewards suggest
OF_WINNERS = 10.0  # c of evidence for a winner: differences of about a third, which take most decisions to prove


class Evidence(Protocol):
    """What the rewards of an arm say about its mean."""

    @property
    def mean(self) -> float:
        """The mean of the rewards."""
        ...

    def interval(self, log_bound: float) -> tuple[float, float]:
        """The means at which log M is below the bound."""
        ...


class Clicks(NamedTuple):
    """Rewards that are 0 or 1."""

    rewards: int
    mean: float

    def log_martingale(self, p: float, c: float = OF_INTERVALS) -> float:
        """log M(p)."""
        from scipy.special import betaln, xlogy  # takes a fifth of a second, and agents that only decide need none of it

        ones = self.rewards * self.mean
        zeros = self.rewards - ones
        if p in (0.0, 1.0):
            return math.inf if (zeros if p else ones) else 0.0
        a, b = c / (1 - p), c / p
        return float(betaln(a + ones, b + zeros) - betaln(a, b) - xlogy(ones, p) - xlogy(zeros, 1 - p))

    def interval(self, log_bound: float) -> tuple[float, float]:
        """Solve log M(p) = bound on both sides of the mean."""
        if self.rewards == 0:
            return 0.0, 1.0

        def excess(p: float) -> float:
            return min(self.log_martingale(p) - log_bound, 1e300)

        from scipy.optimize import brentq

        low = brentq(excess, 0.0, self.mean, xtol=1e-15) if self.mean > 0 else 0.0
        high = brentq(excess, self.mean, 1.0, xtol=1e-15) if self.mean < 1 else 1.0
        return (float(low) if low > 1e-12 else 0.0), (float(high) if high < 1 - 1e-12 else 1.0)

    def against(self, other: Clicks) -> float:
        """log of the evidence that this arm is better than the other, at the common mean where it is least."""
        from scipy.optimize import minimize_scalar

        if self.mean <= other.mean:
            return 0.0

        def product(p: float) -> float:
            return self.log_martingale(p, OF_WINNERS) + other.log_martingale(p, OF_WINNERS)

        enough = {"xatol": 1e-6 * (self.mean - other.mean)}
        return float(minimize_scalar(product, bounds=(other.mean, self.mean), method="bounded", options=enough).fun)


class Amounts(NamedTuple):
    """Rewards of any size; variance (of one reward) is estimated."""

    rewards: int
    mean: float
    variance: float

    def _curvature(self) -> tuple[float, float]:
        """(w, c) of log M(mu) = w (m - mu)^2 - c."""
        doubled = -2 * math.log(0.05)
        rho2 = (doubled + math.log(doubled + 1)) / TIGHTEST_AT
        grown = 1 + self.rewards * rho2
        return rho2 * self.rewards**2 / (2 * self.variance * grown), 0.5 * math.log(grown)

    def interval(self, log_bound: float) -> tuple[float, float]:
        """m -+ sqrt((bound + c)/w)."""
        if not self._says_something():
            return -math.inf, math.inf
        w, c = self._curvature()
        half = math.sqrt((log_bound + c) / w)
        return self.mean - half, self.mean + half

    def against(self, other: Amounts) -> float:
        """log of the evidence that this arm is better than the other, at the common mean where it is least."""
        if self.mean <= other.mean or not (self._says_something() and other._says_something()):
            return 0.0
        (w, c), (v, d) = self._curvature(), other._curvature()
        return w * v / (w + v) * (self.mean - other.mean) ** 2 - c - d

    def _says_something(self) -> bool:
        return self.rewards >= FEWEST and self.variance > 0


def evidence_of(
    is_binary: bool, rewards: Sequence[int], means: Sequence[float], squares: Sequence[float]
) -> list[Clicks] | list[Amounts]:
    """The evidence about each arm; squares: the sums of squared deviations from the arms' means."""
    if is_binary:
        return [Clicks(count, mean) for count, mean in zip(rewards, means, strict=True)]
    freedom = sum(max(count - 1, 0) for count in rewards)
    pooled = sum(squares) / freedom if freedom else 0.0
    return [
        Amounts(count, mean, (square + SHRUNK_BY * pooled) / (max(count - 1, 0) + SHRUNK_BY))
        for count, mean, square in zip(rewards, means, squares, strict=True)
    ]
