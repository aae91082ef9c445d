"""Pictures of the theory on the simplex of three arms.

`python tools/figures_simplex.py` renders those of docs/theory.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from logbarrier import NPG, SGB, Agent, EntropySGB, LogBarrierSGB
from logbarrier.bandits.algorithms.rule import Rule, TwoScalarRule
from logbarrier.bandits.softmax import softmax
from logbarrier.lab_page.simplex import CORNERS, policy_grid, policy_motion
from logbarrier.plots.style import COLOURS, panels
from logbarrier.theory.fisher import (
    natural_step_second_moment,
    reduced_smallest_eigenvalue,
    score_second_moment,
    tangent_smallest_eigenvalue,
)
from logbarrier.theory.maximiser import maximiser
from looks import MARKERS, WIDTH, look, page_style, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEANS = np.array([0.6, 1.0, 0.0])  # arm 1 is best, arm 0 tempts
SIMPLEX_RULES: tuple[tuple[str, TwoScalarRule], ...] = (
    ("SGB", SGB(learning_rate=0.2)),
    ("NPG", NPG(learning_rate=0.2)),
    ("ENT, tau 0.05", EntropySGB(learning_rate=0.2, tau=0.05)),
    ("LB-SGB, eta 60", LogBarrierSGB(learning_rate=0.2, eta=60.0)),
)
SIMPLEX_ETA = 60.0
START = np.array([0.6, 0.1, 0.3])
THINNED = 20  # every so manieth policy of a path is plotted


def simplex_paths(*, runs: int = 6, steps: int = 4000, seed: int = 0) -> Figure:
    """The expected motion of the policy and a few sample paths of four rules on three arms, from a bad start (white)."""
    with page_style():
        figure, panes = panels(2, 2, size=(WIDTH, 5.8))
        for axes, (label, rule) in zip(panes.ravel(), SIMPLEX_RULES, strict=True):
            plot_frame(axes)
            grid = policy_grid(12)
            motion = np.array([policy_motion(rule, p, MEANS) for p in grid]) @ CORNERS
            length = np.linalg.norm(motion, axis=1, keepdims=True)
            arrows = motion / np.maximum(length, 1e-12)
            axes.quiver(*(grid @ CORNERS).T, *arrows.T, length[:, 0], cmap="Greys", norm="log", scale=22, width=0.008)
            for run in range(runs):
                path = sample_path(rule, MEANS, start=START, steps=steps, seed=seed + run)
                axes.plot(*(path[::THINNED] @ CORNERS).T, color=COLOURS[run % 6], linewidth=0.8, alpha=0.8)
                axes.plot(*(path[-1] @ CORNERS), MARKERS[run % 6], ms=8, color=COLOURS[run % 6], mec="white", zorder=6)
            axes.plot(*(START @ CORNERS), "o", ms=8, mfc="white", mec="black", zorder=5)
            if isinstance(rule, LogBarrierSGB):
                axes.plot(*(maximiser(MEANS, rule.eta).policy @ CORNERS), "k*", ms=13, mec="white", zorder=7)
            axes.set_title(label)
        return figure


def fisher_surface() -> Figure:
    """log det of the Fisher matrix over the simplex, and the objective it bends: J and Phi_eta."""
    grid = policy_grid(120)
    heights = {
        "log det F = sum log p": np.log(grid).sum(axis=1),
        "J": grid @ MEANS,
        f"Phi, eta {SIMPLEX_ETA:g}": grid @ MEANS + np.log(grid).sum(axis=1) / SIMPLEX_ETA,
    }
    best = maximiser(MEANS, SIMPLEX_ETA).policy @ CORNERS
    with page_style():
        figure, panes = panels(1, 3, size=(WIDTH, 2.6))
        for axes, (label, values) in zip(panes, heights.items(), strict=True):
            plot_frame(axes)
            levels = np.quantile(values, np.linspace(0.02, 1.0, 15))
            axes.tricontourf(*(grid @ CORNERS).T, values, levels=levels, cmap="viridis", extend="min")
            axes.tricontour(*(grid @ CORNERS).T, values, levels=levels[::2], colors="white", linewidths=0.6, linestyles="-")
            highest = grid[np.argmax(values)] @ CORNERS
            axes.plot(*(best if label.startswith("Phi") else highest), "w*", ms=13, markeredgecolor="black", zorder=5)
            axes.set_title(label)
    return figure


def boundary_steps() -> Figure:
    """How the Fisher spectrum and the squared step of NPG and SGB behave as three arms approach a deterministic policy."""
    lead = np.linspace(0.0, 16.0, 60)
    thetas = [np.array([x, 0.0, -1.0]) for x in lead]
    certainty = np.array([1.0 - softmax(theta)[0] for theta in thetas])
    with page_style():
        figure, (left, right) = panels(1, 2, size=(WIDTH, 2.9))
        left.loglog(certainty, [tangent_smallest_eigenvalue(t) for t in thetas], **look(0), label="tangent")
        left.loglog(certainty, [reduced_smallest_eigenvalue(t) for t in thetas], **look(1), label="reduced")
        left.set(title="smallest eigenvalue", xlabel="1 - largest p")
        right.loglog(certainty, [natural_step_second_moment(t) for t in thetas], **look(1), label="NPG")
        right.loglog(certainty, [score_second_moment(t) for t in thetas], **look(0), label="SGB")
        right.set(title="mean squared step", xlabel="1 - largest p")
        for axes in (left, right):
            axes.invert_xaxis()
            axes.legend()
    return figure


def plot_frame(axes: Axes) -> None:
    """The triangle, with the name of each corner."""
    axes.plot(*CORNERS[[0, 1, 2, 0]].T, color="#444444", linewidth=0.8)
    for corner, name, where in zip(CORNERS, ("arm 0", "best arm", "arm 2"), ((2, -13), (-6, -13), (0, 4)), strict=True):
        axes.annotate(name, corner, where, textcoords="offset points", ha="center", fontsize=9)
    axes.set(xlim=(-0.08, 1.08), ylim=(-0.09, 0.96), aspect="equal")
    axes.axis("off")


def sample_path(rule: Rule, means: np.ndarray, *, start: np.ndarray, steps: int, seed: int, scale: float = 1.0) -> np.ndarray:
    """Policies (steps + 1, K) of one run with rewards N(means, scale^2), from the policy `start` (K,).

    >>> import logbarrier as lb
    >>> sample_path(lb.SGB(learning_rate=0.1), np.array([1.0, 0.0]), start=np.array([0.5, 0.5]), steps=3, seed=0).shape
    (4, 2)
    """
    agent = Agent(rule, n_arms=len(means), seed=seed, start=start)
    noise = np.random.default_rng(seed).normal(scale=scale, size=steps)
    policies = [agent.policy]
    for deviation in noise:
        decision = agent.ask()
        agent.tell(decision, reward=means[decision.arm] + deviation)
        policies.append(agent.policy)
    return np.array(policies)


FIGURES = {"simplex-paths.png": simplex_paths, "fisher-surface.png": fisher_surface, "boundary-steps.png": boundary_steps}
PICTURES = {name: (plot,) for name, plot in FIGURES.items()}


if __name__ == "__main__":
    for name, plot in FIGURES.items():
        print(save(plot(), name, PICTURES[name]))
