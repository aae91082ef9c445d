"""Three arms on the simplex: paths of single runs, the mean motion of the policy, level lines of the barrier, the maximiser.

The best arm's corner is at the right, the second best at the left, the worst on top.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from bokeh.models import LayoutDOM

from ...bandits.algorithms.log_barrier_sgb import LogBarrierSGB
from ...bandits.algorithms.rule import Rule, TwoScalarRule
from ...theory.maximiser import maximiser
from ..jobs import Paths
from ..rules import Curve
from ..simplex import CORNERS, policy_grid, policy_motion
from .figure import new_figure, side_by_side, source

MOST_PANELS = 4
LEVELS = (-3.6, -4.2, -5.0, -6.0, -7.5, -9.5, -12.0)  # of sum log p, which is -3 log 3 = -3.3 in the middle
ARROWS = 12
RUN_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")


def places(means: np.ndarray) -> np.ndarray:
    """The corner (3, 2) of each arm: the best at the right, the second at the left, the worst on top."""
    corners = np.empty((3, 2))
    worst, second, best = np.argsort(means, kind="stable")
    corners[best], corners[second], corners[worst] = CORNERS[1], CORNERS[0], CORNERS[2]
    return corners


def field(rule: Rule, means: np.ndarray) -> dict[str, np.ndarray]:
    """Arrows along the policy's mean motion: x0, y0, x1, y1 and the angle of their heads; fainter where slower."""
    if not isinstance(rule, TwoScalarRule):
        return {name: np.empty(0) for name in ("x0", "y0", "x1", "y1", "angle", "alpha")}
    grid, corners = policy_grid(ARROWS), places(means)
    motion = np.array([policy_motion(rule, policy, means) for policy in grid]) @ corners
    speed = np.linalg.norm(motion, axis=1)
    direction = motion / np.maximum(speed, 1e-300)[:, None]
    begin = grid @ corners - 0.02 * direction
    end = begin + 0.04 * direction
    return {
        "x0": begin[:, 0],
        "y0": begin[:, 1],
        "x1": end[:, 0],
        "y1": end[:, 1],
        "angle": np.arctan2(direction[:, 1], direction[:, 0]) - np.pi / 2,
        "alpha": 0.25 + 0.75 * np.sqrt(speed / max(float(speed.max()), 1e-300)),
    }


@cache
def level_lines() -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The closed lines of equal sum_a log p(a), as (xs, ys): the barrier times eta.

    The sum falls along every ray from the middle, so each ray meets each level once; where is found by bisection.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, 181)
    plane = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])
    rays = np.column_stack([np.cos(angles), np.sin(angles)]) @ plane
    to_edge = (1.0 / 3.0) / (-rays).max(axis=1, keepdims=True)
    xs, ys = [], []
    for level in LEVELS:
        near, far = np.zeros_like(to_edge), to_edge
        for _ in range(50):
            middle = (near + far) / 2.0
            inside = np.log(1.0 / 3.0 + middle * rays).sum(axis=1, keepdims=True) > level
            near, far = np.where(inside, middle, near), np.where(inside, far, middle)
        line = (1.0 / 3.0 + near * rays) @ CORNERS
        xs.append(line[:, 0])
        ys.append(line[:, 1])
    return xs, ys


class SimplexView:
    """One panel per curve, at most four."""

    def __init__(self, curves: list[Curve]) -> None:
        self._panels = [_Panel(curve) for curve in curves[:MOST_PANELS]]
        self.layout: LayoutDOM = side_by_side([panel.figure for panel in self._panels])

    def show(self, result: Paths) -> None:
        """Plot the paths up to the state's moment."""
        last = int(np.searchsorted(result.steps, result.state.at * result.state.horizon, side="right"))
        for panel, curve in zip(self._panels, result.curves, strict=False):
            panel.show(result.policies[curve.label][:, : max(last, 1)], curve.rule, result.instance.means)

    def table(self, result: Paths) -> Iterable[Sequence[Any]]:
        """One row per rule, run and step."""
        yield ("rule", "run", "step", "p0", "p1", "p2")
        for curve in result.curves:
            for run, path in enumerate(result.policies[curve.label]):
                for step, policy in zip(result.steps.tolist(), path.tolist(), strict=True):
                    yield (curve.label, run, step, *policy)

    def words(self, result: Paths) -> str:
        """Where the runs of each rule are."""
        best = result.instance.optimal_arm
        return f"p(a*) of {len(next(iter(result.policies.values())))} runs on three arms. " + "; ".join(
            f"{curve.label}: " + ", ".join(f"{p:.2f}" for p in result.policies[curve.label][:, -1, best])
            for curve in result.curves[:MOST_PANELS]
        )


class _Panel:
    """The simplex of one rule."""

    def __init__(self, curve: Curve) -> None:
        self.figure = new_figure(
            title=curve.label,
            height=None,
            aspect_ratio=1.1,
            x_range=(-0.14, 1.14),
            y_range=(-0.09, 0.96),
            toolbar_location=None,
        )
        self.figure.axis.visible = False
        self.figure.grid.visible = False
        self._field = source("x0", "y0", "x1", "y1", "angle", "alpha")
        self._paths, self._ends = source("xs", "ys", "colour"), source("x", "y", "colour")
        self._marks, self._star = source("x", "y"), source("x", "y")
        xs, ys = level_lines()
        self.figure.multi_line(xs, ys, line_color="#999999", line_alpha=0.35, line_dash="dotted")
        self.figure.line(*CORNERS[[0, 1, 2, 0]].T, line_color="#888888")
        self.figure.segment("x0", "y0", "x1", "y1", source=self._field, line_color="#888888", line_alpha="alpha")
        self.figure.scatter(
            "x1", "y1", source=self._field, marker="triangle", size=5, angle="angle", color="#888888", alpha="alpha"
        )
        self.figure.multi_line("xs", "ys", source=self._paths, line_color="colour", line_width=1.2, line_alpha=0.85)
        self.figure.scatter("x", "y", source=self._ends, size=9, color="colour")
        self.figure.scatter("x", "y", source=self._marks, size=10, fill_color="white", line_color="#444444")
        self.figure.scatter("x", "y", source=self._star, marker="star", size=16, color="#000000", line_color="white")
        self.figure.text(
            [0.0, 1.0, 0.5], [-0.03, -0.03, 0.88], ["second", "best arm", "worst"], text_align="center",
            text_baseline=["top", "top", "bottom"], text_font_size="12px", text_color="#888888",
        )  # fmt: skip

    def show(self, paths: np.ndarray, rule: Rule, means: np.ndarray) -> None:
        """Paths (runs, snapshots, 3) of a rule under mean rewards (3,)."""
        corners = places(means)
        points = paths @ corners
        colours = [RUN_COLOURS[run % len(RUN_COLOURS)] for run in range(len(paths))]
        self._field.data = field(rule, means)
        self._paths.data = {"xs": list(points[:, :, 0]), "ys": list(points[:, :, 1]), "colour": colours}
        self._ends.data = {"x": points[:, -1, 0], "y": points[:, -1, 1], "colour": colours}
        self._marks.data = {"x": points[:1, 0, 0], "y": points[:1, 0, 1]}
        star = maximiser(means, rule.eta).policy[None] @ corners if isinstance(rule, LogBarrierSGB) else np.empty((0, 2))
        self._star.data = {"x": star[:, 0], "y": star[:, 1]}
