"""What a simulated step of OptimisticBarrier costs, beside Thompson sampling and UCB1, in one run on one core.

python benchmarks/decision_speed.py [--json benchmarks/decision_speed.json]
"""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path

import logbarrier as lb
from logbarrier.base.files import whole_file

RULES = {
    "OptimisticBarrier": lb.OptimisticBarrier(),
    "OptimisticBarrier(changing=False)": lb.OptimisticBarrier(changing=False),
    "ThompsonSampling": lb.ThompsonSampling(),
    "EmpiricalThompsonSampling": lb.EmpiricalThompsonSampling(),
    "UCB1": lb.UCB1(),
}
ARMS = {10: 400_000, 100: 200_000, 1000: 40_000}  # number of arms -> steps
REPEATS = 5


def step_ns(rule: lb.Rule, n_arms: int, steps: int) -> float:
    """Return nanoseconds per step, the least of five runs after a warm-up."""
    problem, options = lb.GapInstances(n_arms), {"runs": 1, "seed": 0, "checkpoints": 2, "threads": 1}
    lb.simulate(rule, problem, horizon=2, **options)  # type: ignore[arg-type]
    seconds = [lb.simulate(rule, problem, horizon=steps, **options).provenance["seconds"] for _ in range(REPEATS)]  # type: ignore[arg-type]
    return float(f"{1e9 * min(seconds) / steps:.4g}")


def main() -> None:
    """Print nanoseconds per step, one row per rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found = {
        name: {str(n_arms): step_ns(rule, n_arms, steps) for n_arms, steps in ARMS.items()} for name, rule in RULES.items()
    }
    for name, row in found.items():
        print(f"{name:34} {' '.join(f'{value:8.0f}' for value in row.values())}")
    if given.json:
        with whole_file(given.json) as file:
            file.write(json.dumps({"machine": platform.machine(), "unit": "ns per step", "rules": found}, indent=1).encode())


if __name__ == "__main__":
    main()
