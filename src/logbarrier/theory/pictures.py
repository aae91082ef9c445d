"""Pictures of the theory: the eta trade-off of a plan, and the simplex of three arms.

`python -m logbarrier.theory.pictures FOLDER` draws those of docs/theory.md.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import softmax as geometry
from ..algorithms import NPG, SGB, EntropySGB, LogBarrierSGB, TwoScalarRule
from ..plots import COLOURS, STYLE, save_figure
from ..softmax import softmax
from .maximiser import maximiser
from .paths import sample_path
from .planning import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3.0) / 2.0]])  # where arms 0, 1, 2 are certain
MEANS = np.array([0.6, 1.0, 0.0])  # arm 1 is best, arm 0 tempts
SIMPLEX_RULES: tuple[tuple[str, TwoScalarRule], ...] = (
    ("SGB", SGB(learning_rate=0.2)),
    ("NPG", NPG(learning_rate=0.2)),
    ("ENT, tau 0.05", EntropySGB(learning_rate=0.2, tau=0.05)),
    ("LB-SGB, eta 60", LogBarrierSGB(learning_rate=0.2, eta=60.0)),
)
SIMPLEX_ETA = 60.0
START = np.array([0.6, 0.1, 0.3])


def trade_off(plan: Plan) -> Figure:
    """p(a*) measured against the exact plateau, and what the barrier costs against how many runs are stuck, over eta."""
    plt = _pyplot()
    eta, plateau = np.array(plan.curve).T[:2]
    tried = np.array([(c.eta, c.optimal_probability, c.low, c.high, c.stuck_fraction) for c in plan.searched]).T
    with plt.rc_context(STYLE):
        figure: Figure
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.3), layout="constrained", sharex=True)
        left.plot(eta, plateau, color=COLOURS[0], label="plateau (exact)")
        errors = np.abs(tried[2:4] - tried[1])
        left.errorbar(tried[0], tried[1], yerr=errors, fmt="o", ms=4, color=COLOURS[1], label="simulated, 95 %")
        left.set(xscale="log", xlabel="eta", ylabel="final probability of the optimal arm", ylim=(-0.03, 1.03))
        right.plot(eta, 1.0 - plateau, color=COLOURS[0], label="probability off the optimal arm at the plateau")
        right.plot(tried[0], tried[4], "o-", ms=4, color=COLOURS[1], label="runs stuck on a wrong arm")
        right.set(xlabel="eta", ylabel="share", ylim=(-0.03, 1.03))
        for axes in (left, right):
            axes.axvline(plan.recommendation.eta, color="#888888", linestyle=":", linewidth=1)
            axes.legend(loc="best")
        figure.suptitle(
            f"{plan.n_arms:,} arms, gap {plan.gap:g}, {plan.horizon:,} pulls, alpha {plan.recommendation.learning_rate:g}"
        )
    return figure


def simplex_paths(*, runs: int = 6, steps: int = 4000, seed: int = 0) -> Figure:
    """The expected motion of the policy and a few sample paths of four rules on three arms, from a bad start (white)."""
    plt = _pyplot()
    with plt.rc_context(STYLE):
        figure: Figure
        figure, panels = plt.subplots(1, len(SIMPLEX_RULES), figsize=(10.5, 2.7), layout="constrained")
        for axes, (label, rule) in zip(panels, SIMPLEX_RULES, strict=True):
            _frame(axes)
            grid = _grid(14)
            motion = np.array([_policy_motion(rule, p) for p in grid]) @ CORNERS
            length = np.linalg.norm(motion, axis=1, keepdims=True)
            arrows = motion / np.maximum(length, 1e-12)
            axes.quiver(*(grid @ CORNERS).T, *arrows.T, length[:, 0], cmap="Greys", norm="log", scale=26, width=0.006)
            for run in range(runs):
                path = sample_path(rule, MEANS, start=START, steps=steps, seed=seed + run)
                axes.plot(*(path @ CORNERS).T, color=COLOURS[run % 6], linewidth=0.5, alpha=0.8)
                axes.plot(*(path[-1] @ CORNERS), "o", ms=4, color=COLOURS[run % 6])
            axes.plot(*(START @ CORNERS), "o", ms=5, mfc="white", mec="black", zorder=5)
            if isinstance(rule, LogBarrierSGB):
                axes.plot(*(maximiser(MEANS, rule.eta).policy @ CORNERS), "k*", ms=8, zorder=5)
            axes.set_title(label)
        return figure


def fisher_surface() -> Figure:
    """log det of the Fisher matrix over the simplex, and the objective it bends: J and Phi_eta."""
    plt = _pyplot()
    grid = _grid(120)
    heights = {
        "log det F = sum log p": np.log(grid).sum(axis=1),
        "J": grid @ MEANS,
        f"Phi, eta {SIMPLEX_ETA:g}": grid @ MEANS + np.log(grid).sum(axis=1) / SIMPLEX_ETA,
    }
    best = maximiser(MEANS, SIMPLEX_ETA).policy @ CORNERS
    with plt.rc_context(STYLE):
        figure: Figure
        figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.3), layout="constrained")
        for axes, (label, values) in zip(panels, heights.items(), strict=True):
            _frame(axes)
            levels = np.quantile(values, np.linspace(0.02, 1.0, 15))
            drawn = axes.tricontourf(*(grid @ CORNERS).T, values, levels=levels, cmap="viridis", extend="min")
            figure.colorbar(drawn, ax=axes, shrink=0.75, format="%.2f")
            axes.set_title(label)
        panels[2].plot(*best, "w*", ms=9, markeredgecolor="black")
    return figure


def boundary_steps() -> Figure:
    """How the Fisher spectrum and the squared step of NPG and SGB behave as three arms approach a deterministic policy."""
    from .fisher import (
        natural_step_second_moment,
        reduced_smallest_eigenvalue,
        score_second_moment,
        tangent_smallest_eigenvalue,
    )

    plt = _pyplot()
    lead = np.linspace(0.0, 16.0, 60)
    thetas = [np.array([x, 0.0, -1.0]) for x in lead]
    certainty = np.array([1.0 - softmax(theta)[0] for theta in thetas])
    with plt.rc_context(STYLE):
        figure: Figure
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.1), layout="constrained")
        left.loglog(certainty, [tangent_smallest_eigenvalue(t) for t in thetas], color=COLOURS[0], label="tangent")
        left.loglog(certainty, [reduced_smallest_eigenvalue(t) for t in thetas], color=COLOURS[1], label="reduced")
        left.set(title="smallest Fisher eigenvalue", xlabel="1 - p of the likeliest arm")
        right.loglog(certainty, [natural_step_second_moment(t) for t in thetas], color=COLOURS[1], label="NPG")
        right.loglog(certainty, [score_second_moment(t) for t in thetas], color=COLOURS[0], label="SGB")
        right.set(title="mean squared step at unit reward", xlabel="1 - p of the likeliest arm")
        for axes in (left, right):
            axes.invert_xaxis()
            axes.legend()
    return figure


def draw_all(folder: Path) -> list[Path]:
    """The pictures of docs/theory.md."""
    pictures = {"simplex-paths": simplex_paths, "fisher-surface": fisher_surface, "boundary-steps": boundary_steps}
    return [save_figure(picture(), folder / f"{name}.png") for name, picture in pictures.items()]


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    return plt


def _grid(count: int) -> np.ndarray:
    """Policies (n, 3) evenly over the inside of the simplex."""
    steps = np.arange(1, count)
    return np.array([(i, j, count - i - j) for i in steps for j in steps if i + j < count]) / count


def _policy_motion(rule: TwoScalarRule, policy: np.ndarray) -> np.ndarray:
    """dp = F E[update of theta]: where the policy moves on average in a small step."""
    update = rule.expected_update(1, policy, MEANS, np.zeros(2))
    return np.asarray(geometry.fisher(np.log(policy)) @ update)


def _frame(axes: Axes) -> None:
    axes.plot(*CORNERS[[0, 1, 2, 0]].T, color="#444444", linewidth=0.8)
    for corner, name, where in zip(CORNERS, ("arm 0", "best arm", "arm 2"), ((-4, -12), (4, -12), (0, 5)), strict=True):
        axes.annotate(name, corner, where, textcoords="offset points", ha="center", fontsize=8)
    axes.set(xlim=(-0.08, 1.08), ylim=(-0.09, 0.96), aspect="equal")
    axes.axis("off")


if __name__ == "__main__":
    for drawn in draw_all(Path(sys.argv[1])):
        print(drawn)
