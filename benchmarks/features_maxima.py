"""Is the maximum with features the same from every start? 200 random MDPs, six starts each.

    python benchmarks/features_maxima.py

For each MDP: the range of the objective over the starts in units of the bias bound, and whether bias <= certificate + gap and
certificate <= bias bound at every start. The summary is written to features_maxima.json after every tenth MDP. The tests
try five such MDPs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from logbarrier import mdps
from logbarrier.mdps import exact

RESULTS = Path(__file__).with_suffix(".json")
SEED, N_MDPS, STARTS = 8301, 200, 5  # random starts, and the uniform policy


def case(run: int) -> tuple[mdps.FiniteMDP, Any, int]:
    """An MDP of 2 to 11 states, an objective and its number of features."""
    generator = np.random.default_rng([SEED, run])
    S, K = int(generator.integers(2, 12)), int(generator.integers(2, 5))
    m, eta = int(generator.integers(1, min(6, S * (K - 1)) + 1)), 10.0 ** generator.uniform(-1, 4)
    options: dict[str, Any] = {"branching": 1 + run % 4, "ending": 0.1 * (run % 2), "gamma": (0.5, 0.9, 0.99)[run % 3]}
    mdp = mdps.RandomMDPs(S, K, **options).problem(seed=SEED, run=run)
    if run % 5 == 4:
        return mdp, mdps.StateSpectral(features=generator.normal(size=(S, min(m, S))), eta=eta), min(m, S)
    return mdp, mdps.FeatureSpectral(features=generator.normal(size=(S, K, m)), eta=eta), m


def measure(run: int) -> dict[str, Any]:
    """Solve one MDP from all starts; starts that `maximise` refuses are counted."""
    mdp, objective, m = case(run)
    starts = np.random.default_rng([SEED, run, 1]).dirichlet(np.ones(mdp.n_actions), size=(STARTS, mdp.n_states))
    found, refused = [], []
    for start in (mdp.uniform_policy, *starts):
        try:
            found.append(exact.maximise(mdp, objective, start=start))
        except ValueError as error:
            refused.append(str(error))
    bound = m / objective.eta
    rounding = 1e-9 * (bound + abs(mdp.optimal_performance))
    objectives = [one.objective for one in found]
    certified = (one.bias <= one.certificate + one.gap + rounding and one.certificate <= bound + rounding for one in found)
    return {
        "run": run,
        "refused": len(refused),
        "certified": all(certified),
        "range": float(np.ptp(objectives)) / bound if found else 0.0,
        "gap": max((one.gap for one in found), default=0.0) / bound,
        "bias": max((one.bias for one in found), default=0.0) / bound,
    }


def main() -> None:
    """Solve all and write the summary."""
    rows: list[dict[str, Any]] = []
    for run in range(N_MDPS):
        rows.append(measure(run))
        if run % 10 == 9:
            summary = {
                "seed": SEED, "mdps": len(rows), "starts": STARTS + 1, "certified": sum(row["certified"] for row in rows),
                "refused": {row["run"]: row["refused"] for row in rows if row["refused"]},
                **{f"largest_{name}": max(row[name] for row in rows) for name in ("range", "gap", "bias")},
            }  # fmt: skip
            RESULTS.write_text(json.dumps(summary, indent=1) + "\n")
            print(summary, flush=True)


if __name__ == "__main__":
    main()
