"""The picture that opens the README: policies on three arms collapse without a barrier, and come back with one.

`python tools/figure_collapse.py FILE.gif` renders it as an animation, FILE.png as its last frame.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from figures_simplex import plot_frame
from logbarrier import SGB, GaussianBandit, LogBarrierSGB
from logbarrier.bandits.algorithms.rule import Rule
from logbarrier.bandits.policies import policies
from logbarrier.lab_page.simplex import CORNERS
from logbarrier.plots.style import COLOURS, panels, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEANS = np.array([0.8, 1.0, 0.0])  # arm 1 is best, arm 0 tempts
START = np.array([0.6, 0.01, 0.39])  # a bad start: the best arm is hardly ever pulled
ETA = 200.0
RULES: tuple[tuple[str, Rule], ...] = (
    ("without a barrier: SGB", SGB(learning_rate=0.1)),
    (f"with a log barrier: LB-SGB, eta {ETA:g}", LogBarrierSGB(learning_rate=0.1, eta=ETA)),
)
RUNS = 40
STEPS = 20_000
FRAMES = 48
HELD = 14  # frames that the end is shown for
TAIL = 4  # earlier places plotted behind each dot
FOUND = 0.5  # p(a*) above which a run has found the best arm


def moments(frames: int, steps: int) -> np.ndarray:
    """The step of each frame: the first ones close together, as most happens early.

    >>> moments(4, 1000).tolist()
    [0, 10, 100, 1000]
    """
    return np.unique(
        np.round(np.concatenate([[0.0], np.geomspace(steps ** (1.0 / (frames - 1)), steps, frames - 1)])).astype(int)
    )


def clouds(rule: Rule, steps: np.ndarray, *, runs: int, seed: int = 0) -> np.ndarray:
    """Policies (runs, steps, 3) of seeded runs from the same bad start, p(a*) = 0.01."""
    problem: Any = GaussianBandit(MEANS)
    return np.array([list(policies(rule, problem, steps=steps, run=run, seed=seed, start=START)) for run in range(runs)])


def collapse(path: Path, *, runs: int = RUNS, steps: int = STEPS, frames: int = FRAMES) -> Path:
    """Write the animation (.gif) or its last frame (.png)."""
    from matplotlib.animation import FuncAnimation, PillowWriter

    if path.suffix not in (".gif", ".png"):
        raise ValueError(f"collapse: the file must end in .gif or .png, got {path.name!r}")
    when = moments(frames, steps)
    followed = [clouds(rule, when, runs=runs) @ CORNERS for _, rule in RULES]
    with styled():
        figure, panes = panels(1, 2, size=(7.2, 3.5))

        def render(frame: int) -> None:
            last = min(frame, len(when) - 1)
            figure.suptitle(f"step {when[last]:,}", fontsize=10)
            for axes, (label, _), places in zip(panes, RULES, followed, strict=True):
                axes.clear()
                _plot_panel(axes, label, places[:, : last + 1])

        if path.suffix == ".png":
            render(len(when) - 1)
            figure.savefig(path, dpi=110)
        else:
            animation = FuncAnimation(figure, render, frames=len(when) + HELD, init_func=lambda: None)
            animation.save(path, writer=PillowWriter(fps=10), dpi=80)
    return path


def _plot_panel(axes: Axes, label: str, places: np.ndarray) -> None:
    """Dots with short tails; those on the right half of the way to the best arm are blue."""
    plot_frame(axes)
    now = places[:, -1]
    near = now @ np.array([1.0, -np.sqrt(1.0 / 3.0)])  # p(a*), in the coordinates of the picture
    colours = np.where(near > FOUND, COLOURS[0], COLOURS[1])
    for place, colour in zip(places, colours, strict=True):
        axes.plot(*place[-TAIL:].T, color=colour, linewidth=0.8, alpha=0.35)
    axes.scatter(now[:, 0], now[:, 1], c=list(colours), s=20, zorder=4, edgecolors="white", linewidths=0.4)
    axes.set_title(f"{label}\n{np.mean(near > FOUND):.0%} of the runs favour the best arm", fontsize=9)


if __name__ == "__main__":
    print(collapse(Path(sys.argv[1])))
