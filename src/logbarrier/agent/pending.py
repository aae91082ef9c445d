"""Pending decisions, and the policies they were drawn from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

MOST_KEPT = 2**24  # numbers of earlier policies, 128 MB


class Decision(NamedTuple):
    """What `ask` returns: the arm to pull, by name if arms have names, and the probability it was drawn with."""

    id: int
    arm: Any
    probability: float


@dataclass(slots=True, eq=False)
class Moment:
    """What decisions were drawn from; shared by all that were drawn between two changes of the policy.

    arms     (m,) places among the present arms, rising; None for all of them
    policy   (m,) their probabilities; None while it is the present policy, and once it was evicted
    size     n, how many arms there were to draw from, those removed since included
    pending  how many of its decisions are pending
    """

    arms: np.ndarray | None
    policy: np.ndarray | None
    size: int
    pending: int = 0


@dataclass(slots=True, eq=False)
class Pending:
    """A pending decision: its arm's place among the present arms (-1: removed since) and q(arm), before any floor."""

    decision: Decision
    arm: int
    probability: float
    moment: Moment


class PendingDecisions:
    """The pending decisions of an agent over n_arms arms.

    While a decision is pending and the policy moves, its moment keeps the policy: m numbers. Beyond MOST_KEPT numbers in all,
    the policies of the oldest moments are evicted.
    """

    def __init__(self, n_arms: int) -> None:
        self.decisions: dict[int, Pending] = {}
        self.now = Moment(None, None, n_arms)
        self._keepers: dict[int, Moment] = {}  # id(moment) -> moment, those with a policy, oldest first
        self._kept = 0

    def add(self, decision: Decision, arm: int, probability: float, moment: Moment) -> None:
        """Add a decision drawn from `moment`."""
        self.decisions[decision.id] = Pending(decision, arm, probability, moment)
        moment.pending += 1
        if moment.policy is not None and id(moment) not in self._keepers:
            self.keep(moment)

    def find(self, who: str, decision: Decision | int, asked: int) -> Pending:
        """The pending decision meant, or a KeyError that says why there is none."""
        identity = decision.id if isinstance(decision, Decision) else decision
        found = self.decisions.get(identity) if type(identity) is int else None
        if found is None:
            known = type(identity) is int and 0 <= identity < asked
            what = "has been told or forgotten already" if known else "was never asked"
            raise KeyError(f"{who}: decision {identity!r} {what}")
        if decision is not found.decision and isinstance(decision, Decision) and decision != found.decision:
            raise KeyError(f"{who}: decision {identity} is not this agent's, which drew {found.decision.arm!r}")
        return found

    def leave(self, policy: Callable[[], np.ndarray]) -> None:
        """Keep the policy, which is about to move, for its pending decisions."""
        left = self.now
        if left.pending > 0:
            left.policy = policy()
            self.keep(left)
            self.now = Moment(None, None, left.size)

    def stay(self, moment: Moment) -> None:
        """Undo `leave`: the policy of `moment`, the present one before, has not moved."""
        if self.now is not moment:
            self._evict(moment)
            self.now = moment

    def keep(self, moment: Moment) -> None:
        """Count a policy that is kept, and drop the oldest ones if there are too many numbers."""
        assert moment.policy is not None
        self._keepers[id(moment)] = moment
        self._kept += len(moment.policy)
        while self._kept > MOST_KEPT and len(self._keepers) > 1:
            self._evict(next(iter(self._keepers.values())))

    def settle(self, identity: int) -> None:
        """Remove a decision that was told or forgotten."""
        moment = self.decisions.pop(identity).moment
        moment.pending -= 1
        if moment.pending == 0 and moment.policy is not None:
            self._evict(moment)

    def _evict(self, moment: Moment) -> None:
        assert moment.policy is not None
        self._kept -= len(moment.policy)
        moment.policy = None
        del self._keepers[id(moment)]

    def moments(self) -> list[Moment]:
        """The moments of the past, or of a subset of the arms, with pending decisions; each once, next to be evicted first."""
        past = {id(p.moment): p.moment for p in self.decisions.values() if p.moment is not self.now}
        return list((self._keepers | past).values())

    def add_arm(self, n_arms: int) -> None:
        """The last of now n_arms arms is new: what came before was drawn from the others. The present must have been left."""
        for moment in self.moments():
            if moment.arms is None:
                moment.arms = np.arange(n_arms - 1)
        self.now = Moment(None, None, n_arms)

    def remove_arm(self, arm: int, n_arms: int) -> None:
        """Of n_arms arms one is removed: its decisions stay pending, and it still counts in `size`."""
        for moment in self.moments():
            arms = np.arange(n_arms) if moment.arms is None else moment.arms
            stays = arms != arm
            moment.arms = arms[stays] - (arms[stays] > arm)
            if moment.policy is not None:
                self._kept -= len(moment.policy) - int(stays.sum())
                moment.policy = moment.policy[stays]
        for decision in self.decisions.values():
            if decision.arm >= arm:
                decision.arm = -1 if decision.arm == arm else decision.arm - 1
        self.now = Moment(None, None, n_arms - 1)
