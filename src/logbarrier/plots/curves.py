"""Record -> figure. Statistics come from the record; nothing is computed here but what to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, overload

from ..record import Record
from .panel import default_metric, draw, look_of, named_records
from .style import COLOURS, panels, styled
from .words import label_of, short_label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Records = Mapping[str, Record] | Sequence[Record] | Record
Names = Sequence[str] | Mapping[str, str] | None
MOST_BANDS = 9  # with more curves than that, bands hide one another
LEGEND_WIDTH = 150  # characters that fit below the panels, line samples included


@overload
def learning_curves(
    records: Records, metric: str | None = ..., *, ax: None = None, labels: Names = ..., band: str = ..., scale: str = ...
) -> Figure: ...
@overload
def learning_curves(
    records: Records, metric: str | None = ..., *, ax: Axes, labels: Names = ..., band: str = ..., scale: str = ...
) -> Axes: ...
def learning_curves(
    records: Records,
    metric: str | None = None,
    *,
    ax: Axes | None = None,
    labels: Names = None,
    band: str = "interval",
    scale: str = "linear",
) -> Figure | Axes:
    """Plot records together: one panel on `ax`, or a figure of its own with the spread of the runs and those that are stuck.

    records  by label, a list, or one record
    metric   what to plot; by default the one that says most, such as optimal_probability
    ax       Matplotlib axes to plot on; they are returned, and nothing but their own panel is changed
    labels   names for the legend: one per record, or by present label
    band     "interval": the mean with its 95 % t-interval; "quantiles": the median with the middle half of the runs; "none"
    scale    "linear", "log" (values) or "log-log" (values and steps)

    Without `ax` the figure shows the mean, the middle half of the runs and, where measured, the fraction of runs stuck.

    >>> import logbarrier as lb
    >>> from matplotlib.figure import Figure
    >>> record = lb.simulate(lb.SGB(learning_rate=0.1), lb.GapInstances(n_arms=3), horizon=50, runs=4, seed=0)
    >>> ax = Figure().subplots()
    >>> lb.plots.learning_curves({"SGB": record}, metric="regret", ax=ax).get_ylabel()
    'cumulative regret'
    """
    if ax is not None:
        return draw(ax, records, metric, labels=labels, band=band, scale=scale)
    named = named_records(records, labels)
    return overview(named, metric or default_metric(named), scale=scale)


def overview(records: Mapping[str, Record], metric: str, *, scale: str = "linear", with_regret: bool = False) -> Figure:
    """Mean with interval, the middle half of the runs, runs that are stuck, and the regret, each where it was measured."""
    columns, legend_rows = legend_below(records)
    with_stuck = any("wrong_probability" in record.values for record in records.values())
    with_regret = with_regret and metric != "regret" and all("regret" in record.values for record in records.values())
    banded = len(records) <= MOST_BANDS
    with styled():
        count = 2 + with_stuck + with_regret
        figure, panes = panels(1, count, size=(max(10.5, 3.2 * count), 3.0 + 0.2 * legend_rows), sharex=True)
        mean_axes, spread_axes = panes[0], panes[1]
        for number, (label, record) in enumerate(records.items()):
            colour, dashes = look_of(number)
            mean_band(mean_axes, record, metric, label, colour, dashes, banded)
            _quantile_band(spread_axes, record, metric, colour, dashes, banded)
            if "wrong_probability" in record.values:
                panes[2].plot(record.steps, record.stuck(), dashes, color=colour)
            if with_regret:
                mean_band(panes[-1], record, "regret", "_", colour, dashes, banded)
        mean_axes.set(title="mean and 95 % interval", ylabel=label_of(metric))
        spread_axes.set(title="median and middle 50 % of runs")
        if with_stuck:
            panes[2].set(title="runs stuck on a wrong arm", ylim=(-0.03, 1.03))
        if with_regret:
            panes[-1].set(title=label_of("regret"))
        for axes in (mean_axes, spread_axes):
            if metric in ("optimal_probability", "wrong_probability"):
                axes.set_ylim(-0.03, 1.03)
            if scale != "linear":
                axes.set_yscale("log")
        for axes in panes:
            axes.set_xlabel("step")
            if scale == "log-log":
                axes.set_xscale("log")
            else:
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
