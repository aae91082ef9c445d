"""What to run on a problem like yours: `logbarrier plan`."""

from __future__ import annotations

from .plan import Plan, Row, plan

__all__ = ["Plan", "Row", "plan"]
