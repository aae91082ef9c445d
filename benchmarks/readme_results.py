"""The results that README.md quotes: `python benchmarks/readme_results.py` writes benchmarks/readme_results.json.

Seeds and problems had no part in any tuning: the test half of the panel, seed 8301. tests/test_results.py compares README.md
with the file. The last row is read from benchmarks/deep_study.json, which deep_study.py writes.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

import logbarrier as lb
from logbarrier import mdps

FOLDER = Path(__file__).parent
SEED = 8301
MOST_ARMS, LONGEST = 50, 100_000
SOLVED = 0.9  # score of the final greedy policy


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--out", type=Path, default=FOLDER / "readme_results.json")
    given = parser.parse_args()
    rows = {"panel": panel(given.runs), "swaps": swaps(given.runs), "deep_sea": deep_sea(given.runs), "collapsed": collapsed()}
    given.out.write_text(json.dumps({**origin(), "seed": SEED, "runs": given.runs, **rows}, indent=1) + "\n")


def regret(rule: lb.Rule, problem: Any, horizon: int, runs: int) -> float:
    """Return the mean regret of a rule."""
    return float(lb.simulate(rule, problem, horizon=horizon, runs=runs, seed=SEED, checkpoints=2).mean("regret")[-1])


def panel(runs: int) -> dict[str, Any]:
    """Return the regret of OptimisticBarrier divided by that of rules in use, per cell of the test half."""
    cells = [cell for cell in lb.panel(half="test") if cell.problem.n_arms is not None and cell.problem.n_arms <= MOST_ARMS]
    ratios: dict[str, dict[str, float]] = {}
    for cell in (cell for cell in cells if cell.horizon <= LONGEST):
        ours = regret(lb.OptimisticBarrier(), cell.problem, cell.horizon, runs)
        rivals = {"thompson": cell.informed_rule(), "epsilon_greedy": lb.EpsilonGreedy(exploration=0.0, floor=0.1)}
        ratios[cell.name] = {
            name: round(ours / regret(rule, cell.problem, cell.horizon, runs), 3) for name, rule in rivals.items()
        }
        print(cell.name, ratios[cell.name], flush=True)
    return {
        "cells": ratios,
        **{name: summary([row[name] for row in ratios.values()]) for name in ("thompson", "epsilon_greedy")},
    }


def summary(ratios: list[float]) -> dict[str, Any]:
    """Return the median and the largest ratio, and how many are below 1."""
    return {
        "median": round(float(np.median(ratios)), 2),
        "largest": round(max(ratios), 2),
        "below_one": sum(ratio < 1 for ratio in ratios),
        "of": len(ratios),
    }


def swaps(runs: int) -> dict[str, float]:
    """Return regrets on ten arms whose means are shuffled every 10,000 steps."""
    problem = lb.SwappingArms(n_arms=10, gap=0.5, period=10_000)
    rules: dict[str, lb.Rule] = {"optimistic_barrier": lb.OptimisticBarrier(), "window_ucb": lb.SlidingWindowUCB(window=5000)}
    return {name: round(regret(rule, problem, 100_000, runs)) for name, rule in rules.items()}


def deep_sea(runs: int) -> dict[str, int]:
    """Return in how many runs the final greedy policy is solved; settings of rivals are those of examples/exploration.toml."""
    rules: dict[str, mdps.Rule] = {
        "spectral_pg": mdps.SpectralPG(),
        "entropy_pg": mdps.EntropyPG(learning_rate=0.10005, trace=0.8, tau=9.995e-05),
    }
    return {
        name: int(
            np.sum(mdps.simulate(rule, mdps.DeepSea(20), horizon=300_000, runs=runs, seed=SEED)["score"][:, -1] >= SOLVED)
        )
        for name, rule in rules.items()
    }


def collapsed() -> dict[str, float]:
    """Return interquartile means of the score in the last tenth of the training of a collapsed PPO policy."""
    study = json.loads((FOLDER / "deep_study.json").read_text())
    last = next(row["last"] for row in study.values() if row["task"] == "grid, collapsed checkpoint")
    return {name: round(interquartile_mean(last[name]), 2) for name in ("none", "entropy", "annealed")}


def interquartile_mean(values: list[float]) -> float:
    """Return the mean of the middle half."""
    cut = len(values) // 4
    return float(np.mean(sorted(values)[cut : len(values) - cut]))


def origin() -> dict[str, str]:
    """Return when, from which commit and on which machine this was measured."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False, cwd=FOLDER)
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"date": date, "commit": commit.stdout.strip(), "machine": f"{platform.machine()} {platform.system()}"}


if __name__ == "__main__":
    main()
