"""Tuned eta against the paper's, in the six panels of figure 1, on seeds the search did not see.

    python benchmarks/tune_panels.py [--horizon 2.5e6] [--runs 100] [--threads N] [--panels 10:0.1,100:0.01]

A panel passes when the planned eta's mean p(a*) at the horizon is at least the paper's minus 2 standard errors of their paired
difference. `ahead` is that difference.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import logbarrier as lb
from logbarrier import planning

PAPER = {(10, 0.01): 1000, (10, 0.1): 1000, (100, 0.01): 2000, (100, 0.1): 2000, (1000, 0.01): 10_000, (1000, 0.1): 5000}
UNSEEN_SEED = 20_000


def main() -> None:
    """Print a row per panel."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--horizon", type=float, default=2.5e6)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--budget", type=float, default=None, help="steps the search may simulate")
    parser.add_argument("--panels", default=",".join(f"{arms}:{rate}" for arms, rate in PAPER), help="arms:alpha,...")
    given = parser.parse_args()
    print(f"horizon {given.horizon:g}, {given.runs} unseen runs per eta")
    columns = (
        ("K", 5),
        ("alpha", 6),
        ("paper eta", 9),
        ("p(a*)", 6),
        ("planned eta", 11),
        ("p(a*)", 6),
        ("ahead", 17),
        ("plan s", 7),
    )
    print(" ".join(name.rjust(width) for name, width in columns), " verdict")
    for word in given.panels.split(","):
        arms, rate = int(word.split(":")[0]), float(word.split(":")[1])
        started = time.perf_counter()
        plan = planning.tune(arms, 0.1, given.horizon, learning_rate=rate, budget=given.budget, threads=given.threads)
        seconds = time.perf_counter() - started
        eta = plan.recommendation.eta
        paper, planned = (final(arms, rate, value, given) for value in (PAPER[arms, rate], eta))
        ahead = planned - paper
        error = float(ahead.std(ddof=1)) / np.sqrt(len(ahead))
        verdict = "at least as well" if ahead.mean() >= -2 * error else "worse"
        print(
            f"{arms:5d} {rate:6g} {PAPER[arms, rate]:9d} {paper.mean():6.3f} {eta:11g} {planned.mean():6.3f} "
            f"{ahead.mean():+8.3f} +- {error:.3f} {seconds:7.1f}  {verdict}",
            flush=True,
        )


def final(arms: int, rate: float, eta: float, given: argparse.Namespace) -> np.ndarray:
    """p(a*) (runs,) at the horizon."""
    record = lb.simulate(
        lb.LogBarrierSGB(learning_rate=rate, eta=eta),
        lb.GapInstances(n_arms=arms),
        horizon=given.horizon,
        runs=given.runs,
        seed=UNSEEN_SEED,
        checkpoints=2,
        metrics=["optimal_probability"],
        threads=given.threads,
    )
    return np.asarray(record["optimal_probability"][:, -1])


if __name__ == "__main__":
    main()
