"""Bandits with features, K = 1000 and m = 20: regret and stuck runs of five rules, and the cost of a step.

    python benchmarks/features_bandits.py regret [--minutes 20]
    python benchmarks/features_bandits.py cost

Both write benchmarks/features_bandits.json. Regret: 10,000 steps, 100 runs of seed 8201, which had no part in any tuning. Stuck
runs are those of `Record.stuck_fraction`. Cost: CPU time per step on one thread, with 1000 and 100,000 arms. `regret` goes on
where it was stopped. tests/test_feature_results.py compares docs/features.md with the file.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import logbarrier as lb

RESULTS = Path(__file__).with_suffix(".json")
SEED, RUNS, HORIZON, N_FEATURES = 8201, 100, 10_000, 20
RATES = (0.1, 0.5, 2.0, 8.0)


def rules() -> dict[str, lb.Rule]:
    """Three gradient rules at four learning rates, and two outsiders."""
    found: dict[str, lb.Rule] = {}
    for rate in RATES:
        found[f"LB-SGB {rate:g}"] = lb.LogBarrierSGB(learning_rate=rate, eta=5000.0)
        found[f"LogLinearSGB {rate:g}"] = lb.LogLinearSGB(learning_rate=rate)
        found[f"LogDetSGB {rate:g}"] = lb.LogDetSGB(learning_rate=rate, eta=1000.0)
    return {**found, "LinUCB": lb.LinUCB(), "LinThompson": lb.LinThompson()}


def regret(minutes: float) -> None:
    """Measure the rules that are missing, until the minutes are over."""
    end, problem = time.monotonic() + 60.0 * minutes, lb.FeatureInstances(n_arms=1000, n_features=N_FEATURES, gap=0.1)
    for name, rule in rules().items():
        results = stored()
        if name in results["regret"] or time.monotonic() > end:
            continue
        record = lb.simulate(rule, problem, horizon=HORIZON, runs=RUNS, seed=SEED, threads=1, checkpoints=2)
        results["regret"][name] = {
            "regret": round(float(record.mean("regret")[-1])),
            "half_width": round(float((record.interval("regret")[1] - record.interval("regret")[0])[-1] / 2.0)),
            "final": round(float(record.mean("optimal_probability")[-1]), 2),
            "stuck": round(record.stuck_fraction(), 2),
        }
        write(results)
        print(name, results["regret"][name], flush=True)


def cost() -> None:
    """Measure CPU time per step: the least of three long simulations minus the least of three of one step."""
    for n_arms, horizon in ((1000, 20_000), (100_000, 400)):
        problem = lb.FeatureInstances(n_arms=n_arms, n_features=N_FEATURES, gap=0.1).problem(SEED, 0)
        for name, rule in rules().items():
            if name.endswith((" 0.1", " 2", " 8")):
                continue
            lb.simulate(rule, problem, horizon=1, threads=1, checkpoints=2)  # compiles
            least = {steps: min(_cpu_time(rule, problem, steps) for _ in range(3)) for steps in (1, horizon + 1)}
            results = stored()
            per_step = (least[horizon + 1] - least[1]) / horizon
            results["cost"].setdefault(name.split()[0], {})[str(n_arms)] = float(f"{1e6 * per_step:.2g}")
            write(results)
            print(name, n_arms, results["cost"][name.split()[0]], "us", flush=True)


def _cpu_time(rule: lb.Rule, problem: lb.LinearBandit, steps: int) -> float:
    begin = time.process_time()
    lb.simulate(rule, problem, horizon=steps, threads=1, checkpoints=2)
    return time.process_time() - begin


def stored() -> dict[str, Any]:
    """What was measured so far."""
    return dict(json.loads(RESULTS.read_text())) if RESULTS.exists() else {"seed": SEED, "runs": RUNS, "regret": {}, "cost": {}}


def write(results: dict[str, Any]) -> None:
    """Write the file."""
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def regret_table(results: dict[str, Any]) -> str:
    """Regret and, in brackets, the share of stuck runs, as Markdown."""
    names = ("LB-SGB", "LogLinearSGB", "LogDetSGB")
    lines = ["| learning rate | LB-SGB, table, eta 5000 | LogLinearSGB | LogDetSGB, eta 1000 |", "|---|---|---|---|"]
    for rate in RATES:
        cells = [results["regret"][f"{name} {rate:g}"] for name in names]
        lines.append(f"| {rate:g} | " + " | ".join(f"{cell['regret']} ({cell['stuck']:.2f})" for cell in cells) + " |")
    return "\n".join(lines)


def cost_table(results: dict[str, Any]) -> str:
    """Microseconds per step, as Markdown."""
    lines = ["| microseconds per step | K = 1000 | K = 100,000 |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {name} | {row['1000']:g} | {row['100000']:g} |" for name, row in results["cost"].items())])


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["regret", "cost", "table"])
    parser.add_argument("--minutes", type=float, default=20.0)
    given = parser.parse_args()
    if given.what == "regret":
        regret(given.minutes)
    elif given.what == "cost":
        cost()
    else:
        print(regret_table(stored()), cost_table(stored()), sep="\n\n")


if __name__ == "__main__":
    main()
