"""How p(a*) is distributed over the runs at one moment: two heaps that a mean would hide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..jobs import Curves
from .figure import new_figure, put_legend_above, source

BINS = 20


def moment(steps: np.ndarray, at: float) -> int:
    """The index of the checkpoint at a share of the horizon.

    >>> moment(np.array([0, 5, 10]), 0.4)
    1
    """
    return int(np.abs(steps - at * steps[-1]).argmin())


def columns_of(result: Curves) -> dict[str, dict[str, list[Any]]]:
    """Bars (shares of the runs in twenty bins, side by side for each rule) and means."""
    bars: dict[str, list[Any]] = {"left": [], "right": [], "top": [], "colour": [], "label": []}
    means: dict[str, list[Any]] = {"x": [], "colour": []}
    edges = np.linspace(0.0, 1.0, BINS + 1)
    width = 1.0 / BINS / max(len(result.records), 1)
    shown = [curve for curve in result.curves if curve.label in result.records]
    for place, curve in enumerate(shown):
        record = result.records[curve.label]
        values = record["optimal_probability"][:, moment(record.steps, result.state.at)]
        counts, _ = np.histogram(np.clip(values, 0.0, 1.0), edges)
        bars["left"] += (edges[:-1] + place * width).tolist()
        bars["right"] += (edges[:-1] + (place + 0.92) * width).tolist()
        bars["top"] += (counts / record.runs).tolist()
        bars["colour"] += [curve.colour] * BINS
        bars["label"] += [curve.label] * BINS
        means["x"].append(float(values.mean()))
        means["colour"].append(curve.colour)
    return {"bars": bars, "means": means}


class DistributionView:
    """Bars of p(a*) over the runs; a triangle at each mean."""

    def __init__(self) -> None:
        drawn = new_figure(
            x_axis_label="p(a*) of a run (triangles: means)",
            y_axis_label="share of the runs",
            x_range=(-0.02, 1.02),
            y_range=(-0.04, 1.0),
        )
        self._bars, self._means = source("left", "right", "top", "colour", "label"), source("x", "colour")
        drawn.quad("left", "right", "top", 0, source=self._bars, fill_color="colour", line_color=None, legend_field="label")
        drawn.scatter("x", -0.02, source=self._means, marker="triangle", size=12, color="colour")
        put_legend_above(drawn)
        self.layout = drawn

    def show(self, result: Curves) -> None:
        """Plot what there is."""
        columns = columns_of(result)
        self._bars.data, self._means.data = columns["bars"], columns["means"]

    def table(self, result: Curves) -> Iterable[Sequence[Any]]:
        """One row per rule and run."""
        yield ("rule", "run", "step", "optimal_probability")
        for label, record in result.records.items():
            c = moment(record.steps, result.state.at)
            for run, value in enumerate(record["optimal_probability"][:, c].tolist()):
                yield (label, run, int(record.steps[c]), value)

    def words(self, result: Curves) -> str:
        """Mean, and the shares of runs that have lost and found the best arm."""
        said = []
        for label, record in result.records.items():
            values = record["optimal_probability"][:, moment(record.steps, result.state.at)]
            low, high = (values < 0.1).mean(), (values > 0.9).mean()
            said.append(f"{label}: mean {values.mean():.3f}, {low:.0%} of runs below 0.1, {high:.0%} above 0.9")
        return "p(a*) over the runs. " + "; ".join(said)
