"""Faults: what went wrong in compiled code, as one float64 that Python reads: kind + 8 step, 0 for none.

The first fault is the one that is reported. A rule that raises an exception sets RAISED (engine/codegen/linking.py).
"""

from __future__ import annotations

from typing import Any

from ...base.failure import RuleError
from ...engine.compiled import compiled

BAD_REWARD, _RAISED, BAD_MOVE, BAD_SHARE, BAD_VECTOR, BAD_WEIGHTS, BAD_ARM = range(1, 8)
KINDS = 8
LARGEST = 1.7976931348623157e308  # of the finite numbers
SENTENCES = {
    BAD_MOVE: "returned a lift or drain that is not finite",
    BAD_SHARE: "returned a share to mix that is not between 0 and 1",
    BAD_VECTOR: "left a number in its vectors that is not finite",
    BAD_WEIGHTS: "returned weights whose sum is not positive and finite",
    BAD_ARM: "drew an arm that does not exist",
}


@compiled
def note(fault, kind, t):
    """Keep a fault of step t, unless there is one already."""
    if fault[0] == 0.0:
        fault[0] = kind + KINDS * t


def refuse_fault(owner: str, rule: Any, fault: float) -> None:
    """Raise the sentence of a fault that a rule caused; do nothing for 0."""
    step, kind = divmod(int(fault), KINDS)
    if kind in SENTENCES:
        raise RuleError(f"{owner}: {rule.name} {SENTENCES[kind]} at step {step}")
    if kind:
        raise RuleError(f"{owner}: a compiled function of {rule.name} or of the rewards raised an exception")
