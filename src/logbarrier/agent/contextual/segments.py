"""Summaries where decisions depend on contexts: of all decisions, and by the values of one feature."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...statistics import LEVEL
from ..arm_statistics import ArmStatistics
from ..summary import Summary, summarise

MISSING = "missing"
CHOSEN_BY_CONTEXT = (
    "Arms are chosen by context, so their means do not say which one is best for all: see the segments of an experiment."
)


def without_verdict(summary: Summary) -> Summary:
    """The summary of decisions that depend on contexts: each mean is over the contexts in which its arm was chosen."""
    return replace(summary, verdict="undecided", sentence=CHOSEN_BY_CONTEXT)


def summarise_segments(
    rows: Iterable[Mapping[str, Any]], arms: Sequence[Any], feature: str | int, *, level: float = LEVEL
) -> dict[str, Summary]:
    """Summarise the arms among the decisions with each value of a feature; numbers are split at their median.

    A verdict compares arms fairly where the other features do not decide which arm is chosen.

    rows: decisions with arm, reward and context, as of `read_log`. feature: a name, or a place where contexts are vectors.
    """
    decisions = [(value_of(row.get("context"), feature), row) for row in rows]
    numbers = [value for value, _ in decisions if _is_number(value)]
    middle = statistics.median(numbers) if numbers else 0.0
    place = {arm: i for i, arm in enumerate(arms)}
    found: dict[str, ArmStatistics] = {}
    for value, row in decisions:
        if row["arm"] in place:
            seen = found.setdefault(_segment(value, middle), ArmStatistics(len(place)))
            seen.decisions[place[row["arm"]]] += 1
            if row["reward"] is not None:
                seen.add_reward(place[row["arm"]], row["reward"])
    if not found:
        raise ValueError("segments: the log has no decisions")
    return {segment: summarise(tuple(arms), seen, level=level) for segment, seen in sorted(found.items())}


def value_of(context: Any, feature: str | int) -> Any:
    """The value of a feature in a context; None where it is missing."""
    if isinstance(context, Mapping):
        return context.get(feature)
    if isinstance(context, Sequence) and isinstance(feature, int) and 0 <= feature < len(context):
        return context[feature]
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _segment(value: Any, middle: float) -> str:
    if value is None:
        return MISSING
    if _is_number(value):
        return f"below {middle:g}" if value < middle else f"{middle:g} or more"
    return str(value).lower() if isinstance(value, bool) else str(value)
