"""Records of a problem that changes -> figure: its mean rewards, who holds the best arm of the moment, and what is lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..record import Record
from .curves import MOST_BANDS, legend_below, mean_band
from .panel import look_of
from .style import panels, styled
from .words import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWN = ("optimal_probability", "regret")  # a panel each, where they were measured
MOST_ARMS = 20  # whose means are drawn; those that are the best one at some time come first
POINTS = 600  # of each of these lines
GREYS = ("#888888", "#aaaaaa", "#666666", "#bbbbbb")  # colours stand for rules
SHORTEST_NAMED = 0.03  # of the horizon: an arm that is the best for less is not named


def changing_curves(records: Mapping[str, Record], steps: np.ndarray, means: np.ndarray) -> Figure:
    """Mean rewards of the arms over time, and below them the share of the present best arm and the dynamic regret.

    records                   of one problem, by label: their means over runs, and 95 % t-bands of the regret
    steps (S,), means (S, K)  the mean rewards of one run, for the first panel
    """
    drawn = [metric for metric in DRAWN if all(metric in record.values for record in records.values())]
    columns, legend_rows = legend_below(records)
    with styled():
        size = (10.5, 1.9 * (1 + len(drawn)) + 0.2 * legend_rows)
        figure, panes = panels(1 + len(drawn), 1, size=size, sharex=True, squeeze=False)
        means_axes, *others = panes[:, 0]
        _draw_means(means_axes, steps, means)
        for axes, metric in zip(others, drawn, strict=True):
            banded = metric == "regret" and len(records) <= MOST_BANDS
            for number, (label, record) in enumerate(records.items()):
                shown = label if axes is others[0] else "_"  # one entry each in the legend
                mean_band(axes, record, metric, shown, *look_of(number), banded)
            axes.set_title(f"{label_of(metric, changes=True)}, mean over runs")
            if metric == "optimal_probability":
                axes.set_ylim(-0.03, 1.03)
        panes[-1, 0].set(xlabel="step", xlim=(steps[0], steps[-1] + 1))
        panes[-1, 0].ticklabel_format(axis="x", style="sci", scilimits=(-3, 5), useMathText=True)
        if drawn:
            figure.legend(loc="outside lower center", ncols=columns)
    return figure


def moments(horizon: int) -> np.ndarray:
    """The steps (S,) at which the means of a run of that length are drawn."""
    return np.linspace(0, horizon - 1, POINTS).astype(np.int64)


def _draw_means(axes: Axes, steps: np.ndarray, means: np.ndarray) -> None:
    """A thin line per arm; the largest mean of each moment in bold, with the number of its arm."""
    leader, top = means.argmax(axis=1), means.max(axis=1)
    often = np.unique(leader)
    shown = [*often, *np.setdiff1d(np.arange(means.shape[1]), often)][:MOST_ARMS]
    for number, arm in enumerate(shown):
        axes.plot(steps, means[:, arm], color=GREYS[number % len(GREYS)], linewidth=0.8)
    axes.plot(steps, top, color="black", linewidth=2.0)
    changes = np.flatnonzero(np.diff(leader)) + 1
    for first, last in zip([0, *changes], [*changes, len(steps)], strict=True):
        if last - first >= SHORTEST_NAMED * len(steps):
            middle = (first + last) // 2
            place = steps[middle], top[middle]
            axes.annotate(str(leader[middle]), place, (0, 4), textcoords="offset points", ha="center", fontsize=8)
    axes.margins(y=0.15)
    some = "" if len(shown) == means.shape[1] else f" ({len(shown)} of {means.shape[1]})"
    axes.set_title(f"mean rewards of the arms in run 0{some}; in bold the best, with its number")
