"""Objectives: J alone, or with entropy, a log barrier on actions, or the log pseudo-determinant of the Fisher matrix.

An objective adds to J a function of the policy and its occupancy. Its gradient with respect to theta is a policy gradient with
a bonus added to the reward, plus a term of its own:

    d Phi / d theta[s, a] = d(s) pi(a|s) A_{R + bonus}(s, a) + pull[s, a]

so an objective is its value, that bonus and that pull, and how the two change along a direction (for second derivatives).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...base import validate
from .point import Change, Point


class Objective(Protocol):
    """What the exact methods ask of an objective; arrays are (S, K) or broadcast to it, and 0 unless it says otherwise."""

    def regulariser(self, point: Point) -> float:
        """What is added to J."""
        ...

    def bonus(self, point: Point) -> np.ndarray:
        """The reward that stands for it in the policy gradient."""
        return np.zeros(1)

    def pull(self, point: Point) -> np.ndarray:
        """The part of its gradient that is not a policy gradient."""
        return np.zeros(1)

    def bonus_change(self, point: Point, change: Change) -> np.ndarray:
        """The derivative of the bonus along a direction."""
        return np.zeros(1)

    def pull_change(self, point: Point, change: Change) -> np.ndarray:
        """The derivative of the pull along a direction."""
        return np.zeros(1)

    def bias_bound(self, point: Point) -> float:
        """At a stationary point, J* - J is at most this."""
        ...


@dataclass(frozen=True)
class NoRegulariser(Objective):
    """J alone."""

    def regulariser(self, point: Point) -> float:
        """0."""
        return 0.0

    def bias_bound(self, point: Point) -> float:
        """The gradient vanishes only where theta is infinite, and not only at the optimum there: no bound."""
        return math.inf


@dataclass(frozen=True, kw_only=True)
class Entropy(Objective):
    """J + tau sum_s d(s) H(pi_s): the discounted entropy of Mei et al. (2020).

    The pull is 0: the expected derivative of log pi vanishes.
    """

    tau: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", validate.positive("Entropy", "tau", self.tau))

    def regulariser(self, point: Point) -> float:
        """tau sum_s d(s) H(pi_s)."""
        return float(-self.tau * (point.occupancy[:, None] * point.policy * point.log_policy).sum())

    def bonus(self, point: Point) -> np.ndarray:
        """-tau log pi."""
        return np.asarray(-self.tau * point.log_policy)

    def bonus_change(self, point: Point, change: Change) -> np.ndarray:
        """-tau d log pi."""
        return np.asarray(-self.tau * change.log_policy)

    def bias_bound(self, point: Point) -> float:
        """tau log K sum_s d*(s): the entropy that the optimal policy lacks."""
        best = point.mdp.occupancy(point.mdp.optimal_policy)
        return self.tau * math.log(point.mdp.n_actions) * float(best.sum())


@dataclass(frozen=True, kw_only=True)
class _Barrier(Objective):
    """What the barriers on actions share: sum_{s,a} log pi(a|s) / eta pulls every policy towards uniform."""

    eta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", validate.positive(type(self).__name__, "eta", self.eta))

    def pull(self, point: Point) -> np.ndarray:
        """(1 - K pi)/eta."""
        return np.asarray((1.0 - point.mdp.n_actions * point.policy) / self.eta)

    def pull_change(self, point: Point, change: Change) -> np.ndarray:
        """-K d pi / eta."""
        return np.asarray(-point.mdp.n_actions / self.eta * change.policy)


@dataclass(frozen=True, kw_only=True)
class ActionBarrier(_Barrier):
    """J + (1/eta) sum_{s,a} log pi(a|s): the barrier of Agarwal et al. (2021), on actions alone.

    The bonus is 0: how often a state is visited does not count.
    """

    def regulariser(self, point: Point) -> float:
        """sum log pi / eta."""
        return float(point.log_policy.sum() / self.eta)

    def bias_bound(self, point: Point) -> float:
        """((K - 1)/eta) sum_s d*(s)/d(s): it suffers from states that the policy hardly visits."""
        best = point.mdp.occupancy(point.mdp.optimal_policy)
        return (point.mdp.n_actions - 1) / self.eta * float((best / point.visited).sum())


@dataclass(frozen=True, kw_only=True)
class Spectral(_Barrier):
    """J + G/eta, G = log pdet F = (K - 1) sum_s log d(s) + sum_{s,a} log pi(a|s) + S log K: a barrier on actions and visits."""

    def regulariser(self, point: Point) -> float:
        """G/eta."""
        S, K = point.mdp.n_states, point.mdp.n_actions
        visits = (K - 1) * np.log(point.visited).sum()
        return float((visits + point.log_policy.sum() + S * math.log(K)) / self.eta)

    def bonus(self, point: Point) -> np.ndarray:
        """(K - 1)/(eta d(s)): what is rare pays."""
        return np.asarray((point.mdp.n_actions - 1) / (self.eta * point.visited[:, None]))

    def bonus_change(self, point: Point, change: Change) -> np.ndarray:
        """-(K - 1) d d(s) / (eta d(s)^2)."""
        relative = change.occupancy / point.visited
        return np.asarray(-self.bonus(point) * relative[:, None])

    def bias_bound(self, point: Point) -> float:
        """S (K - 1)/eta, whatever is visited."""
        return point.mdp.n_states * (point.mdp.n_actions - 1) / self.eta
