"""A grid under four regularisers: where the best policy of each goes, and what it does there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from bokeh.models import LinearColorMapper

from ...mdps.exact import Maximum
from ...mdps.pictures import mean_steps
from ...mdps.problem import FiniteMDP
from ..environments import Maxima, objectives
from .figure import new_figure, side_by_side, source

RAREST = -6.0  # the logarithm of an occupancy plotted lightest
SHADES = ("#eef4fb", "#d3e3f3", "#abd0e6", "#7ab6d9", "#4b98c9", "#2474b6", "#0b559f", "#083877")
LONGEST = 0.42  # of an arrow, in cells


def columns_of(mdp: FiniteMDP, best: Maximum) -> dict[str, dict[str, np.ndarray]]:
    """Cells (x, y, logarithm of the occupancy) and arrows along the policy's mean step."""
    rows, columns = mdp.shape or (1, mdp.n_states)
    down, right = np.divmod(mdp.states, columns)
    x, y = right.astype(float), rows - 1.0 - down
    steps = mean_steps(mdp, best.policy)
    tip_x, tip_y = x + LONGEST * steps[:, 0], y + LONGEST * steps[:, 1]
    level = np.log10(np.maximum(best.occupancy, 10.0**RAREST))
    ink = np.where(level > RAREST / 2.0, "#ffffff", "#333333")
    turned = np.arctan2(steps[:, 1], steps[:, 0]) - np.pi / 2
    size = np.where(np.linalg.norm(steps, axis=1) > 0.05, 6.0, 0.0)
    return {
        "cells": {"x": x, "y": y, "level": level},
        "arrows": {"x0": x, "y0": y, "x1": tip_x, "y1": tip_y, "ink": ink, "angle": turned, "size": size},
    }


class EnvironmentView:
    """One panel per regulariser."""

    def __init__(self) -> None:
        self._panels = {label: _Panel(label) for label in objectives(1.0)}
        self.layout = side_by_side([panel.figure for panel in self._panels.values()])

    def show(self, result: Maxima) -> None:
        """Plot the maxima that are known."""
        for label, best in result.found.items():
            self._panels[label].show(result.mdp, best)

    def table(self, result: Maxima) -> Iterable[Sequence[Any]]:
        """One row per regulariser, state and action."""
        yield ("regulariser", "state", "action", "probability", "occupancy")
        for label, best in result.found.items():
            for state, row in enumerate(best.policy.tolist()):
                for action, probability in enumerate(row):
                    yield (label, state, action, probability, float(best.occupancy[state]))

    def words(self, result: Maxima) -> str:
        """What each policy earns and how rarely it goes somewhere."""
        most = result.mdp.optimal_performance
        return f"Share of the best possible reward ({most:.3g}), and the least visited state: " + "; ".join(
            f"{label} {best.performance / most:.0%}, {best.occupancy.min():.1g}" for label, best in result.found.items()
        )


class _Panel:
    """The environment under one regulariser."""

    def __init__(self, label: str) -> None:
        self._label = label
        self.figure = new_figure(title=label, height=None, aspect_ratio=1.0, toolbar_location=None, match_aspect=True)
        self.figure.axis.visible = False
        self.figure.grid.visible = False
        self._cells = source("x", "y", "level")
        self._arrows = source("x0", "y0", "x1", "y1", "ink", "angle", "size")
        shade: Any = {"field": "level", "transform": LinearColorMapper(palette=SHADES, low=RAREST, high=0.0)}
        self.figure.rect("x", "y", 0.96, 0.96, source=self._cells, fill_color=shade, line_color=None)
        self.figure.segment("x0", "y0", "x1", "y1", source=self._arrows, line_color="ink", line_width=1.5)
        self.figure.scatter("x1", "y1", source=self._arrows, marker="triangle", size="size", angle="angle", color="ink")

    def show(self, mdp: FiniteMDP, best: Maximum) -> None:
        """Plot occupancy and policy."""
        columns = columns_of(mdp, best)
        self._cells.data, self._arrows.data = columns["cells"], columns["arrows"]
        self.figure.title.text = f"{self._label}: {best.performance / mdp.optimal_performance:.0%} of the best"
