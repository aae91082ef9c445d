"""False alarms of OptimisticBarrier on the steady problems of the panel: how many per 1e6 pulls.

python benchmarks/false_alarms.py [--pulls 2e6] [--seed 7301] [--half tuning|test]
"""

from __future__ import annotations

import argparse

import numpy as np

import logbarrier as lb
from logbarrier.bandits.engines import Stops, VectorRun
from logbarrier.bandits.metrics import METRICS
from logbarrier.bandits.starts import Uniform
from logbarrier.engine.random import stream_key


def alarms(rule: lb.OptimisticBarrier, problem: object, horizon: int, runs: int, seed: int) -> float:
    """Return how many changes `runs` runs of a rule noticed."""
    ends = np.array([0, horizon])
    noticed = 0.0
    for run in range(runs):
        out = np.empty((1, 2, len(METRICS)))
        stops = Stops.with_checkpoints(ends, ends)
        engine = VectorRun(rule, problem, Uniform(), stream_key(seed), range(run, run + 1), stops, out)  # type: ignore[arg-type]
        engine.advance(0, 2)
        noticed += float(rule.memory_at(engine._state[2]).changes)
    return noticed


def main() -> None:
    """Print one row per problem."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pulls", type=float, default=2e6, help="of each problem, over all runs")
    parser.add_argument("--seed", type=int, default=7301)
    parser.add_argument("--half", default=None)
    parser.add_argument("--arms", default="2,12,50")
    arguments = parser.parse_args()
    rule, total = lb.OptimisticBarrier(), 0.0
    for cell in lb.panel(half=arguments.half, arms=[int(each) for each in arguments.arms.split(",")]):
        horizon = min(cell.horizon, int(arguments.pulls))
        runs = max(round(arguments.pulls / horizon), 1)
        found = alarms(rule, cell.problem, horizon, runs, arguments.seed)
        total += found
        print(
            f"{cell.name:26} {runs:5} runs {found:6.0f} alarms {1e6 * found / (runs * horizon):8.2f} per 1e6 pulls", flush=True
        )
    print(f"{total:.0f} in all")


if __name__ == "__main__":
    main()
