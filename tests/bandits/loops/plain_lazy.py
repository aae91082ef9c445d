"""The lazy algorithm of docs/engine.md in plain NumPy: slow, short, and what the compiled engine is compared with."""

from __future__ import annotations

import numpy as np

CLASSES, ORDER, REACH, HEAVY, RATIO = 12, 7, 1 / 64, 1 / 96, 4.0


def product(ones, others):
    """Of each series with the other, up to x^7."""
    result = np.zeros_like(ones)
    for j in range(ORDER + 1):
        result[:, j:] += ones[:, j : j + 1] * others[:, : ORDER + 1 - j]
    return result


def composed(series, c):
    """F exp(-c F) of each class up to x^7; series[k, j] is the coefficient of x^j in class k."""
    result, power = np.zeros_like(series), series
    for n in range(ORDER):  # F^(n + 1) (-c)^n / n!
        result += power
        power = product(power, series) * (-c / (n + 1))
    return result


class PlainLazy:
    """Weights w = F(x) of light arms in classes, exact weights of heavy ones; no unit, no dead arms, no moments."""

    def __init__(self, theta):
        self.heavy = np.exp(theta - theta.max())  # what an arm weighs, for those in no class
        self.base, self.place = np.zeros(len(theta)), np.full(len(theta), -1)
        self.series, self.ceilings = np.zeros((CLASSES, ORDER + 1)), np.zeros(CLASSES)
        self.refreshes = 0
        self.sort()

    def sort(self):
        """Every arm into the class of its weight, with F(x) = x."""
        self.heavy = self.weights()
        self.ceilings = self.heavy.sum() * HEAVY / RATIO ** np.arange(CLASSES)
        lighter = self.heavy[:, None] <= self.ceilings * 0.9
        self.place, self.base = lighter.sum(axis=1) - 1, self.heavy.copy()
        self.series[:] = 0.0
        self.series[:, 1] = 1.0

    def weights(self):
        """F(x) (2) of the light arms, the weights of the heavy ones."""
        light = np.polyval(self.series[self.place].T[::-1], self.base)
        return np.where(self.place >= 0, light, self.heavy)

    def policy(self):
        """Probabilities (K,)."""
        return self.weights() / self.weights().sum()

    def step(self, arm, lift, drain):
        """theta <- theta + lift e_arm - drain p."""
        weights = self.weights()
        c = drain / weights.sum()  # (1)
        pulled = weights[arm] * np.exp(lift - c * weights[arm])  # (5)
        self.heavy = weights * np.exp(-c * weights)  # only those of heavy arms are used
        far = np.abs(c) * self.ceilings > REACH / 4  # too large a step for the series
        self.series[~far] = composed(self.series[~far], c)  # (3)
        for k in np.flatnonzero(far):
            members = self.place == k
            self.base[members], self.series[k] = self.heavy[members], np.eye(ORDER + 1)[1]
        self.heavy[arm], k = pulled, self.place[arm]
        if k >= 0 and pulled < self.ceilings[k]:
            for _ in range(6):  # (6) by Newton's method
                slope = np.polyval(np.polyder(self.series[k][::-1]), self.base[arm])
                self.base[arm] -= (np.polyval(self.series[k][::-1], self.base[arm]) - pulled) / slope
        else:
            self.place[arm] = -1
        moved = (np.abs(self.series[:, 2]) * self.ceilings > REACH) | far  # (8)
        if moved.any() or (np.abs(self.series[:, 3]) * self.ceilings**2 > 2 * REACH**2).any():
            self.refreshes += 1
            self.sort()
