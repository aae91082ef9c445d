"""Adaptive barriers against the paper's fixed eta in the six panels of figure 1, on seeds no setting was tuned on.

    python benchmarks/adaptive_panels.py [--horizon 2.5e6] [--runs 100] [--seed 2026] [--threads N] [--panels 10:0.1,100:0.01]
                                         [--json FILE] [--plot FILE] [--read FILE]

The adaptive rules have one setting for all panels. Every rule meets the same instances, so the differences to the fixed eta
are paired by run; their 95 % intervals are Student's. `stuck` is the fraction of runs with a wrong arm above one half at
the horizon. `--read` takes the rows of an earlier `--json` instead of simulating.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

import logbarrier as lb

PAPER = {(10, 0.01): 1000, (10, 0.1): 1000, (100, 0.01): 2000, (100, 0.1): 2000, (1000, 0.01): 10_000, (1000, 0.1): 5000}
METRICS = ["optimal_probability", "wrong_probability", "regret"]
MARKS = {"fixed eta": ("o", "#0072B2"), "time": ("s", "#E69F00"), "evidence": ("D", "#009E73"), "SGB": ("X", "#D55E00")}
Row = dict[str, Any]


def rules(n_arms: int, alpha: float) -> dict[str, lb.Rule]:
    """The rules of a panel; the first is what the others are compared with."""
    return {
        "fixed eta": lb.LogBarrierSGB(learning_rate=alpha, eta=PAPER[n_arms, alpha]),
        "time": lb.AdaptiveLogBarrierSGB(learning_rate=alpha, schedule="time", c=3.0),
        "evidence": lb.AdaptiveLogBarrierSGB(learning_rate=alpha),
        "SGB": lb.SGB(learning_rate=alpha),
    }


def main() -> None:
    """Print a row per panel and rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--horizon", type=float, default=2.5e6)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--panels", default=",".join(f"{arms}:{alpha}" for arms, alpha in PAPER), help="arms:alpha,...")
    parser.add_argument("--json", type=Path, default=None, help="write the rows here")
    parser.add_argument("--plot", type=Path, default=None, help="write the frontier here, .png or .svg")
    parser.add_argument("--read", type=Path, default=None, help="rows to take instead of simulating")
    given = parser.parse_args()
    print("    K  alpha  rule       p(a*)  against fixed eta       regret  against fixed eta         stuck  seconds")
    rows: list[Row] = []
    if given.read is not None:
        rows = json.loads(given.read.read_text())
        print("\n".join(map(line, rows)))
    else:
        for word in given.panels.split(","):
            for row in panel(int(word.split(":")[0]), float(word.split(":")[1]), given):
                rows.append(row)
                print(line(row), flush=True)
                if given.json is not None:
                    given.json.write_text(json.dumps(rows, indent=1))
    if given.plot is not None:
        plot(rows, given.plot)


def panel(n_arms: int, alpha: float, given: argparse.Namespace) -> Any:
    """The rows of a panel, as they are ready."""
    fixed = None
    for name, rule in rules(n_arms, alpha).items():
        record = lb.simulate(
            rule,
            lb.GapInstances(n_arms=n_arms),
            horizon=given.horizon,
            runs=given.runs,
            seed=given.seed,
            checkpoints=2,
            metrics=METRICS,
            threads=given.threads,
        )
        optimal, wrong, regret = (record[metric][:, -1] for metric in METRICS)
        if fixed is None:
            fixed = optimal, regret
        yield {
            "n_arms": n_arms,
            "alpha": alpha,
            "rule": name,
            "parameters": rule.to_dict(),
            "optimal_probability": float(optimal.mean()),
            "optimal_probability_ahead": paired(optimal - fixed[0]),
            "regret": float(regret.mean()),
            "regret_ahead": paired(regret - fixed[1]),
            "stuck": float((wrong > 0.5).mean()),
            "runs": given.runs,
            "horizon": given.horizon,
            "seed": given.seed,
            "seconds": record.provenance["seconds"],
        }


def paired(difference: np.ndarray) -> tuple[float, float]:
    """Mean over runs and half the width of its 95 % interval."""
    half = student.ppf(0.975, len(difference) - 1) * difference.std(ddof=1) / np.sqrt(len(difference))
    return float(difference.mean()), float(half)


def line(row: Row) -> str:
    """A row of the table."""
    ahead, more = row["optimal_probability_ahead"], row["regret_ahead"]
    return (
        f"{row['n_arms']:5d} {row['alpha']:6g}  {row['rule']:9s} "
        f"{row['optimal_probability']:6.4f}  {ahead[0]:+7.4f} +- {ahead[1]:6.4f} "
        f"{row['regret']:12,.0f}  {more[0]:+11,.0f} +- {more[1]:8,.0f} {row['stuck']:6.2f} {row['seconds']:8.1f}"
    )


def plot(rows: list[Row], target: Path) -> None:
    """Regret against 1 - p(a*), a pane per panel: down and to the left is better."""
    import matplotlib.pyplot as plt

    figure, panes = plt.subplots(2, 3, figsize=(9.5, 5.6), sharex=True, sharey=True, layout="constrained")
    for pane, (n_arms, alpha) in zip(panes.T.ravel(), PAPER, strict=True):
        for row in rows:
            if (row["n_arms"], row["alpha"]) == (n_arms, alpha):
                mark, colour = MARKS[row["rule"]]
                pane.plot(1 - row["optimal_probability"], row["regret"], mark, color=colour, markersize=8, label=row["rule"])
        pane.set(xscale="log", yscale="log", title=rf"K = {n_arms}, $\alpha$ = {alpha:g}")
        pane.margins(0.12)
        pane.grid(alpha=0.3, linewidth=0.5)
    for pane in panes[1]:
        pane.set_xlabel("1 - p(a*) at the horizon")
    for pane in panes[:, 0]:
        pane.set_ylabel("regret")
    figure.legend(*panes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(MARKS), frameon=False)
    figure.savefig(target, dpi=150)


if __name__ == "__main__":
    main()
