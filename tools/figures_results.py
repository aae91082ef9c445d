"""Plot pictures from the result files of benchmarks/, as `python tools/figures_results.py [NAME ...]`.

complexity.json  `logbarrier complexity --json`
changing.json    the study examples/changing.toml, thinned by `python tools/figures_results.py --keep FOLDER`
plan.json        `logbarrier plan --arms 100 --gap 0.1 --horizon 1e5 --json`
engine.json      `python benchmarks/engine.py --curves benchmarks/engine.json`
all_systems.json the study examples/all-systems.toml, ranked by `python tools/systems_ranking.py FOLDER`
figure_1.json    `logbarrier reproduce figure-1 --horizon long --runs 30 --out runs`, thinned by
                 `python tools/figures_results.py --keep-figure-1 FOLDER`
adaptive.png is plotted from the first table of docs/adaptive-study.md.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from logbarrier.plots.style import COLOURS, panels
from looks import MARKERS, WIDTH, label_edges, look, page_style, save
from pictures import ROOT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from logbarrier.record import Record

COMPLEXITY, CHANGING, PLAN, ENGINE, ALL_SYSTEMS, FIGURE_1 = (
    ROOT / "benchmarks" / f"{name}.json" for name in ("complexity", "changing", "plan", "engine", "all_systems", "figure_1")
)
TABLE = (ROOT / "docs" / "adaptive-study.md").read_text().partition("\n\n| K | alpha |")[2].partition("\n\n")[0]
ADAPTIVE = [[cell.strip() for cell in row.strip("|").split("|")] for row in TABLE.split("\n")[2:]]
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
    "optimistic-barrier", "thompson-sampling", "empirical-thompson-sampling", "auto-log-barrier", "ucb1",
    "inverse-gap-weighting", "adaptive-log-barrier-sgb", "log-barrier-sgb", "epsilon-greedy", "sgb", "baseline-sgb",
    "entropy-sgb", "exp3", "tsallis-inf", "npg", "clipped-log-barrier-sgb",
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
        label_edges(figure, grid, "epsilon", "pulls")
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
    curves = json.loads(ENGINE.read_text())["curves"]
    with page_style():
        figure, axes = panels(1, 1, size=(WIDTH, 3.8))
        for number, (name, points) in enumerate(curves.items()):
            axes.loglog(*zip(*points, strict=True), marker=MARKERS[number], label=name, **look(number))
        axes.set(xlabel="number of arms K", ylabel="core-ns per run and step", title="LB-SGB, alpha = 0.1")
        axes.legend()
    return figure


def all_systems() -> Figure:
    """The place by regret of sixteen rules, with the range that holds 95 % of resampled rankings."""
    places = json.loads(ALL_SYSTEMS.read_text())["arms"]
    with page_style():
        figure, panes = panels(1, 3, size=(WIDTH, 4.8), sharey=True, sharex=True)
        for axes, (arms, rows) in zip(panes, places.items(), strict=True):
            for height, rule in enumerate(NAMED):
                place, low, high = rows[rule]["place"]
                looks = {"color": COLOURS[0], "fmt": "o"} if "barrier" in rule else {"color": COLOURS[1], "fmt": "s"}
                axes.errorbar(place, height, xerr=[[place - low], [high - place]], capsize=3, **looks)
            axes.set(title=f"K = {arms}", xlabel="place")
        panes[0].set_yticks(range(len(NAMED)), NAMED)
        panes[0].set(ylim=(len(NAMED) - 0.5, -0.5), xlim=(0, len(rows) + 1))
    return figure


def figure_1() -> Figure:
    """Figure 1 of the paper at a hundred times its horizon, with 95 % intervals and the exact plateau of LB-SGB."""
    shown = json.loads(FIGURE_1.read_text())["panels"]
    with page_style():
        figure, grid = panels(2, 3, size=(WIDTH, 4.6), sharex=True, sharey=True)
        for number, (panel, axes) in enumerate(zip(shown, grid.ravel(), strict=True)):
            axes.axhline(panel["plateau"], color="#555555", linewidth=1.0, linestyle=(0, (1, 1)), label="plateau of LB-SGB")
            for curve_number, (name, curve) in enumerate(panel["curves"].items()):
                axes.plot(panel["steps"], curve["mean"], label=name, **look(curve_number))
                axes.fill_between(
                    panel["steps"], curve["low"], curve["high"], color=look(curve_number)["color"], alpha=0.2, linewidth=0
                )
            axes.set(title=f"K = {panel['n_arms']}" if number < 3 else "", ylim=(-0.03, 1.03))
            axes.ticklabel_format(axis="x", style="sci", scilimits=(0, 0), useMathText=True)
            if number % 3 == 0:
                axes.set_ylabel(f"p(a*), alpha = {panel['alpha']:g}")
        for axes in grid[-1]:
            axes.set_xlabel("step")
        figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5, columnspacing=1.0)
    return figure


def adaptive() -> Figure:
    """Schedules and SGB against the fixed eta: p(a*) and regret, with 95 % intervals of paired differences."""
    fixed = {(arms, alpha): regret for arms, alpha, rule, _, _, regret, *_ in ADAPTIVE if rule.startswith("fixed")}
    names = list(dict.fromkeys(rule for _, _, rule, *_ in ADAPTIVE if not rule.startswith("fixed")))
    with page_style():
        figure, panes = panels(1, 2, size=(WIDTH, 4.2), sharey=True)
        for arms, alpha, rule, _, more, _, saved, _ in ADAPTIVE:
            if rule in names:
                number = names.index(rule)
                place = list(fixed).index((arms, alpha)) + 0.2 * (number - 1)
                for axes, cell, unit in zip(panes, (more, saved), (1.0, _number(fixed[arms, alpha])), strict=True):
                    middle, half = (_number(part) / unit for part in cell.split(" ± "))
                    label = rule if place < 0.5 else None
                    axes.errorbar(middle, place, xerr=half, fmt=MARKERS[number], color=COLOURS[number], capsize=3, label=label)
        for axes, name in zip(panes, ("p(a*) - p(a*) of fixed eta", "regret / fixed eta - 1"), strict=True):
            axes.axvline(0.0, color="#888888", linewidth=0.8)
            axes.set_xlabel(name)
        panes[0].set_yticks(range(len(fixed)), [f"K = {arms}\nalpha = {alpha}" for arms, alpha in fixed])
        panes[0].set_ylim(len(fixed) - 0.5, -0.5)
        figure.legend(*panes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _number(cell: str) -> float:
    return float(cell.replace(",", ""))


def keep_figure_1(folder: Path) -> None:
    """Write the curves of a stored reproduction of figure 1 into the result file."""
    from logbarrier.paper import design
    from logbarrier.paper.experiment import Results
    from logbarrier.paper.figure_1 import EXPERIMENT
    from logbarrier.studies import Store
    from logbarrier.theory.plateau import mean_plateau

    results, shown = Results(Store.open(folder), [EXPERIMENT]), list[dict[str, object]]()
    study = results.store.study
    for panel in EXPERIMENT.panels:
        curves = {}
        for curve in panel.curves:
            record = results.find(panel.n_arms, curve.rule)
            if record is None:
                raise ValueError(f"figure-1: {folder} has no record of {curve.label} at K = {panel.n_arms}; finish the study")
            steps, curves[curve.label] = record.steps[::EVERY].tolist(), _thinned(record, "optimal_probability")
        settings = panel.curves[0].rule.to_dict()  # those of LB-SGB
        plateau, _, _ = mean_plateau(design.instances(panel.n_arms), settings["eta"], study.seed, study.runs)
        entry = {"n_arms": panel.n_arms, "alpha": settings["learning_rate"], "runs": study.runs, "plateau": round(plateau, 4)}
        shown.append({**entry, "steps": steps, "curves": curves})
    FIGURE_1.write_text(json.dumps({"panels": shown}, separators=(",", ":")) + "\n")


def _thinned(record: Record, metric: str) -> dict[str, list[float]]:
    """Return mean and 95 % interval at every fifth checkpoint."""
    low, high = record.interval(metric)
    curves = {"mean": record.mean(metric), "low": low, "high": high}
    return {name: [float(f"{value:.4g}") for value in values[::EVERY]] for name, values in curves.items()}


def keep(folder: Path) -> None:
    """Write the means and intervals of a stored study of changing problems into the result file."""
    from logbarrier.studies import Store
    from logbarrier.studies.results import records

    found: dict[str, dict[str, object]] = {}
    for case, record in records(Store.open(folder)):
        curves: dict[str, object] = {"steps": record.steps[::EVERY].tolist()}
        curves |= {metric: _thinned(record, metric) for metric in ("optimal_probability", "regret")}
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
    "figure-1-long.png": figure_1,
    "adaptive.png": adaptive,
}
PICTURES = {
    "complexity.png": (complexity, COMPLEXITY),
    "changing.png": (changing, CHANGING),
    "plan.png": (plan, PLAN),
    "engine.png": (engine, ENGINE),
    "all-systems.png": (all_systems, NAMED, ALL_SYSTEMS),
    "figure-1-long.png": (figure_1, FIGURE_1),
    "adaptive.png": (adaptive, ADAPTIVE),
}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--keep"]:
        keep(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["--keep-figure-1"]:
        keep_figure_1(Path(sys.argv[2]))
    else:
        for name in sys.argv[1:] or FIGURES:
            print(save(FIGURES[name](), name, PICTURES[name]))
