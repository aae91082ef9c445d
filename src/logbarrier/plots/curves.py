"""Record -> figure. Statistics come from the record; nothing is computed here but what to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..record import Record
from .style import COLOURS, DASHES, panels, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BANDS = 9  # with more curves than that, bands hide one another
LEGEND_WIDTH = 150  # characters that fit below the panels, line samples included
LABELS = {
    "optimal_probability": "probability of the optimal arm",
    "min_probability": "smallest probability",
    "wrong_probability": "largest probability of a wrong arm",
    "regret": "cumulative regret",
    "suboptimality": "suboptimality",
    "gradient_norm": "gradient norm",
    "inverse_square_probability": r"$1/\pi(a^*)^2$",
    "entropy": "entropy",
}
OF_THE_MOMENT = {  # where a problem changes while it is played
    "optimal_probability": "probability of the present best arm",
    "wrong_probability": "largest probability of an arm that is not the present best",
    "regret": "cumulative dynamic regret",
}
SHORT = {"optimal_probability": "p(a*)"}
SHORT_OF_THE_MOMENT = {"optimal_probability": "p(present best)", "regret": "dynamic regret"}


def label_of(metric: str, changes: bool = False) -> str:
    """A metric in words; changes: of a problem that changes, whose best arm is that of the moment."""
    return (LABELS | OF_THE_MOMENT if changes else LABELS).get(metric, metric.replace("_", " "))


def short_label_of(metric: str, changes: bool = False) -> str:
    """The same as it fits a column."""
    return (SHORT | SHORT_OF_THE_MOMENT if changes else SHORT).get(metric, metric.replace("_", " "))


def learning_curves(records: Mapping[str, Record], metric: str = "optimal_probability") -> Figure:
    """Mean with 95 % t-band of each record, the middle half of its runs, and, where measured, the fraction of runs stuck."""
    columns, legend_rows = legend_below(records)
    with styled():
        size = (10.5, 3.0 + 0.2 * legend_rows)
        with_stuck = any("wrong_probability" in record.values for record in records.values())
        figure, (mean_axes, spread_axes, *stuck_axes) = panels(1, 3 if with_stuck else 2, size=size, sharex=True)
        for number, (label, record) in enumerate(records.items()):
            colour, dashes = look_of(number)
            banded = len(records) <= MOST_BANDS
            mean_band(mean_axes, record, metric, label, colour, dashes, banded)
            _quantile_band(spread_axes, record, metric, colour, dashes, banded)
            if "wrong_probability" in record.values:
                stuck_axes[0].plot(record.steps, record.stuck(), dashes, color=colour)
        mean_axes.set(title="mean and 95 % interval", ylabel=label_of(metric))
        spread_axes.set(title="median and middle 50 % of runs")
        for axes in stuck_axes:
            axes.set(title="runs stuck on a wrong arm", ylim=(-0.03, 1.03))
        if metric in ("optimal_probability", "wrong_probability"):
            mean_axes.set_ylim(-0.03, 1.03)
            spread_axes.set_ylim(-0.03, 1.03)
        for axes in (mean_axes, spread_axes, *stuck_axes):
            axes.set_xlabel("step")
            axes.ticklabel_format(axis="x", style="sci", scilimits=(-3, 5), useMathText=True)
        figure.legend(loc="outside lower center", ncols=columns)
    return figure


def standings(
    rows: Mapping[str, tuple[Record, bool]],
    metrics: Sequence[str] = ("regret", "optimal_probability"),
    *,
    changes: bool = False,
) -> Figure:
    """The final value of one or two metrics and the fraction stuck, one row per record, in the order given.

    The flag fills the mark; changes: as in `label_of`. Thick bars are 95 % t-intervals of the mean, thin ones go from 5 % to
    95 % of the runs.
    """
    from matplotlib.ticker import LogFormatterSciNotation, LogLocator

    with_stuck = all("wrong_probability" in record.values for record, _ in rows.values())
    widths = [3, 2][: len(metrics)] + [1] * with_stuck
    with styled():
        size = (10.5, 1.0 + 0.24 * len(rows))
        figure, panes = panels(1, len(widths), size=size, sharey=True, width_ratios=widths, squeeze=False)
        panes = panes[0]
        for height, (record, filled) in enumerate(rows.values()):
            for axes, metric in zip(panes, metrics, strict=False):
                _standing(axes, record, metric, height, filled)
            if with_stuck:
                panes[-1].barh(height, record.stuck_fraction(), color=COLOURS[1], height=0.6)
        for axes, metric in zip(panes, metrics, strict=False):
            axes.set(xlabel=f"final {short_label_of(metric, changes)}")
            if metric in ("optimal_probability", "wrong_probability"):
                axes.set_xlim(-0.03, 1.03)
            elif all(record[metric][:, -1].min() > 0 for record, _ in rows.values()):
                axes.set_xscale("log")
                axes.xaxis.set_minor_locator(LogLocator(subs=(2, 5)))  # all nine would run into each other
                axes.xaxis.set_minor_formatter(LogFormatterSciNotation(minor_thresholds=(3, 3)))
        panes[0].set(yticks=range(len(rows)), yticklabels=list(rows), ylim=(len(rows) - 0.4, -0.6))
        if with_stuck:
            panes[-1].set(xlabel="stuck", xlim=(0, 1.03))
    return figure


def _standing(axes: Axes, record: Record, metric: str, height: int, filled: bool) -> None:
    low, high = (bound[-1] for bound in record.interval(metric))
    thin_low, thin_high = (q[-1] for q in record.quantiles(metric, (0.05, 0.95)))
    axes.plot([thin_low, thin_high], [height] * 2, color=COLOURS[0], linewidth=0.8)
    if record.runs > 1:
        axes.plot([low, high], [height] * 2, color=COLOURS[0], linewidth=3.0, alpha=0.5)
    face = COLOURS[0] if filled else "white"
    axes.plot(record.mean(metric)[-1], height, "o", color=COLOURS[0], markerfacecolor=face, markersize=5)


def legend_below(records: Mapping[str, Record]) -> tuple[int, int]:
    """Columns and rows of a legend below the panels."""
    longest = max((len(label) for label in records), default=1)
    columns = max(1, min(len(records), LEGEND_WIDTH // (longest + 8)))
    return columns, -(-len(records) // columns)


def look_of(number: int) -> tuple[str, str]:
    """Colour and dashes of curve number 0, 1, ..."""
    return COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]


def mean_band(axes: Axes, record: Record, metric: str, label: str, colour: str, dashes: str, banded: bool) -> None:
    """A metric's mean over runs with its 95 % t-band, if banded."""
    low, high = record.interval(metric)
    axes.plot(record.steps, record.mean(metric), dashes, color=colour, label=label)
    if banded and record.runs > 1:
        axes.fill_between(record.steps, low, high, color=colour, alpha=0.2, linewidth=0)


def _quantile_band(axes: Axes, record: Record, metric: str, colour: str, dashes: str, banded: bool) -> None:
    low, median, high = record.quantiles(metric, (0.25, 0.5, 0.75))
    axes.plot(record.steps, median, dashes, color=colour)
    if banded:
        axes.fill_between(record.steps, low, high, color=colour, alpha=0.2, linewidth=0)
