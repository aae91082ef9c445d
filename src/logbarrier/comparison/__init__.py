"""The systems of the paper's Tables 1 and 2 and others, and how many pulls each needs for an accuracy epsilon."""

from __future__ import annotations

from .complexity import Budget, Measurement, measure, study_of
from .systems import INSTANCES, SYSTEMS, Family, Instance, System, systems_named

__all__ = [
    "INSTANCES",
    "SYSTEMS",
    "Budget",
    "Family",
    "Instance",
    "Measurement",
    "System",
    "measure",
    "study_of",
    "systems_named",
]
