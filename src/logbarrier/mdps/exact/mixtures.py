"""The best mixture of some occupancy measures, by Newton's method with an active set: the corrective step of Frank-Wolfe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..problem import FiniteMDP
from .elliptical import Ellipse, Elliptical
from .quadratic import maximise_on_simplex

NEWTON_STEPS = 20
CORRECTED = 0.1  # of the gap may be left over
BLOCK = 256  # states
MOST_MEASURES = 30  # that are mixed; then the half with the least shares becomes one
SHORTEST = 1e-9  # a shorter step is rounding
INEXACT = 1e-12  # rounding of log det, relative to its size
JITTER = 1e-12  # of the mean curvature, so that its matrix has an inverse


@dataclass(frozen=True)
class Mixture:
    """Measures (n, S, K) with their shares (n,), and a policy (S, K) for the states that none of them visits."""

    measures: np.ndarray
    shares: np.ndarray
    otherwise: np.ndarray

    @cached_property
    def mu(self) -> np.ndarray:
        """The measure (S, K) that they make up."""
        return np.asarray(np.tensordot(self.shares, self.measures, axes=1))

    @property
    def policy(self) -> np.ndarray:
        """mu/d (S, K)."""
        return policy_of(self.mu, self.otherwise)

    def joined(self, found: np.ndarray) -> Mixture:
        """With further measures (n, S, K), whose shares are 0."""
        measures, shares = self.measures, self.shares
        if len(shares) > MOST_MEASURES:
            order = np.argsort(-shares, kind="stable")
            kept, rest = order[: MOST_MEASURES // 2], order[MOST_MEASURES // 2 :]
            merged = np.tensordot(shares[rest] / shares[rest].sum(), measures[rest], axes=1)
            measures, shares = np.concatenate([measures[kept], merged[None]]), np.append(shares[kept], shares[rest].sum())
        return Mixture(np.concatenate([measures, found]), np.append(shares, np.zeros(len(found))), self.otherwise)


@dataclass(frozen=True)
class Target:
    """What is maximised: eta J + log det(F + ridge I), and its derivatives in mu."""

    mdp: FiniteMDP
    objective: Elliptical
    ridge: float

    def ellipse(self, mu: np.ndarray) -> Ellipse:
        """F at a measure (S, K)."""
        return self.objective.ellipse(mu.sum(axis=1), policy_of(mu, mu), self.ridge)

    def reward(self, ellipse: Ellipse) -> np.ndarray:
        """The gradient (S, K), eta R + b."""
        return np.asarray(self.objective.eta * self.mdp.R + ellipse.leverage)

    def curvature(self, mu: np.ndarray, ellipse: Ellipse, measures: np.ndarray) -> np.ndarray:
        """(n, n) minus the second derivative at mu, between the measures (n, S, K).

        -h''[u, v] = sum_s (2/d) (sum_a u y) . (sum_a v y) + <sum u y y', sum v y y'>, y the whitened vectors. The first part
        is there because the vectors are centred; features of states have none.
        """
        y, d = ellipse.whitened, np.maximum(mu.sum(axis=1), np.finfo(float).tiny)
        size, found = y.shape[2], np.zeros((len(measures), len(measures)))
        second = np.zeros((len(measures), size * size))
        for first in range(0, len(y), BLOCK):  # few states at a time stay in the cache
            part = slice(first, first + BLOCK)
            flat, rows = y[part].reshape(-1, size), []
            for i, measure in enumerate(measures):
                weights = self.objective.weights(measure[part])
                second[i] += (flat.T @ (weights.reshape(-1, 1) * flat)).ravel()
                rows.append((weights[:, None, :] @ y[part])[:, 0] * np.sqrt(2.0 / d[part])[:, None])
            if y.shape[1] > 1:
                sums = np.array(rows).reshape(len(rows), -1)
                found += sums @ sums.T
        return np.asarray(found + second @ second.T)


def best_mixture(target: Target, mixture: Mixture, costs: np.ndarray, gap: float) -> Mixture | None:
    """The same measures in better shares, up to a part of the gap; None if rounding is all that is left.

    costs (S, K) may be added to any reward: they earn the same under every measure.
    """
    measures, shares, mu, moved = mixture.measures, mixture.shares, mixture.mu, False
    ellipse = target.ellipse(mu)
    for _ in range(NEWTON_STEPS):
        slopes = measures.reshape(len(measures), -1) @ (target.reward(ellipse) + costs).ravel()
        slopes -= slopes @ shares
        if slopes.max() <= CORRECTED * gap and moved:
            break
        with np.errstate(all="ignore"):
            bends = target.curvature(mu, ellipse, measures)
        if not np.isfinite(bends).all():  # beyond double precision
            break
        bends += JITTER * np.trace(bends) / len(bends) * np.eye(len(bends))
        change = maximise_on_simplex(bends, slopes, shares) - shares
        step = np.tensordot(change, measures, axes=1)
        length, ahead = _line_search(target, costs, mu, ellipse, step)
        if ahead is None:
            break
        shares, mu, ellipse, moved = shares + length * change, mu + length * step, ahead, True
    keep = shares > 0.0
    return Mixture(measures[keep], shares[keep] / shares[keep].sum(), mixture.otherwise) if moved else None


def _line_search(
    target: Target, costs: np.ndarray, mu: np.ndarray, here: Ellipse, step: np.ndarray
) -> tuple[float, Ellipse | None]:
    """How much of the step to go, 1, 1/2, 1/4, ..., and F there; None if no part of it is better than mu.

    The slope may not fall below minus its first value: a step that earns rewards could otherwise end where F is nearly
    singular. A gain below the rounding of log det is accepted if the slope along the step has at least halved.
    """
    earned = float((step * (target.objective.eta * target.mdp.R + costs)).sum())
    slope, length = float((step * (target.reward(here) + costs)).sum()), 1.0
    while length > SHORTEST:
        try:
            ahead = target.ellipse(np.maximum(mu + length * step, 0.0))
            gain = length * earned + ahead.log_det - here.log_det
            left = float((step * (target.reward(ahead) + costs)).sum())
            rounding = gain > -INEXACT * (1.0 + abs(here.log_det)) and abs(left) <= 0.5 * slope
            if rounding or (gain > 0.0 and left >= -slope):
                return length, ahead
        except ValueError:  # F has no inverse there
            pass
        length /= 2.0
    return 0.0, None


def policy_of(mu: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """mu/d (S, K); `otherwise` where d is 0."""
    d = mu.sum(axis=1, keepdims=True)
    return np.where(d > 0.0, mu / np.where(d > 0.0, d, 1.0), otherwise)
