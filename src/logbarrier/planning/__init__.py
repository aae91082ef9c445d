"""What to run on a problem like yours: `logbarrier plan`, and `logbarrier tune` for alpha and eta of LB-SGB."""

from __future__ import annotations

from .plan import Plan, Row, plan
from .search import Candidate
from .tune import Tuning, tune

__all__ = ["Candidate", "Plan", "Row", "Tuning", "plan", "tune"]
