"""Where does a log barrier help deep policy gradient? Five bonuses on thirteen tasks, settings fixed before the study.

    python benchmarks/deep_study.py [--tasks 1,3] [--out benchmarks/deep_study.json] [--table]

Written down before any run of the study. Earlier there were only short runs on seeds 900 to 905 to check the code, some of
them with a bonus; the learning rate and how long tasks last were changed after one of those.

- Tasks: those of deep_tasks.py and deep_minigrid.py, nothing added or dropped after seeing results. Six are marked `changes`
  (the policy has collapsed beforehand, or what pays changes); seven are not.
- Methods: none, entropy, barrier, symmetric (half entropy, half barrier), annealed (barrier, c falling linearly to 0).
- Grid of c, the same for all methods: 0.01, 0.1, 0.3, 0.6, 1. It is not widened if the best one lies at an edge; edges are
  reported.
- Seeds: 0 to 9 tune (the c with the greatest interquartile mean of the outcome), 100 to 129 test that c alone.
- Outcome: the mean score while training, over all measured updates (uniform play 0, best policy 1). Reported besides: the
  score of the last tenth of the updates, and of the most likely actions at the end.
- Statistics: interquartile mean over seeds; 95 % percentile intervals from 10 000 bootstrap resamples, stratified by task
  where tasks are pooled. Barrier against entropy per task: difference of interquartile means with its interval, and a
  two-sided Mann-Whitney test, Holm-corrected over the tasks. Pooled over tasks that change, and over those that do not.
- What would count as what: the barrier helps where a policy has collapsed or its task changes if the pooled difference to
  entropy there is positive with an interval that excludes 0; it is no general upgrade unless that also holds on the rest.

Everything is computed on one thread; the same machine and versions give the same numbers.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu, trim_mean

from deep_minigrid import minigrid_door_key
from deep_ppo import Curves, bonus, train
from deep_tasks import TASKS

METHODS = ("none", "entropy", "barrier", "symmetric", "annealed")
COEFFICIENTS = (0.01, 0.1, 0.3, 0.6, 1.0)
TUNING_SEEDS = list(range(10))
TEST_SEEDS = list(range(100, 130))
RESAMPLES = 10_000
ALL_TASKS = (*TASKS, minigrid_door_key)
Row = dict[str, Any]
Scores = NDArray[np.float64]


def study(number: int) -> Row:
    """Tune on some seeds, test on others."""
    task, began = ALL_TASKS[number](), time.process_time()
    tried = [bonus("none", 0.0), *(bonus(name, c) for name in METHODS[1:] for c in COEFFICIENTS)]
    tuning = train(task, tried, TUNING_SEEDS, stream=10_000 * number)
    tuned = [interquartile_mean(scores) for scores in tuning.score.mean(1).reshape(len(tried), -1)]
    by_method = {name: [(value, one) for value, one in zip(tuned, tried, strict=True) if one.name == name] for name in METHODS}
    picked = [max(by_method[name], key=lambda pair: pair[0])[1] for name in METHODS]
    tested = train(task, picked, TEST_SEEDS, stream=10_000 * number + 5_000)
    return {
        "task": task.name,
        "changes": task.changes,
        "fresh": task.fresh,
        "tuning": {name: [round(value, 4) for value, _ in by_method[name]] for name in METHODS},
        "picked": {one.name: one.coefficient for one in picked},
        **outcomes(tested),
        "seconds": round(time.process_time() - began),
    }


def outcomes(tested: Curves) -> Row:
    """Per method: three outcomes per seed, and the mean curves, thinned to about 50 points."""
    last = max(1, tested.score.shape[1] // 10)
    thin = slice(None, None, max(1, tested.score.shape[1] // 50))

    def per_method(values: Scores, digits: int) -> dict[str, Any]:
        return {name: np.round(part, digits).tolist() for name, part in zip(METHODS, values, strict=True)}

    def mean_curve(curve: Scores) -> Scores:
        return curve.reshape(len(METHODS), len(TEST_SEEDS), -1)[:, :, thin].mean(1)

    def by_seed(values: Scores) -> Scores:
        return values.reshape(len(METHODS), len(TEST_SEEDS))

    return {
        "score": per_method(by_seed(tested.score.mean(1)), 4),
        "last": per_method(by_seed(tested.score[:, -last:].mean(1)), 4),
        "greedy": per_method(by_seed(tested.greedy), 4),
        "curve": per_method(mean_curve(tested.score), 3),
        "log10_min_probability": per_method(mean_curve(np.log10(tested.min_probability)), 2),
    }


def interquartile_mean(values: Scores) -> float:
    """Mean of the middle half."""
    return float(trim_mean(values, 0.25))


def resampled(tasks: list[Scores], rng: np.random.Generator) -> Scores:
    """Bootstrap interquartile means, (RESAMPLES,), of scores pooled over tasks and resampled within each."""
    drawn = [scores[rng.integers(len(scores), size=(RESAMPLES, len(scores)))] for scores in tasks]
    return np.asarray(trim_mean(np.concatenate(drawn, axis=1), 0.25, axis=1))


def interval(bootstrapped: Scores) -> tuple[float, float]:
    """The middle 95 %."""
    low, high = np.quantile(bootstrapped, [0.025, 0.975])
    return float(low), float(high)


def summary(rows: list[Row], outcome: str, method: str) -> tuple[float, float, float]:
    """Interquartile mean of one method over the tasks given, and its interval."""
    tasks = [np.array(row[outcome][method]) for row in rows]
    return interquartile_mean(np.concatenate(tasks)), *interval(resampled(tasks, np.random.default_rng(0)))


def difference(rows: list[Row], outcome: str, one: str, other: str) -> tuple[float, float, float]:
    """Difference of interquartile means between two methods, and its interval."""
    rng = np.random.default_rng(1)
    first, second = ([np.array(row[outcome][name]) for row in rows] for name in (one, other))
    point = interquartile_mean(np.concatenate(first)) - interquartile_mean(np.concatenate(second))
    return point, *interval(resampled(first, rng) - resampled(second, rng))


def holm(p_values: list[float]) -> list[float]:
    """Holm's correction."""
    order = np.argsort(p_values)
    stepped = np.maximum.accumulate(np.array(p_values)[order] * np.arange(len(p_values), 0, -1)).clip(max=1.0)
    corrected = np.empty(len(p_values))
    corrected[order] = stepped
    return corrected.tolist()


def table(rows: list[Row], outcome: str) -> str:
    """Markdown: a row per task, then the pooled ones."""
    p_values = holm([float(mannwhitneyu(row[outcome]["barrier"], row[outcome]["entropy"]).pvalue) for row in rows])
    lines = ["| task | " + " | ".join(METHODS) + " | barrier - entropy | p |", "|---|" + "---|" * (len(METHODS) + 2)]
    pools = {"**all that change**": [r for r in rows if r["changes"]], "**the others**": [r for r in rows if not r["changes"]]}
    for row, p in zip(rows, p_values, strict=True):
        cells = [f"{_shown(summary([row], outcome, name))} ({row['picked'][name]:g}{_edge(row, name)})" for name in METHODS[1:]]
        first = _shown(summary([row], outcome, "none"))
        apart = _shown(difference([row], outcome, "barrier", "entropy"))
        lines.append(f"| {row['task']} | {first} | {' | '.join(cells)} | {apart} | {p:.1g} |")
    for name, pool in pools.items():
        if pool:
            cells = [_shown(summary(pool, outcome, method)) for method in METHODS]
            lines.append(f"| {name} | {' | '.join(cells)} | {_shown(difference(pool, outcome, 'barrier', 'entropy'))} | |")
    return "\n".join(lines)


def _shown(value: tuple[float, float, float]) -> str:
    return "{:.2f} [{:.2f}, {:.2f}]".format(*value)


def _edge(row: Row, name: str) -> str:
    return "*" if row["picked"][name] in (COEFFICIENTS[0], COEFFICIENTS[-1]) else ""


def main() -> None:
    """Run what is asked for and is not yet in the file, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", default=",".join(map(str, range(len(ALL_TASKS)))), help="numbers, in order of running")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--table", action="store_true", help="only print what the file holds")
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows: dict[str, Row] = json.loads(given.out.read_text()) if given.out.exists() else {}
    for number in [] if given.table else map(int, given.tasks.split(",")):
        if str(number) not in rows:
            rows[str(number)] = study(number)
            given.out.write_text(json.dumps(rows, separators=(",", ":")) + "\n")
            print(rows[str(number)]["task"], rows[str(number)]["picked"], rows[str(number)]["seconds"], "s", flush=True)
    found = [rows[key] for key in sorted(rows, key=int)]
    for outcome, says in (("score", "while training"), ("last", "last tenth of training"), ("greedy", "greedy at the end")):
        print(f"\n{says}\n\n{table(found, outcome)}")


if __name__ == "__main__":
    main()
