"""AutoLogBarrier against the best of eight learning rates in hindsight and against Thompson sampling given the noise.

    python benchmarks/auto_panels.py run --rules auto,alphas,thompson [--arms 2,10,100,1000] [--horizon 1e5] [--runs 100]
                                         [--seed 2030] [--folder runs/auto] [--threads 1]
    python benchmarks/auto_panels.py table [--folder runs/auto] [--seed 2030]

`run` computes a piece and keeps it in the folder: run it as often as you like, with other rules, arms, horizons or numbers of
runs, and stop it at any moment; what is stored is not computed again. `table` joins all that is there. Every rule meets the
same instances, so ratios of regret are taken over the runs that both rules have, and their 95 % intervals are of the paired
difference. A cell counts where the best rate has at most half the regret of uniform play.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import logbarrier as lb
from logbarrier.statistics import t_quantile
from logbarrier.studies import LocalExecutor, Store, Study, case_of, records, run

ARMS, GAPS, NOISES = (2, 10, 100, 1000), (0.02, 0.1, 0.5), (0.1, 1.0, 3.0)
ALPHAS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
HORIZONS = (10_000, 100_000, 1_000_000)
METRICS = ("optimal_probability", "wrong_probability", "regret", "suboptimality")
CLICKS = 0.0  # stands for the noise of Bernoulli rewards
Cell = tuple[int, float, float]
Runs = dict[int, np.ndarray]  # horizon -> regrets of runs 0, 1, ...


def family(arms: int, gap: float, noise: float) -> lb.GapInstances | lb.BernoulliGapInstances:
    """The problem of a cell."""
    if noise == CLICKS:
        return lb.BernoulliGapInstances(n_arms=arms, gap=gap)
    return lb.GapInstances(n_arms=arms, gap=gap, scale=noise)


def rules_of(group: str, noise: float) -> list[lb.Rule]:
    """The rules that a word stands for."""
    if group == "auto":
        return [lb.AutoLogBarrier()]
    if group == "alphas":
        return [lb.AdaptiveLogBarrierSGB(learning_rate=alpha) for alpha in ALPHAS]
    return [lb.ThompsonSampling(scale=noise or 0.5, prior_scale=1.0)]


def compute(given: argparse.Namespace) -> None:
    """Run one piece."""
    cells = [(int(arms), gap, noise) for arms in given.arms.split(",") for gap in GAPS for noise in (*NOISES, CLICKS)]
    cases = [
        case_of(family(*cell), rule) for cell in cells for group in given.rules.split(",") for rule in rules_of(group, cell[2])
    ]
    study = Study(
        name="auto-panels",
        cases=cases,
        horizon=int(given.horizon),
        runs=given.runs,
        seed=given.seed,
        runs_per_cell=given.block,
        checkpoints=[step for step in HORIZONS if step <= given.horizon],
        metrics=METRICS,
    )
    outcome = run(Store(given.folder / study.folder_name, study), LocalExecutor(given.threads), warn=print)
    print(f"{outcome.computed} computed, {outcome.stored} there already, {outcome.seconds} s")


def stored(folder: Path, seed: int) -> tuple[dict[Cell, dict[str, Runs]], dict[Cell, dict[int, float]], dict[Cell, float]]:
    """Regrets by cell, rule and horizon, the share of stuck runs of AutoLogBarrier, and what a uniform pull costs."""
    regrets: dict[Cell, dict[str, Runs]] = {}
    stuck: dict[Cell, dict[int, float]] = {}
    uniform: dict[Cell, float] = {}
    for place in sorted(folder.glob("auto-panels-*/study.toml")):
        store = Store.open(place.parent)
        if store.study.seed != seed:
            continue
        for case, record in records(store):
            cell = (case.n_arms, case.problem["gap"], float(case.problem.get("scale", CLICKS)))
            name = str(case.rule.get("learning_rate", case.rule["rule"]))
            mine = regrets.setdefault(cell, {}).setdefault(name, {})
            for c, step in enumerate(record.steps.tolist()):
                if step in HORIZONS and record.runs > len(mine.get(step, ())):
                    mine[step] = record["regret"][:, c]
                    if name == "auto-log-barrier":
                        stuck.setdefault(cell, {})[step] = float(record.stuck()[c])
                        uniform[cell] = float(record["suboptimality"][:, 0].mean())
    return regrets, stuck, uniform


def paired_ratio(mine: np.ndarray, other: np.ndarray) -> tuple[float, float, int]:
    """Ratio of mean regrets over common runs, half a 95 % interval of it (the divisor taken as known), and the runs."""
    runs = min(len(mine), len(other))
    difference = mine[:runs] - other[:runs]
    half = t_quantile(0.975, runs - 1) * difference.std(ddof=1) / np.sqrt(runs)
    return float(mine[:runs].mean() / other[:runs].mean()), float(half / other[:runs].mean()), runs


def table(given: argparse.Namespace) -> None:
    """Print a Markdown row per cell and horizon, then what they come to."""
    print("| K | gap | noise | horizon | regret | stuck | best alpha | over it | runs | over Thompson | runs |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    hindsight, thompson = [], []
    for text, over_best, over_thompson in rows(*stored(given.folder, given.seed)):
        print(text)
        hindsight += over_best
        thompson += over_thompson
    for name, ratios in (("best alpha in hindsight", np.array(hindsight)), ("Thompson sampling", np.array(thompson))):
        if len(ratios):
            print(
                f"\nOver {name}, {len(ratios)} cells: geometric mean {np.exp(np.log(ratios).mean()):.2f}, "
                f"median {np.median(ratios):.2f}, largest {ratios.max():.2f}, above 1.3 in {(ratios > 1.3).sum()}, "
                f"above 2 in {(ratios > 2).sum()}, above 4 in {(ratios > 4).sum()}"
            )


def rows(
    regrets: dict[Cell, dict[str, Runs]], stuck: dict[Cell, dict[int, float]], uniform: dict[Cell, float]
) -> Iterator[tuple[str, list[float], list[float]]]:
    """Each row of the table, with the ratios that count."""
    for cell in sorted(stuck):
        arms, gap, noise = cell
        for step in sorted(stuck[cell]):
            mine = regrets[cell]["auto-log-barrier"][step]
            others = {name: runs[step] for name, runs in regrets[cell].items() if step in runs}
            rates = {name: others[name] for name in map(str, ALPHAS) if name in others}
            over_best, over_thompson, words = [], [], ["", "", "", "", ""]
            if rates:
                name, best = min(rates.items(), key=lambda item: item[1].mean())
                ratio, half, runs = paired_ratio(mine, best)
                counts = best.mean() <= uniform[cell] * step / 2
                over_best = [ratio] if counts else []
                words[:3] = [name, f"{ratio:.2f} ± {half:.2f}{'' if counts else ' (does not count)'}", str(runs)]
            if "thompson-sampling" in others:
                ratio, half, runs = paired_ratio(mine, others["thompson-sampling"])
                over_thompson = [ratio]
                words[3:] = [f"{ratio:.2f} ± {half:.2f}", str(runs)]
            reward = "clicks" if noise == CLICKS else f"{noise:g}"
            start = f"{arms} | {gap:g} | {reward} | {step:.0e} | {mine.mean():,.0f} | {stuck[cell][step]:.2f}"
            yield f"| {start} | {' | '.join(words)} |", over_best, over_thompson


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--rules", default="auto,alphas,thompson")
    parser.add_argument("--arms", default=",".join(map(str, ARMS)))
    parser.add_argument("--horizon", type=float, default=1e5)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--block", type=int, default=25, help="runs that are computed and stored together")
    parser.add_argument("--seed", type=int, default=2030)
    parser.add_argument("--folder", type=Path, default=Path("runs/auto"))
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    compute(given) if given.what == "run" else table(given)


if __name__ == "__main__":
    main()
