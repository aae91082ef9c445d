"""What to run on a problem like yours: `logbarrier plan`."""

from __future__ import annotations

from .plan import Plan, plan
from .search import Candidate

__all__ = ["Candidate", "Plan", "plan"]
