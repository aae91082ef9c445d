"""Does real Stable-Baselines3 PPO agree with deep_study.py's own? Two of its tasks, with the coefficients picked there.

    python benchmarks/deep_check_sb3.py [--study benchmarks/deep_study.json] [--out benchmarks/deep_check_sb3.json]

Tasks 0 (digits, labels permuted) and 2 (grid, collapsed checkpoint); none, entropy and barrier; seeds 200 to 204; the same
networks, rollouts, passes, learning rate and score as in the study. Fixed before the first run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv

from deep_ppo import CLIP, ENVIRONMENTS, GAE, GAMMA, LEARNING_RATE, MAX_NORM, STEPS_PER_UPDATE, UNITS
from deep_tasks import TASKS, Environments, Task
from logbarrier.deep.sb3 import LogBarrierPolicy

SEEDS = range(200, 205)
NUMBERS = (0, 2)


class TaskVectors(VecEnv):
    """A task as Stable-Baselines3 sees environments; keeps the score of every update."""

    render_mode = None

    def __init__(self, task: Task, seed: int) -> None:
        self.environments = Environments(
            task, torch.tensor([seed % len(task.starts)]), ENVIRONMENTS, torch.Generator().manual_seed(seed)
        )
        self.features = task.features.astype(np.float32)
        observations = spaces.Box(-1.0, 1.0, self.features.shape[1:], np.float32)
        super().__init__(ENVIRONMENTS, observations, spaces.Discrete(task.phases[0].reward.shape[2]))
        self.task, self.variant = task, seed % len(task.starts)
        self.enter(0)

    def enter(self, phase: int) -> None:
        """Begin a phase, and the scores afresh."""
        self.environments.enter(phase)
        self.low, self.high = (x[self.variant] for x in self.task.phases[phase].bounds(self.task.starts, self.task.limit))
        self.last = np.full(ENVIRONMENTS, self.low)
        self.scores: list[float] = []
        self.ended: list[tuple[NDArray[np.float64], NDArray[np.bool_]]] = []

    def _observe(self) -> NDArray[np.float32]:
        return self.features[self.environments.state[0].numpy()]

    def reset(self) -> NDArray[np.float32]:
        """Observations (environments, F); episodes go on where they were."""
        return self._observe()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Remember what to do."""
        self.actions = torch.as_tensor(actions)[None]

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Do it."""
        reward, done, returned = (x[0].numpy() for x in self.environments.step(self.actions))
        self.ended.append((returned, done))
        if len(self.ended) == STEPS_PER_UPDATE:
            returns, dones = (np.stack(column) for column in zip(*self.ended, strict=True))
            self.last = np.where(dones.any(0), (returns * dones).sum(0) / dones.sum(0).clip(1), self.last)
            self.scores.append(float((self.last.mean() - self.low) / (self.high - self.low)))
            self.ended = []
        infos: list[dict[str, Any]] = [{"terminal_observation": self._observe()[0]} if over else {} for over in done]
        return self._observe(), reward.astype(np.float32), done, infos

    def close(self) -> None:
        """Nothing to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """One value per environment."""
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set it here."""
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """There are none."""
        raise AttributeError(method_name)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Never."""
        return [False] * self.num_envs

    def has_attr(self, attr_name: str) -> bool:
        """As Python says."""
        return hasattr(self, attr_name)


def model(vectors: TaskVectors, seed: int) -> PPO:
    """PPO as in deep_ppo.py."""
    return PPO(
        LogBarrierPolicy,
        vectors,
        learning_rate=LEARNING_RATE,
        n_steps=STEPS_PER_UPDATE,
        batch_size=STEPS_PER_UPDATE * ENVIRONMENTS // 2,
        n_epochs=3,
        gamma=GAMMA,
        gae_lambda=GAE,
        clip_range=CLIP,
        max_grad_norm=MAX_NORM,
        policy_kwargs={"net_arch": [UNITS, UNITS]},
        seed=seed,
        device="cpu",
    )


def scored(task: Task, method: str, c: float, seed: int) -> float:
    """Mean score over the measured updates."""
    vectors = TaskVectors(task, seed)
    learner = model(vectors, seed)
    scores: list[float] = []
    for number, updates in enumerate(task.updates):
        measured = number >= task.unmeasured
        if measured and method == "entropy":
            learner.policy.bonus = _entropy
        learner.ent_coef = c if measured else 0.0
        vectors.enter(number)
        if number == task.unmeasured:  # a checkpoint goes on with a fresh optimiser, as in the study
            learner.policy.optimizer = torch.optim.Adam(learner.policy.parameters(), LEARNING_RATE, eps=1e-5)
        learner.learn(updates * STEPS_PER_UPDATE * ENVIRONMENTS)
        scores += vectors.scores if measured else []
    return float(np.mean(scores))


def _entropy(logits: torch.Tensor, _: torch.Tensor | None) -> torch.Tensor:
    return torch.distributions.Categorical(logits=logits).entropy()


def main(words: Sequence[str] | None = None) -> None:
    """Print, and keep, a row per task and method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--study", type=Path, default=Path(__file__).with_name("deep_study.json"))
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    given = parser.parse_args(words)
    torch.set_num_threads(1)
    study = json.loads(given.study.read_text())
    rows = []
    for number in NUMBERS:
        task, picked = TASKS[number](), study[str(number)]["picked"]
        for method in ("none", "entropy", "barrier"):
            scores = [round(scored(task, method, picked[method], seed), 4) for seed in SEEDS]
            rows.append({"task": task.name, "method": method, "c": picked[method], "scores": scores})
            given.out.write_text(json.dumps(rows) + "\n")
            print(f"{task.name:28} {method:8} c {picked[method]:<4g} mean {np.mean(scores):.2f}  {scores}", flush=True)


if __name__ == "__main__":
    main()
