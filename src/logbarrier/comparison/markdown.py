"""Measurements in words: a slope with its interval, and the table of docs/systems.md."""

from __future__ import annotations

from collections.abc import Sequence

from .complexity import Measurement
from .systems import INSTANCES, System

DOCS = ("system", "update", "parameters", "stated", *(instance.name for instance in INSTANCES), "our reading")


def shown_slope(measurement: Measurement) -> str:
    """As in '1.02 [0.98, 1.05]'; '-' where fewer than three accuracies were reached."""
    if measurement.slope is None:
        return "-"
    if measurement.low is None or measurement.high is None:
        return f"{measurement.slope:.2f} [?]"
    return f"{measurement.slope:.2f} [{measurement.low:.2f}, {measurement.high:.2f}]"


def shown_reach(measurement: Measurement) -> str:
    """How many of the accuracies were reached, as in '4/6'; with a tilde where the mean rose above one again."""
    return f"{measurement.reached}/{len(measurement.pulls)}{'~' if any(measurement.returns) else ''}"


def shown_pulls(measurement: Measurement) -> str:
    """Pulls at the smallest accuracy reached, as in '1.4e3'."""
    reached = [count for count in measurement.pulls if count is not None]
    return f"{reached[-1]:.1e}".replace("e+0", "e") if reached else "-"


def shown_rate(system: System) -> str:
    """The exponent the paper's tables state, '-' for none."""
    return "-" if system.rate is None else f"{system.rate:g}"


def markdown(systems: Sequence[System], measurements: Sequence[Measurement]) -> str:
    """One row per system: what it does, what is stated, and the slopes of its last and average iterate on every instance."""
    lines = [f"| {' | '.join(DOCS)} |", f"|{'---|' * len(DOCS)}"]
    for system in systems:
        stated = shown_rate(system) + (f" ({system.assumption})" if system.assumption else "")
        cells = [_cell([m for m in measurements if (m.system, m.instance) == (system.name, i.name)]) for i in INSTANCES]
        who = f"`{system.name}`<br>{system.reference}; {system.place}"
        lines.append(f"| {who} | {system.update} | {system.parameters} | {stated} | {' | '.join(cells)} | {system.reading} |")
    return "\n".join(lines) + "\n"


def _cell(measured: Sequence[Measurement]) -> str:
    """'last ...<br>average ...' with how many accuracies were reached where that is not all."""
    shown = [
        f"{one.iterate} {shown_slope(one)}{'' if one.reached == len(one.pulls) else f', {shown_reach(one)}'}"
        for one in measured
    ]
    return "<br>".join([*shown, *(["own start"] if any(one.own_start for one in measured) else [])])
