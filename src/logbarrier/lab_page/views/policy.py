"""The policy of one run at a chosen moment, arms sorted by probability; rings mark the best arm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..jobs import Paths
from .distribution import moment
from .figure import new_figure, put_legend_above, source

MOST_POINTS = 400
FLOOR = 1e-12


def columns_of(result: Paths) -> dict[str, dict[str, list[Any]]]:
    """For each rule the sorted probabilities over their rank, thinned out for many arms, and the best arm's place."""
    lines: dict[str, list[Any]] = {"xs": [], "ys": [], "colour": [], "dash": [], "label": []}
    best: dict[str, list[Any]] = {"x": [], "y": [], "colour": []}
    arms = result.instance.n_arms
    ranks = np.unique(np.round(np.geomspace(1, arms, MOST_POINTS)).astype(int))
    for curve in result.curves:
        policy = _policy_of(result, curve.label)
        falling = np.sort(policy)[::-1]
        lines["xs"].append(ranks)
        lines["ys"].append(np.maximum(falling[ranks - 1], FLOOR))
        lines["colour"].append(curve.colour)
        lines["dash"].append(curve.dash)
        lines["label"].append(curve.label)
        own = policy[result.instance.optimal_arm]
        best["x"].append(int((policy > own).sum()) + 1)
        best["y"].append(max(float(own), FLOOR))
        best["colour"].append(curve.colour)
    return {"lines": lines, "best": best}


def _policy_of(result: Paths, label: str) -> np.ndarray:
    steps = result.steps
    c = moment(np.append(steps, result.state.horizon), result.state.at)
    return np.asarray(result.policies[label][0, min(c, len(steps) - 1)])


class PolicyView:
    """Sorted policies, both axes logarithmic."""

    def __init__(self) -> None:
        drawn = new_figure(
            x_axis_label="arms by falling probability (ring: the best arm)",
            y_axis_label="probability",
            x_axis_type="log",
            y_axis_type="log",
        )
        self._lines, self._best = source("xs", "ys", "colour", "dash", "label"), source("x", "y", "colour")
        drawn.multi_line(
            "xs", "ys", source=self._lines, line_color="colour", line_dash="dash", line_width=2.5, legend_field="label"
        )
        drawn.scatter("x", "y", source=self._best, size=14, fill_color=None, line_color="colour", line_width=3)
        put_legend_above(drawn)
        self.layout = drawn

    def show(self, result: Paths) -> None:
        """Plot the policies at the state's moment."""
        columns = columns_of(result)
        self._lines.data, self._best.data = columns["lines"], columns["best"]

    def table(self, result: Paths) -> Iterable[Sequence[Any]]:
        """One row per rule and arm."""
        yield ("rule", "arm", "mean_reward", "probability")
        means = result.instance.means.tolist()
        for curve in result.curves:
            for arm, probability in enumerate(_policy_of(result, curve.label).tolist()):
                yield (curve.label, arm, means[arm], probability)

    def words(self, result: Paths) -> str:
        """What the likeliest and the best arm have."""
        said = []
        for curve in result.curves:
            policy = _policy_of(result, curve.label)
            said.append(
                f"{curve.label}: likeliest arm {policy.max():.3g}, best arm {policy[result.instance.optimal_arm]:.3g}, "
                f"least likely {policy.min():.2g}"
            )
        return "One run's policy. " + "; ".join(said)
