"""Ranking: the rules of a study on one problem, by regret, with the uncertainty of each place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..bandits.algorithms import RULES
from ..record import Record
from ..studies.study import Case

RESAMPLES = 2000


@dataclass(frozen=True)
class Place:
    """A rule's place on one problem: 1 is the least mean regret; best and worst span 95 % of the resampled rankings."""

    case: Case
    record: Record
    place: int
    best: int
    worst: int

    @property
    def follows_preferences(self) -> bool:
        """Whether it is a policy-gradient rule, which has preferences, rather than an index or posterior policy."""
        return RULES[self.case.rule["rule"]].prefers

    @property
    def informed(self) -> bool:
        """Whether it is told the mean rewards, which no user could do."""
        return RULES[self.case.rule["rule"]].informed


def ranking(found: Sequence[tuple[Case, Record]], seed: int = 0) -> list[Place]:
    """Rules on one problem by mean final regret, least first.

    All rules face the same instances, so runs are resampled together: what counts is whether the order would change, not
    how much the instances differ. Rules with fewer finished runs than others are ranked by the runs that all have.
    """
    runs = min(record.runs for _, record in found)
    regrets = np.stack([record["regret"][:runs, -1] for _, record in found])
    drawn = np.random.default_rng(seed).integers(runs, size=(RESAMPLES, runs))
    resampled = np.stack([regret[drawn].mean(axis=1) for regret in regrets])
    places = resampled.argsort(axis=0).argsort(axis=0) + 1
    best, worst = (np.quantile(places, q, axis=1, method="nearest") for q in (0.025, 0.975))
    order = regrets.mean(axis=1).argsort(kind="stable")
    return [Place(found[i][0], found[i][1], place, int(best[i]), int(worst[i])) for place, i in enumerate(order, 1)]
