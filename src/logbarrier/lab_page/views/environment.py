"""Rules that learn in an environment: their scores over time, and where the policy of each goes in the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import LayoutDOM, LinearColorMapper

from ...mdps.pictures import mean_steps
from ...mdps.problem import FiniteMDP
from ..learning import Learning
from .curves import CurvesView, Metric
from .figure import new_figure, side_by_side, source

SCORE = Metric("score", "score (uniform play 0, optimum 1)")
RAREST = -6.0  # the logarithm of an occupancy plotted lightest
SHADES = ("#eef4fb", "#d3e3f3", "#abd0e6", "#7ab6d9", "#4b98c9", "#2474b6", "#0b559f", "#083877")
LONGEST = 0.42  # of an arrow, in cells
LARGEST = 6.0  # head of an arrow, in pixels, on grids of up to ten cells
CURVES_HEIGHT = 300
MAPS_WIDTH = 640  # of all maps, at least, where the page is wide enough for one row of them


def columns_of(mdp: FiniteMDP, policy: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
    """Cells (x, y, logarithm of the occupancy) and arrows along the policy's mean step."""
    rows, columns = mdp.shape or (1, mdp.n_states)
    down, right = np.divmod(mdp.states, columns)
    x, y = right.astype(float), rows - 1.0 - down
    steps = mean_steps(mdp, policy)
    tip_x, tip_y = x + LONGEST * steps[:, 0], y + LONGEST * steps[:, 1]
    level = np.log10(np.maximum(mdp.occupancy(policy), 10.0**RAREST))
    ink = np.where(level > RAREST / 2.0, "#ffffff", "#333333")
    turned = np.arctan2(steps[:, 1], steps[:, 0]) - np.pi / 2
    size = np.where(np.linalg.norm(steps, axis=1) > 0.05, LARGEST * min(1.0, 10.0 / max(rows, columns)), 0.0)
    return {
        "cells": {"x": x, "y": y, "level": level},
        "arrows": {"x0": x, "y0": y, "x1": tip_x, "y1": tip_y, "ink": ink, "angle": turned, "size": size},
    }


class EnvironmentView:
    """Learning curves, and below them a map per rule."""

    def __init__(self, spacing: str, labels: Sequence[str]) -> None:
        self._curves = CurvesView(SCORE, spacing)
        self._curves.layout.height = CURVES_HEIGHT
        self._maps = {label: _Map(label) for label in labels}
        maps = side_by_side([each.figure for each in self._maps.values()], narrowest=MAPS_WIDTH // len(labels))
        self.layout: LayoutDOM = column(self._curves.layout, maps, sizing_mode="stretch_width")

    def show(self, result: Learning) -> None:
        """Plot what is known of each rule."""
        self._curves.show(result)
        for label, policy in result.policies.items():
            self._maps[label].show(result.mdp, policy, float(result.records[label]["score"][0, -1]))

    def table(self, result: Learning) -> Iterable[Sequence[Any]]:
        """One row per rule, run and step."""
        return self._curves.table(result)

    def words(self, result: Learning) -> str:
        """Where each rule ends."""
        return self._curves.words(result) + ". Below, the policy at the end of run 0: darker is visited more"


class _Map:
    """The environment under the policy that one rule has learnt."""

    def __init__(self, label: str) -> None:
        self._label = label
        ranges: Any = {"x_range": (0.0, 1.0), "y_range": (0.0, 1.0)}  # until there is something to see
        self.figure = new_figure(title=label, height=None, aspect_ratio=0.9, toolbar_location=None, **ranges)
        self.figure.title.text_font_size = "12px"
        self.figure.axis.visible = False
        self.figure.grid.visible = False
        self._cells = source("x", "y", "level")
        self._arrows = source("x0", "y0", "x1", "y1", "ink", "angle", "size")
        shade: Any = {"field": "level", "transform": LinearColorMapper(palette=SHADES, low=RAREST, high=0.0)}
        self.figure.rect("x", "y", 0.96, 0.96, source=self._cells, fill_color=shade, line_color=None)
        self.figure.segment("x0", "y0", "x1", "y1", source=self._arrows, line_color="ink", line_width=1.5)
        self.figure.scatter("x1", "y1", source=self._arrows, marker="triangle", size="size", angle="angle", color="ink")

    def show(self, mdp: FiniteMDP, policy: np.ndarray, score: float) -> None:
        """Plot occupancy and policy."""
        columns = columns_of(mdp, policy)
        shape = mdp.shape or (1, mdp.n_states)
        for axis, size in ((self.figure.x_range, shape[1]), (self.figure.y_range, shape[0])):
            middle, half = (size - 1) / 2.0, max(shape) / 2.0
            axis.update(start=middle - half, end=middle + half)
        self._cells.data, self._arrows.data = columns["cells"], columns["arrows"]
        self.figure.title.text = f"{self._label}: {score:.2f}"
