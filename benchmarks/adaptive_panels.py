"""Adaptive barriers against the paper's fixed eta in the six panels of figure 1, on seeds no setting was tuned on.

    python benchmarks/adaptive_panels.py [--horizon 2.5e6] [--runs 100] [--seed 2026] [--threads N] [--panels 10:0.1,100:0.01]
                                         [--json FILE]

The adaptive rules have one setting for all panels. Every rule meets the same instances, so the differences to the fixed eta
are paired by run; their 95 % intervals are Student's. `stuck` is the fraction of runs with a wrong arm above one half at
the horizon. tools/figures_results.py plots the table of docs/adaptive-study.md, which has these rows.
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
    given = parser.parse_args()
    print("    K  alpha  rule       p(a*)  against fixed eta       regret  against fixed eta         stuck  seconds")
    rows: list[Row] = []
    for word in given.panels.split(","):
        for row in panel(int(word.split(":")[0]), float(word.split(":")[1]), given):
            rows.append(row)
            print(line(row), flush=True)
            if given.json is not None:
                given.json.write_text(json.dumps(rows, indent=1))


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


if __name__ == "__main__":
    main()
