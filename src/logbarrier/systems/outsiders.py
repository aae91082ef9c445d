"""Systems that are no policy gradient, for comparison."""

from __future__ import annotations

import math

from ..algorithms import UCB1
from .system import Family, System

SYSTEMS = (
    System(
        name="ucb1",
        family=Family.OUTSIDER,
        reference="Auer et al. 2002",
        place="outside the paper",
        update="pull the largest m(a) + c sqrt(log t/n(a))",
        parameters="c = sqrt(2)",
        reading="Each arm's rewards lie in an interval of length 1, so the original c applies.",
        rule=lambda epsilon, instance: UCB1(c=math.sqrt(2.0)),
    ),
)
