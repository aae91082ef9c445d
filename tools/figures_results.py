"""Plot pictures from the result files of benchmarks/, as `python tools/figures_results.py [NAME ...]`.

complexity.json  `logbarrier complexity --json`
changing.json    the study examples/changing.toml, thinned by `python tools/figures_results.py --keep FOLDER`
plan.json        `logbarrier plan --arms 100 --gap 0.1 --horizon 1e5 --json`
engine.json      the table "Measured" of docs/engine.md

all-systems.png shows the table "Twenty-six rules at the same budget" of docs/systems.md.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from logbarrier.plots.style import COLOURS, panels
from looks import MARKERS, WIDTH, look, page_style, save
from pictures import ROOT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPLEXITY, CHANGING, PLAN, ENGINE = (
    ROOT / "benchmarks" / f"{name}.json" for name in ("complexity", "changing", "plan", "engine")
)
SYSTEMS = {
    "log-barrier-sgb": "LB-SGB",
    "sgb": "SGB",
    "entropy-sgb": "entropy (ENT)",
    "npg": "NPG",
    "adaptive-log-barrier-sgb": "adaptive LB-SGB",
    "auto-log-barrier": "AutoLogBarrier",
    "thompson-sampling": "Thompson sampling",
}
INSTANCES = ("easy", "bad start 1e-3", "bad start 1e-5", "near tie")
NAMED = (
    "thompson-sampling", "ucb1", "inverse-gap-weighting", "adaptive-log-barrier-sgb", "log-barrier-sgb", "epsilon-greedy",
    "sgb", "mini-batch-log-barrier-sgb", "baseline-sgb", "entropy-sgb", "exp3", "npg", "clipped-log-barrier-sgb", "theory-sgb",
)  # fmt: skip
RACED = 8  # rules of a plan that are shown
EVERY = 5  # checkpoints of a stored curve
SWAPS = {
    "optimistic-barrier": "OptimisticBarrier",
    "auto-log-barrier": "AutoLogBarrier",
    "sliding-window-ucb": "sliding-window UCB",
    "log-barrier-sgb": "LB-SGB, eta 1000",
    "thompson-sampling": "Thompson sampling",
}


def complexity() -> Figure:
    """Pulls until the mean of the last iterate is within epsilon: seven systems of thirty, a panel for each instance."""
    rows = json.loads(COMPLEXITY.read_text())["measurements"]
    with page_style():
        figure, grid = panels(2, 2, size=(WIDTH, 5.6), sharex=True, sharey=True)
        for axes, instance in zip(grid.ravel(), INSTANCES, strict=True):
            for number, system in enumerate(SYSTEMS):
                found = [row for row in rows if (row["system"], row["instance"], row["iterate"]) == (system, instance, "last")]
                pulls = np.array(found[0]["pulls"], dtype=np.float64)
                axes.plot(found[0]["epsilons"], pulls, marker=MARKERS[number], label=SYSTEMS[system], **look(number))
            axes.set(xscale="log", yscale="log", title=instance)
            axes.axhline(found[0]["horizon"], color="#888888", linewidth=0.8)
        grid[0, 0].invert_xaxis()
        for axes in grid[:, 0]:
            axes.set_ylabel("pulls")
        for axes in grid[-1]:
            axes.set_xlabel("epsilon")
        figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, columnspacing=1.0)
    return figure


def changing() -> Figure:
    """Arms that swap: the probability of the present best arm, and the dynamic regret, with 95 % intervals."""
    rows = json.loads(CHANGING.read_text())["SwappingArms"]
    with page_style():
        figure, panes = panels(2, 1, size=(WIDTH, 5.2), sharex=True)
        for axes, metric in zip(panes, ("optimal_probability", "regret"), strict=True):
            for number, (name, label) in enumerate(SWAPS.items()):
                steps, curve = np.array(rows[name]["steps"]), rows[name][metric]
                axes.plot(steps, curve["mean"], label=label, **look(number))
                axes.fill_between(steps, curve["low"], curve["high"], color=look(number)["color"], alpha=0.2, linewidth=0)
        panes[0].set(ylabel="p(present best)", ylim=(-0.03, 1.03))
        panes[1].set(ylabel="dynamic regret", xlabel="step", ylim=(0, None))
        panes[1].ticklabel_format(axis="both", style="sci", scilimits=(-3, 3), useMathText=True)
        figure.legend(*panes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def plan() -> Figure:
    """What a plan prints: how much regret the choice saves against each rule that it raced, with 95 % intervals."""
    found = json.loads(PLAN.read_text())
    rows = found["rows"][:RACED]
    with page_style():
        figure, axes = panels(1, 1, size=(WIDTH, 3.6))
        for place, row in enumerate(rows):
            margin = [[row["ahead"] - row["low"]], [row["high"] - row["ahead"]]]
            axes.errorbar(
                row["ahead"], place, xerr=margin, capsize=4, color=look(0)["color"], marker="*" if place == 0 else "o"
            )
        names = [row["code"].removeprefix("lb.").removesuffix("()").replace("learning_rate=", "") for row in rows]
        axes.set_yticks(range(len(rows)), [f"{name}, {row['runs']} runs" for name, row in zip(names, rows, strict=True)])
        axes.axvline(0.0, color="#888888", linewidth=0.8)
        axes.set(ylim=(len(rows) - 0.5, -0.5), xlabel="regret that the choice (star) saves")
    return figure


def engine() -> Figure:
    """Nanoseconds per run and step against the number of arms."""
    curves = json.loads(ENGINE.read_text())["nanoseconds"]
    with page_style():
        figure, axes = panels(1, 1, size=(WIDTH, 3.8))
        for number, (name, points) in enumerate(curves.items()):
            arms = np.array([int(K) for K in points])
            axes.loglog(arms, list(points.values()), marker=MARKERS[number], label=name, **look(number))
        axes.set(xlabel="number of arms K", ylabel="ns per run and step", title="LB-SGB, 100 runs on two cores")
        axes.legend()
    return figure


def ranked() -> dict[str, list[list[int]]]:
    """Return the place of every rule at 10, 100 and 1000 arms with the ends of its 95 % range, from docs/systems.md."""
    text = (ROOT / "docs" / "systems.md").read_text().partition(" rules at the same budget\n")[2].partition("![")[0]
    table = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    places = {row[0]: [[int(number) for number in re.findall(r"\d+", row[column])] for column in (1, 5, 9)] for row in table}
    return {rule: [[one[0], one[1], one[-1]] for one in each] for rule, each in places.items()}


def all_systems() -> Figure:
    """The place by regret of fourteen rules, with the range that holds 95 % of resampled rankings."""
    rows = {rule: places for rule, places in ranked().items() if rule.split()[0].strip(",") in NAMED}
    with page_style():
        figure, panes = panels(1, 3, size=(WIDTH, 4.6), sharey=True, sharex=True)
        for number, (axes, arms) in enumerate(zip(panes, (10, 100, 1000), strict=True)):
            for height, (rule, places) in enumerate(rows.items()):
                place, low, high = places[number]
                looks = {"color": COLOURS[0], "fmt": "o"} if "barrier" in rule else {"color": COLOURS[1], "fmt": "s"}
                axes.errorbar(place, height, xerr=[[place - low], [high - place]], capsize=3, **looks)
            axes.set(title=f"K = {arms}", xlabel="place")
        panes[0].set_yticks(range(len(rows)), [rule.split()[0].strip(",") for rule in rows])
        panes[0].set(ylim=(len(rows) - 0.5, -0.5), xlim=(0, 27))
    return figure


def keep(folder: Path) -> None:
    """Write the means and intervals of a stored study of changing problems into the result file."""
    from logbarrier.studies import Store
    from logbarrier.studies.results import records

    found: dict[str, dict[str, object]] = {}
    for case, record in records(Store.open(folder)):
        curves: dict[str, object] = {"steps": record.steps[::EVERY].tolist()}
        for metric in ("optimal_probability", "regret"):
            low, high = record.interval(metric)
            kept = {"mean": record.mean(metric), "low": low, "high": high}
            curves[metric] = {name: [float(f"{value:.4g}") for value in values[::EVERY]] for name, values in kept.items()}
        problem, rule = record.settings["problem"]["problem"], record.settings["rule"]["rule"]
        if problem == "SwappingArms" and rule in SWAPS:
            found.setdefault(problem, {})[rule] = curves
        del case
    CHANGING.write_text(json.dumps(found, separators=(",", ":")) + "\n")


FIGURES = {
    "complexity.png": complexity,
    "changing.png": changing,
    "plan.png": plan,
    "engine.png": engine,
    "all-systems.png": all_systems,
}
PICTURES = {
    "complexity.png": (complexity, COMPLEXITY),
    "changing.png": (changing, CHANGING),
    "plan.png": (plan, PLAN),
    "engine.png": (engine, ENGINE),
    "all-systems.png": (all_systems, json.dumps(ranked())),
}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--keep"]:
        keep(Path(sys.argv[2]))
    else:
        for name in sys.argv[1:] or FIGURES:
            print(save(FIGURES[name](), name, PICTURES[name]))
