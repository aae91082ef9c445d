"""Do bonuses make PPO find distant rewards? The design, written before any run, and the program that runs parts of it.

    python benchmarks/spectral_study.py run --task chain --method spectral --seeds 100 101 102
    python benchmarks/spectral_study.py table

Every run is one task, method, setting and seed, and one line of spectral_study.json. A task is solved at the end if the mean
return of 20 episodes played by the final stochastic policy reaches its threshold. "Steps" are the environment steps
at which the mean return of the last 100 training episodes first reaches it.

Each method has three settings, its middle one the default. Tuning: every setting on seeds 0 to 4 of a task; the setting
with the most seeds solved at the end is chosen, ties by fewer median steps. Test: the chosen setting on seeds 100 to 119,
scored by the share solved with Wilson's 95 % interval, and by median steps. PPO is the same in all methods: 32
environments, 40 steps, 4 epochs of 4 mini-batches, learning rate 1e-3.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

from logbarrier.deep.bonuses import RND, CountBonus, EpisodicElliptical, RandomFeatures, SpectralBonus
from logbarrier.deep.sb3 import LogBarrierPolicy, SpectralPPO

RESULTS = Path(__file__).with_suffix(".json")
COMMON: dict[str, Any] = {"n_steps": 40, "batch_size": 320, "n_epochs": 4, "learning_rate": 1e-3, "device": "cpu"}
TUNING_SEEDS, TEST_SEEDS = range(5), range(100, 120)


class Chain(gymnasium.Env[Any, Any]):
    """20 states: one step right, or back to the start. The right end pays 1 a step, going back pays 0.001 at the start."""

    def __init__(self, length: int = 20) -> None:
        self.length = length
        self.observation_space, self.action_space = spaces.Discrete(length), spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start at the left end."""
        super().reset(seed=seed)
        self.place = self.age = 0
        return self.place, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make one move; an episode has 8 steps more than the chain has states."""
        self.age += 1
        reward = 0.0 if action else 0.001 * (self.place == 0)
        self.place = min(self.place + 1, self.length - 1) if action else 0
        return self.place, reward + (self.place == self.length - 1), self.age == self.length + 8, False, {}


class DeepSea(gymnasium.Env[Any, Any]):
    """DeepSea as in bsuite: N x N cells, one row down a step; right costs 0.01/N, the lower right corner pays 1.

    Which of the two actions is right is drawn once for every cell.
    """

    def __init__(self, size: int = 20, mapping_seed: int = 42) -> None:
        self.size = size
        self.right = np.random.default_rng(mapping_seed).integers(2, size=(size, size))
        self.observation_space, self.action_space = spaces.Discrete(size * size), spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start in the upper left corner."""
        super().reset(seed=seed)
        self.row = self.column = 0
        return 0, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Go one row down, to the left or to the right."""
        right = int(action) == self.right[self.row, self.column]
        reward = float(right and self.column == self.size - 1) - (0.01 / self.size if right else 0.0)
        self.column = int(np.clip(self.column + (1 if right else -1), 0, self.size - 1))
        self.row += 1
        over = self.row == self.size
        return min(self.row, self.size - 1) * self.size + self.column, reward, over, False, {}


class SparseMountainCar(gymnasium.RewardWrapper[Any, Any]):
    """MountainCar-v0 that pays 1 on the hill and nothing before."""

    def __init__(self) -> None:
        super().__init__(gymnasium.make("MountainCar-v0"))

    def reward(self, reward: Any) -> float:
        """Return 1 where the car is on the hill."""
        return float(self.unwrapped.state[0] >= 0.5)


def minigrid(name: str) -> Callable[[], Any]:
    """Return a maker of a MiniGrid task with its flat symbolic observation."""

    def make() -> Any:
        import minigrid  # noqa: F401
        from minigrid.wrappers import ImgObsWrapper

        return gymnasium.wrappers.FlattenObservation(ImgObsWrapper(gymnasium.make(name)))

    return make


@dataclass(frozen=True)
class Task:
    """An environment, the steps of training, and the mean return that counts as solved."""

    make: Callable[[], Any]
    steps: int
    solved: float


TASKS = {
    "chain": Task(Chain, 120_000, 5.0),
    **{f"deep-sea-{size}": Task(functools.partial(DeepSea, size), 10_000 * size, 0.5) for size in (10, 20, 30)},
    "mountain-car": Task(SparseMountainCar, 120_000, 0.5),
    "frozen-lake": Task(lambda: gymnasium.make("FrozenLake-v1", map_name="8x8"), 120_000, 0.4),
    "door-key": Task(minigrid("MiniGrid-DoorKey-8x8-v0"), 250_000, 0.5),
    "multi-room": Task(minigrid("MiniGrid-MultiRoom-N4-S5-v0"), 250_000, 0.3),
}
# Method: its three settings and, from one of them, the arguments of the algorithm.
METHODS: dict[str, tuple[tuple[float, float, float], Callable[[float], dict[str, Any]]]] = {
    "ppo": ((3e-4, 1e-3, 3e-3), lambda rate: {"learning_rate": rate}),
    "entropy": ((0.01, 0.05, 0.2), lambda weight: {"ent_coef": weight}),
    "action-barrier": ((0.03, 0.1, 0.3), lambda weight: {"policy": LogBarrierPolicy, "ent_coef": weight}),
    "spectral": ((0.9, 0.95, 0.99), lambda m: {"bonus": lambda s, n: SpectralBonus(RandomFeatures(s), memory=m)}),
    "spectral-score": (
        (0.9, 0.95, 0.99),
        lambda m: {"bonus": lambda s, n: SpectralBonus(RandomFeatures(s, size=128), memory=m, logits=2)},
    ),
    "rnd": ((1e-4, 1e-3, 1e-2), lambda rate: {"bonus": lambda s, n: RND(s, learning_rate=rate)}),
    "e3b": ((0.01, 0.1, 1.0), lambda r: {"bonus": lambda s, n: EpisodicElliptical(RandomFeatures(s), environments=n, ridge=r)}),
    "count": ((0.03, 0.1, 0.3), lambda last: {"bonus": CountBonus(), "bonus_weights": (10.0, last)}),
}


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


def run(task: str, method: str, setting: int, seed: int) -> dict[str, Any]:
    """Train once and score the end and the way."""
    torch.set_num_threads(1)
    begin, chosen = time.perf_counter(), TASKS[task]
    values, options = METHODS[method]
    arguments = {"policy": "MlpPolicy", "seed": seed, **COMMON, **options(values[setting])}
    environments = make_vec_env(chosen.make, 32, seed=seed)
    algorithm = SpectralPPO if "bonus" in arguments else PPO
    first = FirstSolved(chosen.solved)
    model = algorithm(arguments.pop("policy"), environments, **arguments).learn(chosen.steps, callback=first)
    end, _ = evaluate_policy(model, environments, 20, deterministic=False, warn=False)
    return {
        "task": task, "method": method, "setting": setting, "seed": seed, "end": float(end),
        "solved": bool(end >= chosen.solved), "steps": first.steps, "seconds": round(time.perf_counter() - begin, 1),
    }  # fmt: skip


def wilson(solved: int, count: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    share, extra = solved / count, z * z / count
    half = z * math.sqrt(share * (1 - share) / count + extra / (4 * count))
    return (share + extra / 2 - half) / (1 + extra), (share + extra / 2 + half) / (1 + extra)


def table(rows: list[dict[str, Any]]) -> str:
    """Return what was run on test seeds as Markdown."""
    lines = ["| task | method | setting | solved at the end | 95 % interval | median steps |", "|---|---|---|---|---|---|"]
    for key in sorted({(row["task"], row["method"], row["setting"]) for row in rows if row["seed"] in TEST_SEEDS}):
        found = [row for row in rows if (row["task"], row["method"], row["setting"]) == key and row["seed"] in TEST_SEEDS]
        solved = sum(row["solved"] for row in found)
        low, high = wilson(solved, len(found))
        median = float(np.median([math.inf if row["steps"] is None else row["steps"] for row in found]))
        steps = f"{median / 1000:.0f}k" if median < math.inf else "never"
        value = METHODS[key[1]][0][key[2]]
        lines.append(f"| {key[0]} | {key[1]} | {value:g} | {solved} of {len(found)} | {low:.2f} to {high:.2f} | {steps} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is asked for and not yet stored, or print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--task", choices=TASKS, default="chain")
    parser.add_argument("--method", choices=METHODS, default="spectral")
    parser.add_argument("--setting", type=int, choices=[0, 1, 2], default=1)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(TEST_SEEDS))
    options = parser.parse_args()
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    if options.what == "table":
        print(table(rows))
        return
    for seed in options.seeds:
        key = (options.task, options.method, options.setting, seed)
        if key not in {(row["task"], row["method"], row["setting"], row["seed"]) for row in rows}:
            rows.append(run(*key))
            RESULTS.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
            print(rows[-1], flush=True)


if __name__ == "__main__":
    main()
