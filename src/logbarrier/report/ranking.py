"""Ranking: the rules on one problem, ordered by where they ended, with the uncertainty of each place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..record import Record
from ..statistics import resampling_weights
from ..studies.cell import Case


@dataclass(frozen=True)
class Place:
    """A rule's place on one problem: 1 is the best mean; best and worst span 95 % of the resampled rankings."""

    case: Case
    record: Record
    place: int
    best: int
    worst: int

    @property
    def follows_preferences(self) -> bool:
        """Whether it is a policy-gradient rule, which has preferences, rather than an index or posterior policy."""
        return self.case.setting.follows_preferences(self.case.made_rule)

    @property
    def knows_means(self) -> bool:
        """Whether it is given what no user could know, such as the mean rewards."""
        return self.case.setting.knows_means(self.case.made_rule)


def ranking(found: Sequence[tuple[Case, Record]], metric: str = "regret", seed: int = 0) -> list[Place]:
    """Rules on one problem by the final mean of a metric, best first.

    All rules face the same instances, so runs are resampled together: what counts is whether the order would change, not
    how much the instances differ. Rules with fewer finished runs than others are ranked by the runs that all have.
    """
    runs = min(record.runs for _, record in found)
    sign = 1.0 if found[0][0].setting.ranked_by[metric] else -1.0
    losses = sign * np.stack([record[metric][:runs, -1] for _, record in found])
    resampled = resampling_weights(runs, seed) @ losses.T
    ahead = (resampled[:, None, :] < resampled[:, :, None]).sum(axis=2)
    level = (resampled[:, None, :] == resampled[:, :, None]).sum(axis=2)  # itself and those it ties with
    best = np.quantile(ahead + 1, 0.025, axis=0, method="nearest")
    worst = np.quantile(ahead + level, 0.975, axis=0, method="nearest")
    order = losses.mean(axis=1).argsort(kind="stable")
    return [Place(found[i][0], found[i][1], place, int(best[i]), int(worst[i])) for place, i in enumerate(order, 1)]
