"""Runs of OptimisticBarrier that end with p(best) below 1/2: is the best arm lost, or is another one just being tried?

Over the last tenth of a run, p(best) is looked at 40 times. A run is lost if it is below 1/2 in more than half of them.
"Moments" is the share of such looks in the other runs. More optimism loses fewer runs and costs regret.

python benchmarks/decisions_tail.py [--json benchmarks/decisions_tail.json]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import logbarrier as lb
from logbarrier.base.files import whole_file
from logbarrier.planning.panel import PanelCell

CELLS = {
    "needle-0.1/300/1000000": 100,
    "unequal-0.1/1000/100000": 200,
    "counts-0.5/12/1000000": 200,
    "quiet-0.1/50/10000": 1000,
    "close-0.02/50/1000000": 200,
}  # of the test half -> runs
OPTIMISM = (1.0, 1.3, 1.6)
SEED = 8901
LOOKS = 40


def figures(rule: lb.Rule, cell: PanelCell, runs: int) -> dict[str, Any]:
    """Return mean and largest regret, and the shares of runs that end wrong, are lost, or try another arm."""
    looks = [cell.horizon - cell.horizon // 10 * i // LOOKS for i in reversed(range(LOOKS))]
    record = lb.simulate(
        rule,
        cell.problem,
        horizon=cell.horizon,
        runs=runs,
        seed=SEED,
        checkpoints=looks,
        metrics=("regret", "optimal_probability"),
    )
    wrong = record["optimal_probability"][:, -LOOKS:] < 0.5
    lost = wrong.mean(axis=1) > 0.5
    regret = record["regret"][:, -1]
    return {
        "regret": float(f"{regret.mean():.4g}"),
        "error": float(f"{regret.std(ddof=1) / np.sqrt(runs):.2g}"),
        "largest": float(f"{regret.max():.4g}"),
        "wrong_end": float(wrong[:, -1].mean()),
        "lost": float(lost.mean()),
        "moments": float(f"{wrong[~lost].mean():.2g}"),
    }


def main() -> None:
    """Print a row per cell and rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    cells = {cell.name: cell for cell in lb.panel(half="test")}
    rows = []
    for name, runs in CELLS.items():
        rules: dict[str, lb.Rule] = {f"optimism {value:g}": lb.OptimisticBarrier(optimism=value) for value in OPTIMISM}
        for rule, each in {**rules, "informed Thompson": cells[name].informed_rule()}.items():
            row = {"cell": name, "rule": rule, "runs": runs, **figures(each, cells[name], runs)}
            print(*row.values(), flush=True)
            rows.append(row)
    if given.json:
        with whole_file(given.json) as file:
            file.write(json.dumps({"seed": SEED, "rows": rows}, indent=1).encode())


if __name__ == "__main__":
    main()
