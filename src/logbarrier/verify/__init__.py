"""Every statement of the paper, tried on random and on searched points, and its theorems run for real: `logbarrier verify`."""

from __future__ import annotations

from .exercise import Exercise, Tiny, exercises
from .statements import STATEMENTS, Statement
from .trials import Verdict, verify

__all__ = ["STATEMENTS", "Exercise", "Statement", "Tiny", "Verdict", "exercises", "verify"]
