"""Ascent with exact gradients: policy gradient or natural policy gradient, with steps that never go down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import FiniteMDP
from .calculus import gradient_at, natural_gradient_at, value_at
from .objectives import Objective
from .point import Point

ENOUGH = 0.5  # of the increase that the slope promises
SHORTEST = 1e-12
LONGEST = 1e8

Direction = Callable[[Point, Objective], np.ndarray]


@dataclass(frozen=True)
class Step:
    """theta (S, K), the objective there, J there, and the largest entry of the gradient."""

    theta: np.ndarray
    value: float
    performance: float
    stationarity: float


def policy_gradient(mdp: FiniteMDP, objective: Objective, theta: Any = None, *, steps: int = 1000) -> Iterator[Step]:
    """theta + length times gradient, step after step, from theta (uniform where none is given).

    The length doubles after each step and is halved until the objective rises by half of what the slope promises. That is sure
    to happen once it is below 1/L, L the smoothness of the objective, so no step goes down and none needs to know L.

    >>> from logbarrier import mdps
    >>> last = list(mdps.exact.policy_gradient(mdps.RiverSwim(4), mdps.Spectral(eta=100.0), steps=200))[-1]
    >>> round(last.performance / mdps.RiverSwim(4).optimal_performance, 2)
    0.91
    """
    return _ascend(mdp, objective, theta, steps, gradient_at)


def natural_policy_gradient(mdp: FiniteMDP, objective: Objective, theta: Any = None, *, steps: int = 1000) -> Iterator[Step]:
    """The same along the natural gradient."""
    return _ascend(mdp, objective, theta, steps, natural_gradient_at)


def _ascend(mdp: FiniteMDP, objective: Objective, theta: Any, steps: int, direction_at: Direction) -> Iterator[Step]:
    point = Point(mdp, np.zeros((mdp.n_states, mdp.n_actions)) if theta is None else theta)
    length = 1.0
    for _ in range(steps):
        value, slope, direction = value_at(point, objective), gradient_at(point, objective), direction_at(point, objective)
        yield Step(point.theta, value, point.performance, float(np.abs(slope).max()))
        promised = ENOUGH * float((slope * direction).sum())
        length = min(2.0 * length, LONGEST)
        while length > SHORTEST:
            try:
                there = Point(mdp, point.theta + length * direction)
                raised = value_at(there, objective)
                if raised > value and raised >= value + length * promised:
                    break
            except ValueError:  # so far that a state is no longer visited
                pass
            length /= 2.0
        else:
            return  # rounding is all that is left
        point = there
