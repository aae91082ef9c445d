"""Pulls against epsilon: a column for every instance, a row for every family of systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..plots.style import COLOURS, panels, styled
from .complexity import Measurement
from .systems import INSTANCES, Family, System

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = {"last": "-", "average": "--"}
WIDTH, ROW_HEIGHT, MARGIN = 10.5, 2.1, 0.7  # inches
STACKED = 1.35  # marks of what was not reached lie above the horizon, each system's by this factor above the one before


def complexity_figure(systems: Sequence[System], measurements: Sequence[Measurement]) -> Figure:
    """Last iterate solid, average dashed; a triangle above the horizon where the last iterate did not get there."""
    families = [family for family in Family if any(system.family is family for system in systems)]
    with styled():
        size = (WIDTH, ROW_HEIGHT * len(families) + MARGIN)
        figure, grid = panels(len(families), len(INSTANCES), size=size, sharex=True, sharey=True, squeeze=False)
        for row, family in zip(grid, families, strict=True):
            members = [system.name for system in systems if system.family is family]
            for axes, instance in zip(row, INSTANCES, strict=True):
                _pane(axes, members, [one for one in measurements if one.instance == instance.name])
            handles = [row[0].plot([], [], color=colour, label=name)[0] for name, colour in _coloured(members)]
            row[-1].legend(handles=handles, loc="center left", bbox_to_anchor=(1.02, 0.5), title=family.value, alignment="left")
            row[0].set_ylabel("pulls")
        for axes, instance in zip(grid[0], INSTANCES, strict=True):
            axes.set_title(instance.name)
        for axes in grid[-1]:
            axes.set_xlabel("epsilon")
        grid[0, 0].invert_xaxis()
        figure.suptitle("solid: last iterate   dashed: average iterate   triangle: not within the horizon (dotted)", fontsize=9)
    return figure


def _pane(axes: Axes, members: Sequence[str], measurements: Sequence[Measurement]) -> None:
    axes.set(xscale="log", yscale="log")
    if all(one.own_start for one in measurements if one.system in members):
        axes.text(0.97, 0.05, "from their own start", transform=axes.transAxes, ha="right", color="#666666")
    for number, (name, colour) in enumerate(_coloured(members)):
        for one in measurements:
            if one.system != name:
                continue
            pulls = np.array(one.pulls, dtype=np.float64)
            axes.plot(one.epsilons, pulls, LINES[one.iterate], color=colour, marker="o", markersize=2.5, linewidth=1.2)
            axes.axhline(one.horizon, color="#888888", linestyle=":", linewidth=0.8)
            if one.iterate == "last":
                missed = np.array(one.epsilons)[np.isnan(pulls)]
                height = one.horizon * STACKED ** (number + 1)
                axes.plot(missed, np.full(len(missed), height), "^", color=colour, markersize=4)


def _coloured(members: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, COLOURS[number % len(COLOURS)]) for number, name in enumerate(members)]
