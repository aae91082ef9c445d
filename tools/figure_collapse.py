"""Plot docs/images/collapse.gif, which opens the README: policies on three arms, and a collapsed PPO policy that is trained on.

`python tools/figure_collapse.py` renders the animation, `python tools/figure_collapse.py FILE.png` its last frame.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from figures_simplex import plot_frame
from logbarrier import SGB, GaussianBandit, LogBarrierSGB
from logbarrier.bandits.algorithms.rule import Rule
from logbarrier.bandits.policies import policies
from logbarrier.lab_page.simplex import CORNERS
from logbarrier.plots.style import COLOURS, panels
from looks import middle_interval, middle_mean, page_style
from pictures import IMAGES, ROOT, stamp

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEANS = np.array([0.8, 1.0, 0.0])  # arm 1 is best, arm 0 tempts
START = np.array([0.6, 0.01, 0.39])  # a bad start: the best arm is hardly ever pulled
ETA = 200.0
RULES: tuple[tuple[str, Rule], ...] = (
    ("no barrier (SGB)", SGB(learning_rate=0.1)),
    ("log barrier (LB-SGB)", LogBarrierSGB(learning_rate=0.1, eta=ETA)),
)
RUNS = 40
STEPS = 20_000
FRAMES = 48
HELD = 14  # frames that the end is shown for
TAIL = 4  # earlier places plotted behind each dot
FOUND = 0.5  # p(a*) above which a run has found the best arm
STUDY, COLLAPSED = ROOT / "benchmarks" / "deep_study.json", "2"  # the row "grid, collapsed checkpoint"
METHODS = {"none": ("nothing", "s"), "entropy": ("entropy\nbonus", "D"), "annealed": ("log\nbarrier", "o")}


def moments(frames: int, steps: int) -> np.ndarray:
    """The step of each frame, from 0 to the end; the first ones lie closer together, as most happens early.

    >>> moments(5, 8000).tolist()
    [0, 1000, 2828, 5196, 8000]
    """
    return np.unique(np.round(np.linspace(0.0, 1.0, frames) ** 1.5 * steps).astype(int))


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
    with page_style():
        figure, panes = panels(1, 3, size=(9.6, 3.3), width_ratios=(1, 1, 0.95))
        plot_rescue(panes[2])

        def render(frame: int) -> None:
            last = min(frame, len(when) - 1)
            figure.suptitle(f"three arms, {runs} runs, step {when[last]:,}", fontsize=11, x=0.34)
            for axes, (label, _), places in zip(panes, RULES, followed, strict=False):
                axes.clear()
                _plot_panel(axes, label, places[:, : last + 1])

        if path.suffix == ".png":
            render(len(when) - 1)
            figure.savefig(path, dpi=110)
        else:
            animation = FuncAnimation(figure, render, frames=len(when) + HELD, init_func=lambda: None)
            animation.save(path, writer=PillowWriter(fps=8), dpi=80)
    return path


def plot_rescue(axes: Axes) -> None:
    """The score of a collapsed PPO policy in the last tenth of further training: interquartile mean and interval."""
    scores = json.loads(STUDY.read_text())[COLLAPSED]["last"]
    for place, (name, (_, marker)) in enumerate(METHODS.items()):
        values = np.array(scores[name])
        middle, (low, high) = float(middle_mean(values)), middle_interval(values)
        colour = COLOURS[0] if name == "annealed" else COLOURS[1]
        axes.errorbar(place, middle, [[middle - low], [high - middle]], fmt=marker, color=colour, capsize=5, markersize=9)
        axes.annotate(f"{middle:.2f}", (place, middle), (12, -4), textcoords="offset points", fontsize=11)
    axes.set(title="a collapsed PPO, trained on", ylabel="score", xlim=(-0.4, 2.75), ylim=(-0.45, 1.15))
    axes.set_xticks(range(len(METHODS)), [label for label, _ in METHODS.values()])
    axes.grid(axis="x", visible=False)


def _plot_panel(axes: Axes, label: str, places: np.ndarray) -> None:
    """Dots with short tails; runs that favour the best arm are blue discs, the others orange squares."""
    plot_frame(axes)
    now = places[:, -1]
    near = now @ np.array([1.0, -np.sqrt(1.0 / 3.0)])  # p(a*), in the coordinates of the picture
    for found, colour, marker in ((near > FOUND, COLOURS[0], "o"), (near <= FOUND, COLOURS[1], "s")):
        for place in places[found]:
            axes.plot(*place[-TAIL:].T, color=colour, linewidth=0.8, alpha=0.35)
        axes.scatter(
            now[found, 0], now[found, 1], color=colour, marker=marker, s=22, zorder=4, edgecolors="white", linewidths=0.4
        )
    axes.set_title(f"{label}\n{np.sum(near > FOUND)} of {len(near)} favour the best arm")


PICTURES = {"collapse.gif": (collapse, METHODS, MEANS.tolist(), START.tolist(), STUDY)}


def main() -> None:
    """Write the animation with its stamp, or a last frame elsewhere."""
    if len(sys.argv) > 1:
        print(collapse(Path(sys.argv[1])))
        return
    stamp(collapse(IMAGES / "collapse.gif"), PICTURES["collapse.gif"])


if __name__ == "__main__":
    main()
