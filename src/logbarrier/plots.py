"""Record -> figure. Statistics come from the record; nothing is computed here but what to draw."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colour-blind safe (Okabe and Ito 2008) and of falling lightness, so that grey prints can be told apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "savefig.dpi": 160,
    "svg.hashsalt": "logbarrier",
}
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


def learning_curves(records: Mapping[str, Record], metric: str = "optimal_probability") -> Figure:
    """Mean with 95 % t-band of each record, the middle half of the runs below it, and the fraction of runs stuck."""
    import matplotlib

    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        figure, (mean_axes, spread_axes, stuck_axes) = plt.subplots(
            1, 3, figsize=(10.5, 3.2), layout="constrained", sharex=True
        )
        for (label, record), colour in zip(records.items(), COLOURS * (1 + len(records) // len(COLOURS)), strict=False):
            _mean_band(mean_axes, record, metric, label, colour)
            _quantile_band(spread_axes, record, metric, colour)
            if "wrong_probability" in record.values:
                stuck_axes.plot(record.steps, record.stuck(), color=colour)
        mean_axes.set(title="mean and 95 % interval", ylabel=LABELS[metric])
        spread_axes.set(title="median and middle 50 % of runs")
        stuck_axes.set(title="runs stuck on a wrong arm", ylim=(-0.03, 1.03))
        if metric in ("optimal_probability", "wrong_probability"):
            mean_axes.set_ylim(-0.03, 1.03)
            spread_axes.set_ylim(-0.03, 1.03)
        for axes in (mean_axes, spread_axes, stuck_axes):
            axes.set_xlabel("step")
            axes.ticklabel_format(axis="x", style="sci", scilimits=(-3, 5), useMathText=True)
        longest = max((len(label) for label in records), default=1)
        figure.legend(loc="outside lower center", ncols=max(1, min(len(records), LEGEND_WIDTH // (longest + 8))))
    return figure


def check_figure_name(path: str | Path) -> Path:
    """The path, if its ending is one that can be drawn."""
    if Path(path).suffix not in (".png", ".pdf", ".svg"):
        raise ValueError(f"plot: the file must end in .png, .pdf or .svg, got {Path(path).name!r}")
    return Path(path)


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write the figure in the format its file name says (png, pdf, svg), free of dates so that reruns give the same bytes."""
    target = check_figure_name(path)
    dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        figure.savefig(target, metadata=dates.get(target.suffix))
    plt.close(figure)
    return target


def _mean_band(axes: Axes, record: Record, metric: str, label: str, colour: str) -> None:
    low, high = record.interval(metric)
    axes.plot(record.steps, record.mean(metric), color=colour, label=label)
    if record.runs > 1:
        axes.fill_between(record.steps, low, high, color=colour, alpha=0.2, linewidth=0)


def _quantile_band(axes: Axes, record: Record, metric: str, colour: str) -> None:
    low, median, high = record.quantiles(metric, (0.25, 0.5, 0.75))
    axes.plot(record.steps, median, color=colour)
    axes.fill_between(record.steps, low, high, color=colour, alpha=0.2, linewidth=0)
