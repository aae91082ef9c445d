"""A metric over time: mean with its 95 % band, a few single runs, and where LB-SGB's exact plateau lies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..jobs import Curves
from ..learning import Learning
from .figure import new_figure, put_legend_above, source

SINGLE_RUNS = 12
Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Metric:
    """A metric of a record as a view: its axis, and which of the plateau's numbers belongs to it."""

    name: str
    label: str
    plateau: int | None = None
    bounded: bool = False
    logarithmic: bool = False


LEARNING = Metric("optimal_probability", "probability of the best arm, p(a*)", plateau=0, bounded=True)
SMALLEST = Metric("min_probability", "smallest probability of an arm", plateau=1, logarithmic=True)
REGRET = Metric("regret", "cumulative regret")
FLOOR = 1e-12  # of a logarithmic axis


def columns_of(result: Curves | Learning, metric: Metric) -> dict[str, Columns]:
    """What is plotted: means, bands, single runs and plateaus, each one row per line."""
    lines: dict[str, Columns] = {
        "means": {"xs": [], "ys": [], "colour": [], "dash": [], "label": []},
        "bands": {"xs": [], "ys": [], "colour": []},
        "runs": {"xs": [], "ys": [], "colour": []},
        "plateaus": {"xs": [], "ys": [], "colour": []},
    }
    for curve in result.curves:
        record = result.records.get(curve.label)
        if record is None:
            continue
        shift = 1 if result.state.spacing == "log" else 0  # a logarithmic axis has no step 0
        steps = record.steps[shift:]
        mean, (low, high) = record.mean(metric.name), record.interval(metric.name)
        rows: list[tuple[str, np.ndarray, np.ndarray]] = [
            ("bands", np.concatenate([steps, steps[::-1]]), np.concatenate([low[shift:], high[shift:][::-1]])),
            *(("runs", steps, run[shift:]) for run in record[metric.name][:SINGLE_RUNS]),
            ("means", steps, mean[shift:]),
        ]
        if metric.plateau is not None and curve.label in result.plateaus:
            level = result.plateaus[curve.label][metric.plateau]
            rows.append(("plateaus", np.array([steps[0], steps[-1]]), np.array([level, level])))
        for name, xs, ys in rows:
            lines[name]["xs"].append(xs)
            lines[name]["ys"].append(_plotted(ys, metric))
            lines[name]["colour"].append(curve.colour)
        lines["means"]["dash"].append(curve.dash)
        lines["means"]["label"].append(curve.label)
    return lines


def _plotted(values: np.ndarray, metric: Metric) -> np.ndarray:
    if metric.bounded:
        return np.asarray(np.clip(values, 0.0, 1.0))
    return np.asarray(np.maximum(values, FLOOR)) if metric.logarithmic else values


class CurvesView:
    """Any metric of the records over time."""

    def __init__(self, metric: Metric, spacing: str) -> None:
        self.metric = metric
        options: dict[str, Any] = {"x_axis_type": spacing, "y_axis_type": "log" if metric.logarithmic else "linear"}
        if metric.bounded:
            options["y_range"] = (-0.02, 1.02)
        drawn = new_figure(x_axis_label="step", y_axis_label=metric.label, **options)
        self._sources = {
            "bands": source("xs", "ys", "colour"),
            "runs": source("xs", "ys", "colour"),
            "plateaus": source("xs", "ys", "colour"),
            "means": source("xs", "ys", "colour", "dash", "label"),
        }
        drawn.patches("xs", "ys", source=self._sources["bands"], fill_color="colour", fill_alpha=0.2, line_color=None)
        drawn.multi_line("xs", "ys", source=self._sources["runs"], line_color="colour", line_alpha=0.25, line_width=0.8)
        drawn.multi_line("xs", "ys", source=self._sources["plateaus"], line_color="colour", line_dash=[2, 4], line_width=1.5)
        drawn.multi_line(
            "xs",
            "ys",
            source=self._sources["means"],
            line_color="colour",
            line_dash="dash",
            line_width=2.5,
            legend_field="label",
        )
        put_legend_above(drawn)
        drawn.xaxis.formatter.use_scientific = False
        self.layout = drawn

    def show(self, result: Curves | Learning) -> None:
        """Plot what there is."""
        for name, columns in columns_of(result, self.metric).items():
            self._sources[name].data = columns

    def table(self, result: Curves | Learning) -> Iterable[Sequence[Any]]:
        """One row per rule, run and step."""
        yield ("rule", "run", "step", self.metric.name)
        for label, record in result.records.items():
            for run, values in enumerate(record[self.metric.name].tolist()):
                for step, value in zip(record.steps.tolist(), values, strict=True):
                    yield (label, run, step, value)

    def words(self, result: Curves | Learning) -> str:
        """Where each curve ends."""
        return f"{self.metric.label.capitalize()} at the end, mean over runs: " + "; ".join(
            f"{label} {record.mean(self.metric.name)[-1]:.4g}" for label, record in result.records.items()
        )
