"""The tasks of deep_study.py, each a finite decision process with features, so that hundreds of runs can step at once.

A task has S states with F features each, one or more phases (what pays changes from phase to phase), and V variants (where
the goals are, which labels are permuted): a run takes the variant of its seed. `return` is the undiscounted return of an
episode of at most `limit` steps. Because everything is a table, the returns of uniform play and of the best policy are
computed exactly, and scores are reported on the scale where these are 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from torch import Tensor

VARIANTS = 10
SIDE = 7
Array = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Phase:
    """What each action does, over (V, S, K, outcomes): where it leads, what it pays, whether the episode ends."""

    successor: Whole
    reward: Array
    ends: NDArray[np.bool_]
    odds: Array  # (S, K, outcomes), summing to 1 over outcomes

    def bounds(self, starts: Whole, limit: int) -> tuple[Array, Array]:
        """Returns of uniform play and of the best policy, each (V,), by backward induction over the steps left."""
        low, high = (np.zeros(self.reward.shape[:2]) for _ in range(2))
        variant = np.arange(len(low))[:, None, None, None]
        for _ in range(limit):
            low, high = (
                pick(((self.reward + ~self.ends * later[variant, self.successor]) * self.odds).sum(-1), axis=-1)
                for pick, later in ((np.mean, low), (np.max, high))
            )
        return tuple(np.take_along_axis(value, starts, axis=1).mean(1) for value in (low, high))  # type: ignore[return-value]


@dataclass(frozen=True)
class Task:
    """A task, how long each phase lasts (in updates of 512 steps), and how the policy starts."""

    name: str
    features: Array  # (S, F), or (V, S, F) where the variants differ; the identity matrix if there are few states
    starts: Whole  # (V, n): a start is drawn uniformly from these
    phases: tuple[Phase, ...]
    updates: tuple[int, ...]
    limit: int
    unmeasured: int = 0  # this many first phases make a checkpoint without any bonus and are not scored
    head_start: float = 0.0  # logits given at the start to the action of the variant's number
    a2c: bool = False
    fresh: bool = False  # not among the tasks of the first study
    changes: bool = False  # the policy has collapsed beforehand, or what pays changes


class Environments:
    """Many copies of a task: state (runs, environments). `step` returns reward, done and the returns of ended episodes."""

    def __init__(self, task: Task, variants: Tensor, environments: int, generator: torch.Generator) -> None:
        self.task, self.generator = task, generator
        self.variant = variants[:, None].expand(-1, environments).contiguous()
        self.starts = torch.as_tensor(task.starts)
        self.enter(0)

    def enter(self, phase: int) -> None:
        """Begin a phase with fresh episodes."""
        now = self.task.phases[phase]
        self.successor, self.reward, self.ends = (torch.tensor(x) for x in (now.successor, now.reward, now.ends))
        self.reach = torch.as_tensor(np.cumsum(now.odds, axis=-1))
        self.state = self._start()
        self.age = torch.zeros_like(self.state)
        self.total = torch.zeros(self.state.shape, dtype=torch.float64)

    def _start(self) -> Tensor:
        draw = torch.randint(self.starts.shape[1], self.variant.shape, generator=self.generator)
        return self.starts[self.variant, draw]

    def step(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Reward, whether the episode ended, and its return; each (runs, environments)."""
        draw = torch.rand(self.state.shape, generator=self.generator, dtype=torch.float64)[..., None]
        outcome = (draw > self.reach[self.state, action]).sum(-1).clamp(max=self.reach.shape[-1] - 1)
        at = (self.variant, self.state, action, outcome)
        reward = self.reward[at]
        self.total += reward
        self.age += 1
        done = self.ends[at] | (self.age >= self.task.limit)
        returned = self.total.clone()
        self.state = torch.where(done, self._start(), self.successor[at])
        self.age[done] = 0
        self.total[done] = 0.0
        return reward, done, returned


def phase_of(successor: Whole, reward: Array, ends: NDArray[np.bool_], odds: Array | None = None) -> Phase:
    """From (V, S, K) without chance, or with outcomes as a last axis."""
    if odds is None:
        successor, reward, ends = successor[..., None], reward[..., None], ends[..., None]
        odds = np.ones((*successor.shape[1:3], 1))
    return Phase(successor, reward.astype(np.float64), ends, odds)


def _digits(pay: Callable[[int, Whole], Array]) -> tuple[Array, Callable[[], Phase]]:
    data = load_digits()
    labels = data.target.astype(np.int64)

    def phase() -> Phase:
        reward = np.stack([pay(v, labels) for v in range(VARIANTS)])
        return phase_of(np.zeros(reward.shape, np.int64), reward, np.ones(reward.shape, bool))

    return data.data / 8.0 - 1.0, phase


def _right_label(labels: Whole) -> Array:
    return np.eye(10)[labels]


def _permuted(variant: int, labels: Whole) -> Array:
    return np.eye(10)[(np.random.default_rng(variant).permutation(10))[labels]]


def _everywhere(states: int) -> Whole:
    return np.tile(np.arange(states), (VARIANTS, 1))


def digits_permuted() -> Task:
    """Name the digit in a picture, paid 1 if right; half way the labels are permuted."""
    features, first = _digits(lambda _, labels: _right_label(labels))
    _, second = _digits(_permuted)
    return Task("digits, labels permuted", features, _everywhere(1797), (first(), second()), (25, 25), 1, changes=True)


def digits_wrong_arm() -> Task:
    """Name the digit, with 8 logits given to one label at the start."""
    features, only = _digits(lambda _, labels: _right_label(labels))
    return Task(
        "digits, 8 logits for one label", features, _everywhere(1797), (only(),), (40,), 1, head_start=8.0, changes=True
    )


def digits_abstain() -> Task:
    """Name the digit, or abstain for a sure 0.5."""
    features, only = _digits(lambda _, labels: np.hstack([_right_label(labels), np.full((len(labels), 1), 0.5)]))
    return Task("digits, abstain for 0.5", features, _everywhere(1797), (only(),), (40,), 1)


def digits_rare() -> Task:
    """Name the digit where 8 and 9 make up 2 % of the pictures each and pay 6 each, the others 1."""
    labels = load_digits().target
    features, only = _digits(lambda _, y: _right_label(y) * np.where(y >= 8, 6.0, 1.0)[:, None])
    rng = np.random.default_rng(0)
    often = [rng.choice(np.flatnonzero(labels == y), 240 if y < 8 else 40) for y in range(10)]
    starts = np.tile(np.concatenate(often), (VARIANTS, 1))
    return Task("digits, rare classes", features, starts, (only(),), (40,), 1, fresh=True)


def _grid_phase(goals: Whole) -> Phase:
    """One goal per variant: reaching it pays 1 and ends the episode; a step costs 0.01."""
    cell = np.arange(SIDE * SIDE)
    row, column = cell // SIDE, cell % SIDE
    moves = [(-1, 0), (1, 0), (0, -1), (0, 1)]
    to = np.stack([(row + y).clip(0, SIDE - 1) * SIDE + (column + x).clip(0, SIDE - 1) for y, x in moves], axis=1)
    successor = np.tile(to, (len(goals), 1, 1))
    ends = successor == goals[:, None, None]
    return phase_of(successor, ends - 0.01, ends)


def _goals(count: int) -> Whole:
    """(count, V): cells at least 4 moves from the centre, successive ones at least 5 apart."""
    rng = np.random.default_rng(2026)
    centre = SIDE // 2

    def apart(a: int, b: int) -> int:
        return abs(a // SIDE - b // SIDE) + abs(a % SIDE - b % SIDE)

    far = [cell for cell in range(SIDE * SIDE) if apart(cell, centre * SIDE + centre) >= 4]
    goals = np.zeros((count, VARIANTS), np.int64)
    for v in range(VARIANTS):
        goals[0, v] = rng.choice(far)
        for i in range(1, count):
            goals[i, v] = rng.choice([cell for cell in far if apart(cell, int(goals[i - 1, v])) >= 5])
    return goals


def _grid(name: str, phases: int, updates: tuple[int, ...], **more: bool | int) -> Task:
    starts = np.full((VARIANTS, 1), SIDE * SIDE // 2)
    goals = tuple(_grid_phase(goal) for goal in _goals(phases))
    return Task(name, np.eye(SIDE * SIDE), starts, goals, updates, 40, changes=True, **more)  # type: ignore[arg-type]


def grid_collapsed() -> Task:
    """A policy trained on one goal until it is certain, then fine-tuned to another goal."""
    return _grid("grid, collapsed checkpoint", 2, (80, 40), unmeasured=1)


def grid_collapsed_a2c() -> Task:
    """The same with A2C: one step on each batch, advantages not normalised, no clipping of the ratio."""
    return _grid("grid, collapsed checkpoint, A2C", 2, (80, 40), unmeasured=1, a2c=True)


def grid_moving() -> Task:
    """The goal moves half way, with the bonus there from the start."""
    return _grid("grid, goal moves", 2, (35, 35))


def grid_continual() -> Task:
    """Five goals, one after the other."""
    return _grid("grid, five goals in turn", 5, (20,) * 5, fresh=True)


def deep_sea() -> Task:
    """DeepSea of depth 8: one path of 8 right moves, each costing 0.01/8, pays 1; a seeded action map per state."""
    depth = 8
    flip = np.random.default_rng(0).integers(2, size=(depth, depth))
    successor, reward = np.zeros((depth * depth, 2), np.int64), np.zeros((depth * depth, 2))
    for row in range(depth):
        for column in range(depth):
            for action in range(2):
                right = action != flip[row, column]
                to = min(column + 1, depth - 1) if right else max(column - 1, 0)
                successor[row * depth + column, action] = min(row + 1, depth - 1) * depth + to
                won = right and row == depth - 1 and column == depth - 1
                reward[row * depth + column, action] = (1.0 if won else 0.0) - (0.01 / depth if right else 0.0)
    shape = (VARIANTS, *reward.shape)
    only = phase_of(np.broadcast_to(successor, shape), np.broadcast_to(reward, shape), np.zeros(shape, bool))
    return Task("DeepSea 8", np.eye(depth * depth), np.zeros((VARIANTS, 1), np.int64), (only,), (40,), depth)


def distractor() -> Task:
    """A chain of 8: left goes back to the start and pays 0.02 there, right moves on, the last right pays 1 and restarts."""
    length = 8
    successor = np.stack([np.zeros(length, np.int64), (np.arange(length) + 1) % length], axis=1)
    reward = np.zeros((length, 2))
    reward[0, 0], reward[-1, 1] = 0.02, 1.0
    shape = (VARIANTS, *reward.shape)
    only = phase_of(np.broadcast_to(successor, shape), np.broadcast_to(reward, shape), np.zeros(shape, bool))
    return Task("distractor chain 8", np.eye(length), np.zeros((VARIANTS, 1), np.int64), (only,), (40,), 40)


def _toy_text(name: str, environment: str, limit: int, scale: float, start: int, updates: int) -> Task:
    table = gymnasium.make(environment).unwrapped.P  # type: ignore[attr-defined]
    states, actions = len(table), len(table[0])
    outcomes = max(len(table[s][a]) for s in table for a in table[s])
    successor = np.zeros((states, actions, outcomes), np.int64)
    odds, reward, ends = (np.zeros((states, actions, outcomes)) for _ in range(3))
    for s in table:
        for a in table[s]:
            for o, (chance, to, pays, over) in enumerate(table[s][a]):
                odds[s, a, o], successor[s, a, o], reward[s, a, o], ends[s, a, o] = chance, to, scale * pays, over
    shape = (VARIANTS, *reward.shape)
    only = phase_of(np.broadcast_to(successor, shape), np.broadcast_to(reward, shape), np.broadcast_to(ends > 0, shape), odds)
    return Task(name, np.eye(states), np.full((VARIANTS, 1), start), (only,), (updates,), limit)


def frozen_lake() -> Task:
    """Gymnasium's slippery FrozenLake 8x8."""
    return _toy_text("FrozenLake 8x8", "FrozenLake8x8-v1", 200, 1.0, 0, 100)


def cliff_walking() -> Task:
    """Gymnasium's CliffWalking, rewards divided by 100."""
    return _toy_text("CliffWalking", "CliffWalking-v1", 100, 0.01, 36, 40)


TASKS: tuple[Callable[[], Task], ...] = (
    digits_permuted,
    digits_wrong_arm,
    grid_collapsed,
    grid_collapsed_a2c,
    grid_moving,
    grid_continual,
    digits_abstain,
    digits_rare,
    deep_sea,
    distractor,
    frozen_lake,
    cliff_walking,
)
