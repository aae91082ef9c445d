"""An experiment's figure in a style fit for a paper. Statistics come from the records; only what to plot is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..bandits.algorithms.log_barrier_sgb import LogBarrierSGB
from ..plots.style import panels, styled
from ..plots.words import LABELS
from ..record import Record
from ..studies import Study
from ..theory.plateau import mean_plateau
from . import design
from .experiment import Curve, Experiment, Panel, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, ROW_HEIGHT, LEGEND_HEIGHT = 7.2, 1.9, 0.25  # inches
VIEWS = {
    "mean": "mean and 95 % t-interval",
    "quantiles": "median and middle half of the runs",
    "stuck": "fraction of runs stuck on a wrong arm",
}
PLATEAU = "exact plateau of LB-SGB"


def experiment_figure(experiment: Experiment, results: Results, view: str = "mean") -> Figure:
    """All panels of the mean view, with LB-SGB's exact plateau as a thin dashed line; the panels of p(a*) in other views."""
    rows = experiment.rows if view == "mean" else experiment.learning_rows
    with styled(small=True):
        entries = len(rows[0][0].curves) + (view == "mean")
        legend_rows = -(-entries // experiment.legend_columns)
        size = (WIDTH, ROW_HEIGHT * len(rows) + LEGEND_HEIGHT * legend_rows)
        figure, grid = panels(len(rows), len(rows[0]), size=size, squeeze=False, sharex=True)
        handles: dict[str, Any] = {}
        for row, axes_row in zip(rows, grid, strict=True):
            for panel, axes in zip(row, axes_row, strict=True):
                _panel(axes, panel, results, view, handles)
        _label_outer(grid, rows, experiment, view)
        if PLATEAU in handles:
            handles[PLATEAU] = handles.pop(PLATEAU)  # last in the legend
        runs, wanted = results.runs_of(experiment), results.store.study.runs
        if runs < wanted:
            figure.suptitle(f"{runs} of {wanted} runs, {results.horizon:,} steps", fontsize=8)
        columns = min(experiment.legend_columns, len(handles))
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns, handlelength=2.6)
    return figure


def _panel(axes: Axes, panel: Panel, results: Results, view: str, handles: dict[str, Any]) -> None:
    """Plot the curves and note a line of each label in `handles`, for the legend."""
    for curve in panel.curves:
        level = _plateau_level(panel, curve, results.store.study)
        if level is not None and view == "mean":
            line = axes.axhline(level, color=curve.colour, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
            handles.setdefault(PLATEAU, line)
        record = results.find(panel.n_arms, curve.rule)
        if record is not None:
            line = _curve(axes, record, panel.metric, curve, view)
            handles.setdefault(curve.label, line)
    axes.set(title=panel.title, xlim=(0, results.horizon))
    axes.locator_params(axis="x", nbins=3)
    axes.ticklabel_format(axis="x", style="sci", scilimits=(0, 0), useMathText=True)
    if panel.metric == "optimal_probability":
        axes.set_ylim(-0.02, 1.02)
    elif panel.metric == "min_probability":
        axes.set_yscale("log")
        axes.set_ylim(top=0.3)
    else:
        axes.set_ylim(bottom=0)
        axes.ticklabel_format(axis="y", style="sci", scilimits=(-3, 4), useMathText=True)


def _curve(axes: Axes, record: Record, metric: str, curve: Curve, view: str) -> Any:
    if view == "stuck":
        centre, band = record.stuck(), None
    elif view == "quantiles":
        low, centre, high = record.quantiles(metric, (0.25, 0.5, 0.75))
        band = low, high
    else:
        centre, band = record.mean(metric), record.interval(metric) if record.runs > 1 else None
    (line,) = axes.plot(record.steps, centre, color=curve.colour, linestyle=curve.style)
    if band is not None:
        axes.fill_between(record.steps, *band, color=curve.colour, alpha=0.18, linewidth=0)
    return line


def _plateau_level(panel: Panel, curve: Curve, study: Study) -> float | None:
    """Where the curve must end, for the metrics where that is one number."""
    if not isinstance(curve.rule, LogBarrierSGB) or panel.metric == "regret":
        return None
    optimal, least, _ = mean_plateau(design.instances(panel.n_arms), curve.rule.eta, study.seed, study.runs)
    return optimal if panel.metric == "optimal_probability" else least


def _label_outer(grid: Any, rows: tuple[tuple[Panel, ...], ...], experiment: Experiment, view: str) -> None:
    """Names of axes, once each: steps below the last row, values left of the first panel that shows them."""
    names = {"optimal_probability": r"$\pi(a^*)$", "min_probability": r"$\min_a\,\pi(a)$"}
    for axes in grid[-1]:
        axes.set_xlabel("step")
    for number, (row, axes_row) in enumerate(zip(rows, grid, strict=True)):
        shown = ""
        for panel, axes in zip(row, axes_row, strict=True):
            name = "runs stuck" if view == "stuck" else names.get(panel.metric, LABELS[panel.metric])
            if name != shown:
                axes.set_ylabel(name)
            shown = name
        label = experiment.row_labels[number] if len(rows) > 1 else ""
        if label:
            axes_row[0].set_ylabel(f"{label}\n{axes_row[0].get_ylabel()}")
