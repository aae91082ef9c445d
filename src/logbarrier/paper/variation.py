"""A study of the paper that was edited: which of its settings are no longer the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..studies import Case, Study
from . import design
from .reproduction import EXPERIMENTS


def differences_from_paper(study: Study) -> list[str]:
    """Return every setting of a study called figure-1, baselines or eta that differs from that experiment of the paper."""
    if study.name not in EXPERIMENTS:
        return []
    paper = EXPERIMENTS[study.name].cases
    found = [
        f"{name} {ours} instead of {theirs}"
        for name, ours, theirs in (("horizon", study.horizon, design.HORIZON), ("runs", study.runs, design.RUNS))
        if ours != theirs
    ]
    if study.bad_start is not None:
        found.append(f"bad_start {study.bad_start} instead of a uniform start")
    for kind in ("problem", "rule"):
        ours, theirs = _values(kind, study.cases), _values(kind, paper)
        for key in dict.fromkeys([*theirs, *ours]):
            if ours.get(key) != theirs.get(key):
                found.append(f"{key} {_listed(ours.get(key))} instead of {_listed(theirs.get(key))}")
    return found


def _values(kind: str, cases: Sequence[Case]) -> dict[str, set[Any]]:
    """Parameter -> its values in the problems or rules of some cases."""
    values: dict[str, set[Any]] = {}
    for case in cases:
        for key, value in (case.problem if kind == "problem" else case.rule).items():
            values.setdefault(key, set()).add(str(value) if isinstance(value, dict | list) else value)
    return values


def _listed(values: set[Any] | None) -> str:
    if values is None:
        return "none"
    shown = (f"{value:g}" if isinstance(value, int | float) else str(value) for value in sorted(values, key=_order))
    return ", ".join(shown)


def _order(value: Any) -> tuple[bool, Any]:
    return isinstance(value, str), value
