"""Steps to solve DeepSea and a large grid: counts against features, run by run in features_exploration.json.

    python benchmarks/features_exploration.py run [--problem "DeepSea 50"] [--minutes 60]
    python benchmarks/features_exploration.py table

A run is solved at the end if the score of its final greedy policy is at least 0.9. Its steps are those of the first checkpoint
with that score, of 100. Test: runs 0 to 29 of seed 8101. The count bonus gets the best of 16 settings on two runs of seed 2001.
The constants and features of FeatureSpectralPG were chosen on seeds 3001 and 3002, on DeepSea 20, 50 and a grid of 50 x 50.
All rules of a problem get the same budget, 30 runs each. Row and column are left out on the grid: 600 features are too slow.
`run` goes on where it was stopped. tests/test_feature_results.py compares docs/features.md with the file.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from logbarrier import mdps

RESULTS = Path(__file__).with_suffix(".json")
SOLVED, SEED, RUNS, TUNING_SEED, TUNING_RUNS = 0.9, 8101, 30, 2001, 2
RATES, SCALES = (0.1, 0.3, 1.0, 3.0), (0.01, 0.1, 1.0, 10.0)
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))


def grid(n: int) -> mdps.FiniteMDP:
    """n x n cells, four moves, from a corner; the far corner pays 1 per step. An episode has 4 n steps."""
    row, column = np.divmod(np.arange(n * n), n)
    to = np.array([np.clip(row + down, 0, n - 1) * n + np.clip(column + right, 0, n - 1) for down, right in MOVES])
    P = csr_array((np.ones(4 * n * n), to.T.ravel(), np.arange(4 * n * n + 1)), shape=(4 * n * n, n * n))
    R = np.zeros((n * n, 4))
    R[-1] = 1.0
    return mdps.FiniteMDP(P=P, R=R, rho=np.eye(1, n * n)[0], gamma=0.99, shape=(n, n), episode_length=4 * n)


PROBLEMS: dict[str, tuple[Callable[[], mdps.FiniteMDP], int]] = {  # and the steps of a run
    "DeepSea 20": (functools.partial(mdps.DeepSea, 20), 300_000),
    "DeepSea 50": (functools.partial(mdps.DeepSea, 50), 1_000_000),
    "grid 100 x 100": (functools.partial(grid, 100), 3_000_000),
    "DeepSea 100": (functools.partial(mdps.DeepSea, 100), 4_000_000),
}


def legendre(x: np.ndarray) -> np.ndarray:
    """Legendre polynomials of degree 0 to 5 in (0, 1)."""
    return np.asarray(np.polynomial.legendre.legvander(2.0 * x - 1.0, 5))


def rules(name: str, mdp: mdps.FiniteMDP, tuned: dict[str, Any]) -> dict[str, Callable[[], mdps.Rule]]:
    """The rules of a problem, in the order they are run."""
    chosen: dict[str, Callable[[], mdps.Rule]] = {
        "SpectralPG()": mdps.SpectralPG,
        "count bonus": lambda: mdps.CountBonus(**tuned[name], trace=0.8),
        "36 polynomials": lambda: mdps.FeatureSpectralPG(features=mdps.grid_features(mdp, legendre)),
        "36 cosines": lambda: mdps.FeatureSpectralPG(features=mdps.grid_features(mdp)),
    }
    if name.startswith("DeepSea"):
        chosen["row and column"] = mdps.FeatureSpectralPG
    return chosen


def steps_to_solve(rule: mdps.Rule, mdp: mdps.FiniteMDP, horizon: int, seed: int, run: int) -> dict[str, Any]:
    """Play one run: the first step with the score of a solution, or None, and the final score."""
    options: dict[str, Any] = {"horizon": horizon, "seed": seed, "first_run": run, "checkpoints": 101, "metrics": ["score"]}
    record = mdps.simulate(rule, mdp, threads=1, **options)
    score = record["score"][0]
    solved = score >= SOLVED
    return {"steps": int(record.steps[solved.argmax()]) if solved.any() else None, "end": round(float(score[-1]), 4)}


def tune(mdp: mdps.FiniteMDP, horizon: int) -> dict[str, float]:
    """Choose the count bonus: most runs solved at the end, then the fewest steps, then the largest mean score."""

    def merit(setting: dict[str, float]) -> tuple[float, float, float]:
        rule = mdps.CountBonus(**setting, trace=0.8)
        found = [steps_to_solve(rule, mdp, horizon, TUNING_SEED, run) for run in range(TUNING_RUNS)]
        ends = [row["end"] for row in found]
        first = [horizon + 1 if row["steps"] is None else row["steps"] for row in found]
        return sum(end >= SOLVED for end in ends), -float(np.median(first)), float(np.mean(ends))

    return max(({"learning_rate": rate, "scale": scale} for rate in RATES for scale in SCALES), key=merit)


def run(names: list[str], minutes: float) -> None:
    """Make the runs that are missing, run number by run number, until the minutes are over."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"tuned": {}, "runs": []}
    end = time.monotonic() + 60.0 * minutes
    done = {(row["problem"], row["rule"], row["run"]) for row in results["runs"]}
    problems = {name: PROBLEMS[name][0]() for name in names}
    for name, mdp in problems.items():
        if name not in results["tuned"]:
            results["tuned"][name] = tune(mdp, PROBLEMS[name][1])
            write(results)
    made = {
        name: {rule: build() for rule, build in rules(name, mdp, results["tuned"]).items()} for name, mdp in problems.items()
    }
    for number, name in itertools.product(range(RUNS), names):
        for rule, built in made[name].items():
            if (name, rule, number) not in done and time.monotonic() < end:
                key = {"problem": name, "rule": rule, "run": number}
                results["runs"].append({**key, **steps_to_solve(built, problems[name], PROBLEMS[name][1], SEED, number)})
                write(results)
                print(results["runs"][-1], flush=True)


def write(results: dict[str, Any]) -> None:
    """Write the file, one line per run."""
    lines = ",\n".join(json.dumps(row) for row in results["runs"])
    RESULTS.write_text(f'{{"seed": {SEED}, "tuned": {json.dumps(results["tuned"])},\n"runs": [\n{lines}\n]}}\n')


def table(results: dict[str, Any]) -> str:
    """Runs solved at the end, runs made, and median steps of the first time, as Markdown."""
    columns = ("SpectralPG()", "count bonus", "36 cosines", "36 polynomials", "row and column")
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for name, (_, horizon) in PROBLEMS.items():
        cells = []
        for rule in columns:
            found = [row for row in results["runs"] if (row["problem"], row["rule"]) == (name, rule)]
            if not found:
                cells.append("")
                continue
            solved = sum(row["end"] >= SOLVED for row in found)
            median = float(np.median([np.inf if row["steps"] is None else row["steps"] for row in found]))
            cells.append(f"{solved} of {len(found)}" + (f", {median / 1000:.0f}k" if median < np.inf else ""))
        lines.append(f"| {name}, {horizon / 1e6:g}M steps | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run or print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--problem", choices=PROBLEMS, action="append")
    parser.add_argument("--minutes", type=float, default=60.0)
    given = parser.parse_args()
    if given.what == "run":
        run(given.problem or list(PROBLEMS), given.minutes)
    else:
        print(table(json.loads(RESULTS.read_text())))


if __name__ == "__main__":
    main()
