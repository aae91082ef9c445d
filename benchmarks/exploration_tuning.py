"""Settings for examples/exploration.toml: every rule but SpectralPG() gets, in every environment, the best of a grid.

Best is: most of five tuning runs (seed 2001, never used to test) that are solved at the end, then fewest steps until they
are, then the highest mean score. Learning rates are in units of 1/(largest reward), bonuses in units of it, eta by the accuracy
epsilon it promises, S (K - 1)/epsilon: the rivals are given the scale of rewards and the number of states. SpectralPG()
is given neither and has one setting everywhere.

    python benchmarks/exploration_tuning.py > examples/exploration.toml
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from logbarrier import mdps

STEPS, RUNS, SEED, SOLVED = 300_000, 5, 2001, 0.9
RATES, SCALES, TRACES = (0.1, 0.3, 1.0, 3.0), (1e-4, 1e-3, 1e-2, 1e-1), (0.8, 0.9)
ENVIRONMENTS = (
    mdps.RiverSwim(12), mdps.Lock(20), mdps.Lock(10, 4), mdps.Distractor(16), mdps.DeepSea(14), mdps.DeepSea(20),
    mdps.DeepSea(30), mdps.from_gymnasium("FrozenLake-v1", map_name="8x8"), mdps.from_gymnasium("CliffWalking-v1"),
    mdps.from_gymnasium("Taxi-v4"),
)  # fmt: skip
HEAD = """# Eight rules in ten environments, with hard and easy exploration. The table of results is in docs/mdps-study.md.
# Written by benchmarks/exploration_tuning.py: the settings are the best of its grids on five runs of seed 2001, and no run of
# the seed below had a say in them. SpectralPG() has no settings.
horizon = 300_000
runs = 50
seed = 7
runs_per_cell = 10
checkpoints = 51
metrics = ["score", "coverage", "regret"]
"""


def grids(mdp: mdps.FiniteMDP) -> Iterator[list[mdps.Rule]]:
    """The candidates of one rule after the other."""
    largest = float(np.abs(mdp.R).max())
    size = mdp.n_states * (mdp.n_actions - 1)
    rates, scales = [x / largest for x in RATES], [x * largest for x in SCALES]
    finer = [x / largest for x in (0.03, *RATES, 10.0)]
    yield [mdps.PG(learning_rate=a, trace=z) for a, z in itertools.product(finer, TRACES)]
    yield [mdps.EntropyPG(learning_rate=a, tau=x, trace=z) for a, x, z in itertools.product(rates, scales, TRACES)]
    yield [mdps.ActionBarrierPG(learning_rate=a, eta=size / x, trace=z) for a, x, z in itertools.product(rates, scales, TRACES)]
    yield [mdps.NPG(learning_rate=0.1 * a, trace=z) for a, z in itertools.product(finer, TRACES)]
    yield [mdps.SpectralPG()]
    yield [mdps.CountBonus(learning_rate=a, scale=100 * x, trace=z) for a, x, z in itertools.product(rates, scales, TRACES)]
    yield [mdps.StateEntropy(learning_rate=a, scale=x, trace=z) for a, x, z in itertools.product(rates, scales, TRACES)]
    yield [
        mdps.OptimisticQ(learning_rate=a, initial=x * largest)
        for a, x in itertools.product((0.03, 0.1, 0.3, 1.0), (0.0, 1.0, 10.0, 100.0))
    ]


def merit(rule: mdps.Rule, mdp: mdps.FiniteMDP) -> tuple[float, float, float]:
    """Greater is better: runs solved at the end, minus the median step of the first time, mean final score."""
    record = mdps.simulate(rule, mdp, horizon=STEPS, runs=RUNS, seed=SEED, threads=1, metrics=["score"], checkpoints=26)
    solved = record["score"] >= SOLVED
    first = np.where(solved.any(axis=1), record.steps[solved.argmax(axis=1)], STEPS + 1)
    return float(solved[:, -1].sum()), -float(np.median(first)), float(record["score"][:, -1].mean())


def main() -> None:
    """Tune and print the study."""
    print(HEAD, end="")
    for mdp in ENVIRONMENTS:
        table = {key: value for key, value in mdp.to_dict().items() if key not in ("gamma", "seed")}
        print("\n[[problems]]")
        print("\n".join(f"{key} = {_toml(value)}" for key, value in table.items()))
        for candidates in grids(mdp):
            merits = [merit(rule, mdp) for rule in candidates] if len(candidates) > 1 else [(0.0, 0.0, 0.0)]
            best = max(range(len(merits)), key=merits.__getitem__)
            print(mdp.name, candidates[best], merits[best], file=sys.stderr, flush=True)
            print("\n[[problems.rules]]")
            print("\n".join(f"{key} = {_toml(value)}" for key, value in given(candidates[best]).items()))


def given(rule: mdps.Rule) -> dict[str, Any]:
    """The rule as a table, without the parameters that have their default."""
    default = {field.name: field.default for field in dataclasses.fields(rule)}
    return {key: value for key, value in rule.to_dict().items() if key == "rule" or value != default[key]}


def _toml(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else f"{value:.6g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
