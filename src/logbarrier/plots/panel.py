"""One panel of learning curves on the caller's axes, and a grid of such panels with one legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..base import validate
from ..base.failure import WrongTypeError
from ..record import Record
from .style import COLOURS, DASHES, panels, styled
from .words import label_of, short_label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BANDS = ("interval", "quantiles", "none")
SCALES = ("linear", "log", "log-log")
SHARES = ("optimal_probability", "wrong_probability", "coverage")  # metrics whose panels show all of 0 to 1
GRID_DASHES: Any = ("-", (0, (5, 1.5)), (0, (6, 1.5, 1.2, 1.5)), (0, (1, 1.2)))  # every curve its own, also in grey prints
WIDTH, ROW_HEIGHT, LEGEND_HEIGHT = 7.2, 1.9, 0.25  # inches; the text width of most papers
LETTERS = 16  # of the legend in an inch


def draw(
    ax: Axes,
    records: Mapping[str, Record] | Sequence[Record] | Record,
    metric: str | None = None,
    *,
    labels: Sequence[str] | Mapping[str, str] | None = None,
    band: str = "interval",
    scale: str = "linear",
) -> Axes:
    """Plot the mean of each record on `ax`; see `learning_curves`."""
    validate.choice("learning_curves", "band", band, BANDS)
    validate.choice("learning_curves", "scale", scale, SCALES)
    named = named_records(records, labels)
    metric = metric or default_metric(named)
    for number, (label, record) in enumerate(named.items()):
        colour, dashes = look_of(number)
        centre, limits = _centre(record, metric, band)
        ax.plot(record.steps, centre, dashes, color=colour, label=label)
        if limits is not None:
            ax.fill_between(record.steps, *limits, color=colour, alpha=0.2, linewidth=0)
    ax.set(xlabel="step", ylabel=label_of(metric))
    if scale == "linear":
        ax.ticklabel_format(axis="x", style="sci", scilimits=(-3, 5), useMathText=True)
        if metric in SHARES:
            ax.set_ylim(-0.03, 1.03)
    else:
        ax.set_yscale("log")
        if scale == "log-log":
            ax.set_xscale("log")
    return ax


def curve_grid(
    rows: Sequence[Sequence[Mapping[str, Record]]],
    metric: str | None = None,
    *,
    titles: Sequence[str] = (),
    row_labels: Sequence[str] = (),
    band: str = "interval",
    scale: str = "linear",
) -> Figure:
    """One panel per entry of `rows`, such as alpha down and K across, with one legend: the layout of the paper's figure 1.

    rows        the records of each panel by label; a label has one colour in the whole figure
    titles      above the columns; row_labels: left of the rows
    band, scale as in `learning_curves`
    """
    if not rows or len({len(row) for row in rows}) != 1 or not rows[0]:
        raise ValueError(f"curve_grid: every row must have the same number of panels, got {[len(row) for row in rows]}")
    order = list(dict.fromkeys(label for row in rows for records in row for label in records))
    with styled(small=True):
        width = WIDTH if len(rows[0]) > 1 else WIDTH / 2
        columns = max(1, min(len(order), int(LETTERS * width) // (max(map(len, order)) + 7)))
        size = (width, ROW_HEIGHT * len(rows) + LEGEND_HEIGHT * -(-len(order) // columns) + 0.2)
        figure, grid = panels(len(rows), len(rows[0]), size=size, squeeze=False, sharex=True, sharey=True)
        handles: dict[str, Any] = {}
        for i, row in enumerate(rows):
            for j, records in enumerate(row):
                if not records:
                    continue
                axes, name = grid[i, j], short_label_of(metric or default_metric(records))
                draw(axes, records, metric, band=band, scale=scale)
                _same_looks(axes, order, handles)
                axes.set(title=titles[j] if i == 0 and j < len(titles) else "", xlabel="step" if i == len(rows) - 1 else "")
                axes.set_ylabel("" if j else f"{row_labels[i]}\n{name}" if i < len(row_labels) else name)
                if scale != "log-log":
                    axes.locator_params(axis="x", nbins=4)
                    axes.ticklabel_format(axis="x", style="sci", scilimits=(0, 0), useMathText=True)
        figure.legend([handles[label] for label in order], order, loc="outside lower center", ncols=columns, handlelength=2.6)
    return figure


def default_metric(records: Mapping[str, Record]) -> str:
    """Return the metric that says most and that all records have."""
    shared = [name for name in next(iter(records.values())).metrics if all(name in each.values for each in records.values())]
    return next((name for name in ("optimal_probability", "score", "return", "regret") if name in shared), shared[0])


def look_of(number: int) -> tuple[str, str]:
    """Colour and dashes of curve number 0, 1, ..."""
    return COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]


def _same_looks(axes: Axes, order: list[str], handles: dict[str, Any]) -> None:
    """Give each line and its band the colour and dashes of its label, which is the same in all panels."""
    lines = axes.get_lines()
    bands = list(axes.collections) if len(axes.collections) == len(lines) else [None] * len(lines)
    for line, band in zip(lines, bands, strict=True):
        number = order.index(str(line.get_label()))
        colour = COLOURS[number % len(COLOURS)]
        line.set(color=colour, linestyle=GRID_DASHES[number % len(GRID_DASHES)])
        if band is not None:
            band.set_facecolor(colour)
        handles.setdefault(str(line.get_label()), line)


def _centre(record: Record, metric: str, band: str) -> tuple[Any, Any]:
    """The line of a record and the limits of its band, None where it has none."""
    if band == "quantiles":
        low, median, high = record.quantiles(metric, (0.25, 0.5, 0.75))
        return median, (low, high)
    limits = record.interval(metric) if band == "interval" and record.runs > 1 else None
    return record.mean(metric), limits


def named_records(records: Any, labels: Any) -> dict[str, Record]:
    """The records by the labels of the legend."""
    if isinstance(records, Record):
        records = [records]
    if isinstance(records, Mapping):
        names = {key: labels.get(key, key) for key in records} if isinstance(labels, Mapping) else None
        chosen = list(names.values()) if names else list(labels) if labels is not None else list(records)
        found = list(records.values())
    else:
        found = list(records)
        chosen = list(labels) if labels is not None else [str(each.settings.get("rule", {}).get("rule", "")) for each in found]
    if not found or not all(isinstance(each, Record) for each in found):
        raise WrongTypeError(f"learning_curves: records must be records by label, or a list of them, got {records!r}")
    if len(chosen) != len(found) or len(set(chosen)) != len(chosen):
        raise ValueError(f"learning_curves: labels must differ, one for each of {len(found)} records, got {chosen}")
    return dict(zip(chosen, found, strict=True))
