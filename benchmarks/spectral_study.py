"""Do bonuses make PPO find distant rewards? The design, committed before the first of its runs, and the program for it.

    python benchmarks/spectral_study.py run [--tasks chain mountain-car] [--methods ppo rnd]
    python benchmarks/spectral_study.py table

Every run is one task, method, setting and seed, and one line of spectral_study.jsonl. A run that is stored is not repeated.

- Tasks: chain 20 and sparse MountainCar in 120,000 steps, DeepSea 20 in 200,000 (spectral_tasks.py). Cut for want of computing
  time, before the first run: DeepSea 10 and 30, FrozenLake, bsuite's CartPole swing-up, MiniGrid DoorKey and MultiRoom.
- Methods: PPO, entropy, action barrier, spectral (state part), RND; then spectral score, E3B and counts if time is left.
- Settings: two for each method, below. Tuning: both on seeds 0 to 4 of a task. The one with more seeds solved at the end is
  chosen; ties go to the greater mean final return, then to the first setting.
- Test: the chosen setting on seeds 200 to 219, which no earlier run has used.
- Outcome: a run is solved if the mean return of 20 episodes, played by the final stochastic policy, reaches the threshold of
  the task. "Steps" are those at which the mean return of the last 100 training episodes first reaches it.
- Statistics: Clopper-Pearson 95 % intervals of the share solved; interquartile means of the final return divided by the best
  one, with 95 % percentile intervals of 2,000 bootstrap resamples of seeds, stratified by task where tasks are pooled.
- PPO is the same in all methods: 32 environments, 40 steps, 4 epochs of mini-batches of 320, learning rate 1e-3 unless it is
  the setting, networks of 64-64 tanh units, one thread.

Added after these runs, and before the first run of it: MiniGrid's DoorKey 8x8 in 250,000 steps, the budget of the first study.
Methods are PPO, spectral and RND with their first settings, which are those that tuning chose on chain and DeepSea. Nothing is
tuned there. Test seeds are 200 to 204, in order and all methods of a seed together. If time ends first, seeds that not all
three methods have are left out, and the number of seeds is stated.

Added after three seeds of DoorKey, and before the first run of it: MiniGrid's MultiRoom-N4-S5 in 500,000 steps. Methods,
settings, seeds and their order are those of DoorKey. The environment is version 1, since version 0 has six rooms. A mean return
of 0.5 counts as solved. The best is 0.77, the mean of shortest paths on 1,000 maps. DoorKey's seeds 203 and 204 follow.

Added while the last three methods ran on chain and MountainCar, and before the first run of them: DeepSea 10 and 30 in 10,000
episodes each, as in bsuite, and FrozenLake 8x8 in 200,000 steps. Methods (all eight), settings, seeds and tuning are those of
the first tasks. A mean return of 0.5 counts as solved on each. The best on FrozenLake is 0.91, from value iteration over its
200 steps. The order is DeepSea 10, FrozenLake, DeepSea 30. A method that lacks seeds of a task at the end is left out there.
On DeepSea 30 the state part was moved before the action barrier, after the runs of PPO and most of entropy's.

Added after all of these runs, and before the first run of it: bsuite's CartPole swing-up, its own environment (pip install
bsuite==0.3.6) in 1,000 episodes of 1,000 steps. Methods, settings, seeds and their order are those of DoorKey. A mean return
of 100 counts as solved, which is what bsuite calls a good episode; the best is 700, what bsuite measures regret from.

Before this design, code was checked on seeds 100 to 104 and 900 to 903. On sparse MountainCar, about eight variants of the
spectral bonus and two of RND were tried on seeds 900 to 903: they led to scaled observations in the task, to larger biases in
`RandomFeatures` (which RND and E3B use too), and to Fourier features as the second setting of the spectral bonus.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.evaluation import evaluate_policy

from logbarrier.deep.bonuses import RND, CountBonus, EpisodicElliptical, FeatureMap, Fourier, RandomFeatures, SpectralBonus
from logbarrier.deep.sb3 import LogBarrierPolicy, SpectralPPO
from logbarrier.statistics import percentile_interval, share_interval
from spectral_tasks import Chain, DeepSea, DoorKey, Environments, FrozenLake, MultiRoom, SparseMountainCar, SwingUp

RESULTS = Path(__file__).with_suffix(".jsonl")
COMMON: dict[str, Any] = {
    "n_steps": 40, "batch_size": 320, "n_epochs": 4, "learning_rate": 1e-3, "device": "cpu",
    "policy_kwargs": {"optimizer_kwargs": {"fused": True}},
}  # fmt: skip
TUNING_SEEDS = range(5)


@dataclass(frozen=True)
class Task:
    """Environments, the steps of training, the mean return that counts as solved, and that of the best policy."""

    make: Callable[[int, int], Environments]
    steps: int
    solved: float
    best: float
    seeds: range = range(200, 220)
    """Test seeds."""
    tuned: bool = True
    """Whether a setting is chosen on the tuning seeds; otherwise it is the first."""


TASKS = {
    "chain": Task(Chain, 120_000, 5.0, 10.0),
    "mountain-car": Task(SparseMountainCar, 120_000, 0.5, 1.0),
    "deep-sea-20": Task(DeepSea, 200_000, 0.5, 0.99),
    "deep-sea-10": Task(partial(DeepSea, size=10), 100_000, 0.5, 0.99),
    "frozen-lake": Task(FrozenLake, 200_000, 0.5, 0.91),
    "deep-sea-30": Task(partial(DeepSea, size=30), 300_000, 0.5, 0.99),
    "door-key": Task(DoorKey, 250_000, 0.5, 0.97, seeds=range(200, 205), tuned=False),
    "multi-room": Task(MultiRoom, 500_000, 0.5, 0.77, seeds=range(200, 205), tuned=False),
    "swing-up": Task(SwingUp, 1_000_000, 100.0, 700.0, seeds=range(200, 205), tuned=False),
}


def features(kind: str, shape: Any, size: int = 256) -> FeatureMap:
    """Return a random network or Fourier features of vectors."""
    return Fourier(shape[0], size=size) if kind == "fourier" else RandomFeatures(shape, size=size)


def cells(inputs: torch.Tensor) -> torch.Tensor:
    """Return the key of a count: inputs rounded to tenths, which leaves numbered states as they are."""
    return torch.round(10 * inputs)


# Method: its two settings and, from one of them and the number of actions, the arguments of the algorithm.
METHODS: dict[str, tuple[tuple[Any, Any], Callable[[Any, int], dict[str, Any]]]] = {
    "ppo": ((1e-3, 3e-4), lambda rate, k: {"learning_rate": rate}),
    "entropy": ((0.05, 0.2), lambda weight, k: {"ent_coef": weight}),
    "action-barrier": ((0.1, 0.3), lambda weight, k: {"policy": LogBarrierPolicy, "ent_coef": weight}),
    "spectral": (("network", "fourier"), lambda kind, k: {"bonus": lambda s, n: SpectralBonus(features(kind, s))}),
    "rnd": ((1e-3, 1e-4), lambda rate, k: {"bonus": lambda s, n: RND(s, learning_rate=rate)}),
    "count": ((0.1, 0.3), lambda last, k: {"bonus": CountBonus(cells), "bonus_weights": (10.0, last)}),
    "e3b": (
        (0.1, 1.0),
        lambda ridge, k: {"bonus": lambda s, n: EpisodicElliptical(RandomFeatures(s), environments=n, ridge=ridge)},
    ),
    "spectral-score": (
        ("network", "fourier"),
        lambda kind, k: {"bonus": lambda s, n: SpectralBonus(features(kind, s, 128), logits=k)},
    ),
}
FIRST_METHODS = ("ppo", "entropy", "action-barrier", "spectral", "rnd")
UNTUNED_METHODS = ("ppo", "spectral", "rnd")
Row = dict[str, Any]


class FirstSolved(BaseCallback):
    """Note when the mean return of the last 100 episodes first reaches a threshold."""

    def __init__(self, threshold: float) -> None:
        super().__init__()
        self.threshold = threshold
        self.steps: int | None = None

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        returns = [episode["r"] for episode in self.model.ep_info_buffer or []]
        if self.steps is None and len(returns) == 100 and np.mean(returns) >= self.threshold:
            self.steps = self.num_timesteps


def run(task: str, method: str, setting: int, seed: int) -> Row:
    """Train once and score the end and the way."""
    torch.set_num_threads(1)
    begin, chosen = time.process_time(), TASKS[task]
    environments = chosen.make(32, seed)
    values, options = METHODS[method]
    arguments = {"policy": "MlpPolicy", "seed": seed, **COMMON, **options(values[setting], environments.action_space.n)}
    algorithm = SpectralPPO if "bonus" in arguments else PPO
    first = FirstSolved(chosen.solved)
    model = algorithm(arguments.pop("policy"), environments, **arguments).learn(chosen.steps, callback=first)
    end, _ = evaluate_policy(model, environments, 20, deterministic=False, warn=False)
    return {
        "task": task, "method": method, "setting": setting, "seed": seed, "end": round(float(end), 6),
        "solved": bool(end >= chosen.solved), "steps": first.steps, "seconds": round(time.process_time() - begin, 1),
    }  # fmt: skip


def key_of(row: Row) -> tuple[Any, ...]:
    """Return what names a run."""
    return row["task"], row["method"], row["setting"], row["seed"]


def stored() -> list[Row]:
    """Return the runs that are done, each once: two processes may have made the same one."""
    rows = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    return list({key_of(row): row for row in rows}.values())


def select(rows: list[Row], seeds: range, **fields: Any) -> list[Row]:
    """Return the rows with these fields whose seeds lie in a range, in the order of the seeds."""
    found = [row for row in rows if row["seed"] in seeds and all(row[name] == value for name, value in fields.items())]
    return sorted(found, key=lambda row: row["seed"])


def tuned(rows: list[Row], task: str, method: str) -> int:
    """Return the setting that tuning chooses."""
    scores = []
    for setting in range(2):
        found = select(rows, TUNING_SEEDS, task=task, method=method, setting=setting)
        scores.append((sum(row["solved"] for row in found), round(sum(row["end"] for row in found), 6)))
    return int(scores[1] > scores[0])


def make(*key: Any) -> None:
    """Make and store a run, unless it is stored."""
    if key not in map(key_of, stored()):
        row = run(*key)
        with RESULTS.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(row, flush=True)


def complete(tasks: list[str], methods: list[str]) -> None:
    """Make the runs that are missing: for each task and method, those that tune, then those that test.

    Seeds come in a random order, so that several processes can share the work. Tasks without tuning come last, seed by seed.
    """
    shuffled = np.random.default_rng().permutation
    untuned = [task for task in tasks if not TASKS[task].tuned]
    tasks = [task for task in tasks if TASKS[task].tuned]

    for group in ([m for m in methods if m in FIRST_METHODS], [m for m in methods if m not in FIRST_METHODS]):
        for task in tasks:
            for method in group:
                for seed in shuffled(TUNING_SEEDS).tolist():
                    for setting in range(2):
                        make(task, method, setting, seed)
                for seed in shuffled(TASKS[task].seeds).tolist():
                    make(task, method, tuned(stored(), task, method), seed)
    for task in untuned:
        for seed in TASKS[task].seeds:
            for method in (method for method in UNTUNED_METHODS if method in methods):
                make(task, method, 0, seed)


def interquartile_mean(values: np.ndarray) -> np.ndarray:
    """Return the mean along the last axis without the lowest and the highest quarter, rounded down."""
    quarter = values.shape[-1] // 4
    return np.sort(values, axis=-1)[..., quarter : values.shape[-1] - quarter].mean(-1)


def interquartile_interval(strata: list[np.ndarray], resamples: int = 2000) -> tuple[float, float, float]:
    """Return the interquartile mean over all strata, and its interval; seeds are resampled within each stratum."""
    chance = np.random.default_rng(0)
    drawn = [values[chance.integers(len(values), size=(resamples, len(values)))] for values in strata]
    low, high = percentile_interval(interquartile_mean(np.concatenate(drawn, 1)))
    return float(interquartile_mean(np.concatenate(strata))), float(low), float(high)


def without_partial_seeds(rows: list[Row], task: str) -> list[Row]:
    """Return the rows without those of a task whose seed not all methods have."""
    made = {(row["method"], row["seed"]) for row in rows if row["task"] == task}
    return [row for row in rows if row["task"] != task or all((method, row["seed"]) in made for method in UNTUNED_METHODS)]


def table(rows: list[Row]) -> str:
    """Return what was run on test seeds as Markdown."""
    lines = [
        "| task | method | setting | solved at the end | 95 % interval | median steps | final return / best | 95 % interval |",
        "|---|---|---|---|---|---|---|---|",
    ]
    returns: dict[str, dict[str, np.ndarray]] = {}  # task: method: final returns
    for task in TASKS:
        rows = rows if TASKS[task].tuned else without_partial_seeds(rows, task)
        for method in METHODS:
            found = select(rows, TASKS[task].seeds, task=task, method=method, setting=tuned(rows, task, method))
            if not found or (TASKS[task].tuned and len(found) < len(TASKS[task].seeds)):
                continue
            solved = sum(row["solved"] for row in found)
            share = "{:.2f} to {:.2f}".format(*share_interval(solved, len(found)))
            median = float(np.median([math.inf if row["steps"] is None else row["steps"] for row in found]))
            steps = f"{median / 1000:.0f}k" if median < math.inf else "never"
            ends = np.array([row["end"] for row in found]) / TASKS[task].best
            if TASKS[task].tuned:
                returns.setdefault(task, {})[method] = ends
            middle = "{:.2f} | {:.2f} to {:.2f}".format(*interquartile_interval([ends]))
            value = METHODS[method][0][found[0]["setting"]]
            lines.append(f"| {task} | {method} | {value} | {solved} of {len(found)} | {share} | {steps} | {middle} |")
    strata = [by_method for by_method in returns.values() if len(by_method) == len(METHODS)]
    for method in METHODS if strata else ():
        middle = "{:.2f} | {:.2f} to {:.2f}".format(*interquartile_interval([by_method[method] for by_method in strata]))
        lines.append(f"| **{len(strata)} tasks** | {method} | | | | | {middle} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is asked for and not yet stored, or print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--tasks", choices=TASKS, nargs="+", default=list(TASKS))
    parser.add_argument("--methods", choices=METHODS, nargs="+", default=list(METHODS))
    options = parser.parse_args()
    if options.what == "table":
        print(table(stored()))
    else:
        complete(options.tasks, options.methods)


if __name__ == "__main__":
    main()
