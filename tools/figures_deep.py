"""Plot the pictures of docs/deep-study.md and docs/deep.md: `python tools/figures_deep.py [NAME ...]`.

Those of the study come from the results that deep_study.py wrote. deep-rescue.png trains two policies, which takes a minute
and Stable-Baselines3.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from logbarrier.plots.style import COLOURS, panels
from looks import DASHES, MARKERS, WIDTH, label_edges, middle_interval, middle_mean, page_style, save
from pictures import ROOT

STUDY = ROOT / "benchmarks" / "deep_study.json"
EXAMPLE = ROOT / "examples" / "collapsed_grid.py"
COEFFICIENTS = (0.01, 0.1, 0.3, 0.6, 1.0)  # the grid of deep_study.py
LOOKS: dict[str, Any] = {
    name: {"color": COLOURS[colour], "linestyle": DASHES[number], "marker": MARKERS[number]}
    for number, (name, colour) in enumerate({"none": 6, "entropy": 1, "barrier": 0, "symmetric": 2, "annealed": 3}.items())
}
SHOWN = {"2": "collapsed policy", "0": "digits, labels permuted", "5": "five goals in turn"}  # tasks by their number
SWEPT = {"2": "collapsed policy", "3": "collapsed policy, A2C", "0": "digits, labels permuted", "8": "DeepSea 8"}


def curves() -> Figure:
    """Above, the score while training, and right of it the last tenth with its interval; below, the smallest probability."""
    study = json.loads(STUDY.read_text())
    with page_style():
        figure, grid = panels(2, len(SHOWN), size=(WIDTH, 4.8), sharex=True)
        for column, (key, title) in enumerate(SHOWN.items()):
            row = study[key]
            for number, (name, looks) in enumerate(LOOKS.items()):
                score, nearness = row["curve"][name], row["log10_min_probability"][name]
                done, line = np.linspace(0, 1, len(score)), {key: looks[key] for key in ("color", "linestyle")}
                grid[0, column].plot(done, score, label=name, **line)
                grid[1, column].plot(done, nearness, **line)
                _last(grid[0, column], 1.08 + 0.07 * number, np.array(row["last"][name]), looks)
            grid[0, column].set_title(title, fontsize=10)
            grid[1, column].set_xlabel("share of training")
        grid[0, 0].set_ylabel("score")
        grid[1, 0].set_ylabel("log10 smallest p")
        figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5, columnspacing=1.0)
    return figure


def _last(axes: Any, place: float, values: np.ndarray, looks: dict[str, Any]) -> None:
    """The interquartile mean of the last tenth of the training, with its 95 % interval."""
    middle, (low, high) = float(middle_mean(values)), middle_interval(values)
    options = {"fmt": looks["marker"], "color": looks["color"], "markersize": 4, "capsize": 2, "linewidth": 1.2}
    axes.errorbar(place, middle, [[max(middle - low, 0.0)], [max(high - middle, 0.0)]], **options)


def coefficients() -> Figure:
    """The score while training against the coefficient c, on the tuning seeds: four tasks of thirteen."""
    study = json.loads(STUDY.read_text())
    with page_style():
        figure, grid = panels(2, 2, size=(WIDTH, 4.8), sharex=True)
        for axes, (key, title) in zip(grid.ravel(), SWEPT.items(), strict=True):
            row = study[key]
            axes.axhline(row["tuning"]["none"][0], color=LOOKS["none"]["color"], label="none")
            for name in list(LOOKS)[1:]:
                axes.plot(COEFFICIENTS, row["tuning"][name], label=name, **LOOKS[name])
            axes.set(xscale="log", title=title)
        label_edges(figure, grid, "coefficient c", "score", columns=5)
    return figure


def rescue() -> Figure:
    """The actions that a policy has lost, before and after the rescue of docs/deep.md."""
    sys.path.insert(0, str(EXAMPLE.parent))
    import gymnasium

    from logbarrier.deep import sb3

    model, schedule = import_module(EXAMPLE.stem).collapsed_model(), sb3.Linear(0.6)  # the schedule of the command
    done = sb3.rescue(model, gymnasium.make("MovedGoal-v0"), timesteps=10_000, schedule=schedule, steps=500)
    print(done.before, done.after, sep="\n\n")
    with page_style():
        figure: Figure = sb3.plot_diagnoses(done.before, done.after)
        figure.set_size_inches(WIDTH, 4.4)
    return figure


FIGURES = {"deep-curves.png": curves, "deep-coefficients.png": coefficients, "deep-rescue.png": rescue}
PICTURES = {
    "deep-curves.png": (curves, STUDY),
    "deep-coefficients.png": (coefficients, STUDY),
    "deep-rescue.png": (rescue, EXAMPLE, ROOT / "src" / "logbarrier" / "deep" / "sb3" / "plot.py"),
}


if __name__ == "__main__":
    for name in sys.argv[1:] or FIGURES:
        print(save(FIGURES[name](), name, PICTURES[name]))
