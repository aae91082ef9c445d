"""What each constant of AutoLogBarrier is worth: the panel's regret with one of them removed or halved, one row each.

    python benchmarks/auto_ablation.py [--half tuning] [--arms 5,12,50,300] [--runs 60] [--seed 6101] [--threads 1]
                                       [--rows DECIDED=0.6,OPEN=0.525]

Cells are those of the panel with 1e5 pulls. A row is the regret divided by that of the rule as it is, on the same runs; a star
marks differences whose paired 95 % interval excludes 0. Every row runs in a Python of its own, since compiled code holds the
constants. `--rows` gives other rows, joined by '+' where several constants change at once.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import numpy as np

import logbarrier as lb
from logbarrier.bandits.algorithms import auto_log_barrier
from logbarrier.planning.panel import PanelCell, panel
from logbarrier.statistics import t_interval

HORIZON = 100_000
ROWS = (
    *("GAIN=0.75", "BOLD=0", "BOLD=1", "DOUBT=0", "DOUBT=20", "LEAST_DOUBT=0", "VARIANCE_CORRECTION=0", "LARGEST_LIFT=1e9"),
    *("NEWNESS=0", "DECIDED=0.6", "DECIDED_ARMS=0", "OPEN=0.525", "EARLY=0", "LONG=0", "LONG=0.9", "USUAL_LENGTH=0"),
    *("LONG_LENGTH=16", "RECENCY=1", "LATEST=1", "WARM_UP=2", "DECIDED=0.6+OPEN=0.525"),
)


def cells_of(given: argparse.Namespace) -> list[PanelCell]:
    """Return the cells of the table."""
    arms = [int(word) for word in given.arms.split(",")]
    return [cell for cell in panel(half=given.half, arms=arms) if cell.horizon == HORIZON]


def regrets(row: str, given: argparse.Namespace) -> dict[str, list[float]]:
    """Return the regret of each run on each cell, with the constants of a row, before anything is compiled."""
    for change in filter(None, row.split("+")):
        name, _, value = change.partition("=")
        if not hasattr(auto_log_barrier, name):
            raise SystemExit(f"auto_ablation: there is no constant {name}")
        setattr(auto_log_barrier, name, float(value))
    found = {}
    for cell in cells_of(given):
        options = {"runs": given.runs, "seed": given.seed, "threads": given.threads, "checkpoints": 2, "metrics": ["regret"]}
        record = lb.simulate(lb.AutoLogBarrier(), cell.problem, horizon=cell.horizon, **options)
        found[cell.name] = record["regret"][:, -1].tolist()
    return found


def elsewhere(row: str) -> dict[str, np.ndarray]:
    """Return the same from another Python."""
    command = [sys.executable, __file__, *sys.argv[1:], "--one", row or "+"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name: np.array(values) for name, values in json.loads(done.stdout).items()}


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", default="tuning", choices=["tuning", "test"])
    parser.add_argument("--arms", default="5,12,50,300")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=6101)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        print(json.dumps(regrets(given.one, given)))
        return
    plain = elsewhere("")
    print(f"| constant | {' | '.join(plain)} |\n|---|{'---|' * len(plain)}")
    print(f"| as it is: regret | {' | '.join(f'{values.mean():,.4g}' for values in plain.values())} |", flush=True)
    for row in given.rows.split(","):
        entries = []
        for name, values in elsewhere(row).items():
            low, high = t_interval(values - plain[name])
            entries.append(f"{values.mean() / plain[name].mean():.2f}{'' if low <= 0 <= high else '*'}")
        print(f"| {row} | {' | '.join(entries)} |", flush=True)


if __name__ == "__main__":
    main()
