"""The pictures of docs/deep.md, from the results that deep_study.py keeps.

python benchmarks/deep_pictures.py [--study benchmarks/deep_study.json] [--folder docs/images]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from deep_study import COEFFICIENTS, METHODS, Row

COLOURS = {"none": "#777777", "entropy": "#E69F00", "barrier": "#0072B2", "symmetric": "#009E73", "annealed": "#CC79A7"}
SHOWN = ("2", "0", "5")  # the collapsed checkpoint, permuted labels, five goals in turn


def curves(study: dict[str, Row]) -> Figure:
    """Above, the score while training; below, the smallest probability; a column per task."""
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    panels = figure.subplots(2, len(SHOWN), sharex="col")
    for column, row in enumerate(study[key] for key in SHOWN):
        for name in METHODS:
            score, nearness = row["curve"][name], row["log10_min_probability"][name]
            done = np.linspace(0, 1, len(score))
            panels[0, column].plot(done, score, color=COLOURS[name], label=name)
            panels[1, column].plot(done, nearness, color=COLOURS[name])
        picked = ", ".join(f"{name} {row['picked'][name]:g}" for name in METHODS[1:])
        panels[0, column].set_title(f"{row['task']}\nc: {picked}", fontsize=8)
        panels[1, column].set_xlabel("share of the training")
    panels[0, 0].set_ylabel("score (uniform 0, best 1)")
    panels[1, 0].set_ylabel("log10 min probability")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(METHODS), frameon=False)
    _plain(figure)
    return figure


def coefficients(study: dict[str, Row]) -> Figure:
    """The score while training against c, on the tuning seeds; a panel per task, those that change first."""
    rows = sorted(study.values(), key=lambda row: not row["changes"])
    figure = Figure(figsize=(12, 2.2 * -(-len(rows) // 5)), layout="constrained")
    panels = figure.subplots(-(-len(rows) // 5), 5, sharex=True, squeeze=False).ravel()
    for panel, row in zip(panels, rows, strict=False):
        panel.axhline(row["tuning"]["none"][0], color=COLOURS["none"], linestyle="--", label="none")
        for name in METHODS[1:]:
            panel.plot(COEFFICIENTS, row["tuning"][name], "o-", markersize=3, color=COLOURS[name], label=name)
        panel.set_xscale("log")
        panel.set_title(row["task"] + (" (changes)" if row["changes"] else ""), fontsize=8)
    for panel in panels[len(rows) :]:
        panel.axis("off")
    handles, labels = panels[0].get_legend_handles_labels()
    panels[-1].legend(handles, labels, frameon=False, loc="center")
    figure.supxlabel("c", fontsize=10)
    figure.supylabel("score while training", fontsize=10)
    _plain(figure)
    return figure


def _plain(figure: Figure) -> None:
    for panel in figure.axes:
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize=8)


def main() -> None:
    """Draw both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--study", type=Path, default=Path(__file__).with_name("deep_study.json"))
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent.parent / "docs" / "images")
    given = parser.parse_args()
    study = json.loads(given.study.read_text())
    curves(study).savefig(given.folder / "deep-curves.png", dpi=110)
    coefficients(study).savefig(given.folder / "deep-coefficients.png", dpi=110)


if __name__ == "__main__":
    main()
