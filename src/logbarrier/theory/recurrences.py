"""The recurrence behind the bounded-c* theorem (Appendix, Recurrences).

    r_{t+1} <= r_t - alpha (a/2) r_t^2 + alpha b/eta

is followed from above by rho, which takes equality, and rho by nu, which is linear:

    rho_{t+1} = rho_t - alpha (a/2) rho_t^2 + alpha b/eta
    nu_{t+1}  = (1 - alpha (a/2) rho_bar) nu_t + alpha b/eta,   rho_bar = sqrt(2b/(eta a)).

If r_0 >= rho_bar and alpha <= 1/(a r_0):  rho_bar <= rho_{t+1} <= rho_t <= nu_t, and r_t <= rho_t.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base import validate
from .sides import Sides


@dataclass(frozen=True, kw_only=True)
class Recurrence:
    """learning_rate alpha, pull a, push b and eta, all positive numbers, or arrays (...) of them.

    >>> follow = Recurrence(learning_rate=0.1, pull=1.0, push=1.0, eta=200.0)
    >>> follow.fixed_point
    0.1
    >>> rho, nu = follow.rho(1.0, 50), follow.nu(1.0, 50)
    >>> bool((0.1 <= rho).all() and (rho <= nu).all())
    True
    """

    learning_rate: Any
    pull: Any
    push: Any
    eta: Any

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if np.ndim(value) == 0:
                validate.positive("Recurrence", name, value)

    @property
    def fixed_point(self) -> Any:
        """rho_bar = sqrt(2b/(eta a)), where rho stays."""
        return (2.0 * self.push / (self.eta * self.pull)) ** 0.5

    @property
    def rate(self) -> Any:
        """alpha (a/2) rho_bar = (1/2) sqrt(2 alpha^2 a b/eta), the share of its distance to rho_bar that nu loses in a step."""
        return self.learning_rate * self.pull / 2.0 * self.fixed_point

    def largest_learning_rate(self, start: Any) -> Any:
        """min(1/(a r_0), sqrt(eta/(2ab))), up to which every claim about rho and nu holds."""
        return np.minimum(1.0 / (self.pull * start), (self.eta / (2.0 * self.pull * self.push)) ** 0.5)

    def step(self, value: Any) -> Any:
        """One step of rho."""
        return value - self.learning_rate * self.pull / 2.0 * value**2 + self.learning_rate * self.push / self.eta

    def rho(self, start: Any, steps: int) -> np.ndarray:
        """rho_0 .. rho_steps (steps + 1, ...)."""
        return _iterate(self.step, start, steps)

    def nu(self, start: Any, steps: int) -> np.ndarray:
        """nu_0 .. nu_steps (steps + 1, ...)."""
        return _iterate(lambda value: (1.0 - self.rate) * value + self.learning_rate * self.push / self.eta, start, steps)

    def bound(self, start: Any, steps: Any) -> Any:
        """(1 - rate)^t r_0 + rho_bar >= nu_t, which the convergence theorem quotes."""
        return np.exp(steps * np.log1p(-self.rate)) * start + self.fixed_point


def _iterate(step: Any, start: Any, steps: int) -> np.ndarray:
    values = [np.asarray(start, dtype=np.float64)]
    for _ in range(steps):
        values.append(step(values[-1]))
    return np.array(values)


def rho_is_above(recurrence: Recurrence, start: Any, shrinkage: np.ndarray) -> Sides:
    """r_t <= rho_t, worst over t, for an r that undercuts the recurrence by the factors shrinkage (T, ...) in [0, 1]."""
    steps = len(shrinkage)
    rho = recurrence.rho(start, steps)
    r = [np.asarray(start, dtype=np.float64)]
    for factor in shrinkage:
        r.append(factor * recurrence.step(r[-1]))
    return _worst(np.array(r), rho)


def rho_falls_to_its_fixed_point(recurrence: Recurrence, start: Any, steps: int) -> Sides:
    """rho_bar <= rho_{t+1} <= rho_t, worst over t, for a start above rho_bar."""
    rho = recurrence.rho(start, steps)
    falls, stays_above = _worst(rho[1:], rho[:-1]), _worst(recurrence.fixed_point + 0.0 * rho, rho)
    worse = falls.ratio > stays_above.ratio
    return Sides(np.where(worse, falls.lesser, stays_above.lesser), np.where(worse, falls.greater, stays_above.greater))


def rho_rises_to_its_fixed_point(recurrence: Recurrence, start: Any, steps: int) -> Sides:
    """rho_t <= rho_{t+1} <= rho_bar, worst over t, for a start below rho_bar."""
    rho = recurrence.rho(start, steps)
    rises, stays_below = _worst(rho[:-1], rho[1:]), _worst(rho, recurrence.fixed_point + 0.0 * rho)
    worse = rises.ratio > stays_below.ratio
    return Sides(np.where(worse, rises.lesser, stays_below.lesser), np.where(worse, rises.greater, stays_below.greater))


def nu_is_above(recurrence: Recurrence, start: Any, steps: int) -> Sides:
    """rho_t <= nu_t <= (1 - rate)^t r_0 + rho_bar, worst over t."""
    rho, nu = recurrence.rho(start, steps), recurrence.nu(start, steps)
    count = np.arange(steps + 1).reshape(-1, *[1] * np.ndim(start))
    follows, bounded = _worst(rho, nu), _worst(nu, recurrence.bound(start, count))
    worse = follows.ratio > bounded.ratio
    return Sides(np.where(worse, follows.lesser, bounded.lesser), np.where(worse, follows.greater, bounded.greater))


def _worst(lesser: np.ndarray, greater: np.ndarray) -> Sides:
    """The sides (...) at the step, along the first axis, where they are tightest."""
    tightest = np.argmax(np.where(greater > 0, lesser / np.where(greater > 0, greater, 1.0), np.inf), axis=0)[None]
    return Sides(np.take_along_axis(lesser, tightest, axis=0)[0], np.take_along_axis(greater, tightest, axis=0)[0])
