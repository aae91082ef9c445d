"""PPO and A2C for hundreds of runs at once: every weight has a leading axis of runs, and no run sees another.

Actor and critic are separate networks of two tanh layers of 32 units, started orthogonally. Per run: 16 environments of 32
steps per update; PPO makes 3 passes in 2 mini-batches with advantages normalised per mini-batch, A2C one step on the
whole batch, 8 steps long, without normalisation. Adam at 2e-3, gradient norm clipped to 0.5 per run, gamma 0.99, GAE 0.95,
clip 0.2. An episode that runs out of time counts as ended.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deep_tasks import Environments, Task
from logbarrier.deep import entropy, log_barrier

ENVIRONMENTS = 16
STEPS_PER_UPDATE = 32
UNITS = 32
FEW_STATES = 300  # up to here it is faster to pass every state through the networks, once, than every sample
GAMMA, GAE, CLIP, LEARNING_RATE, MAX_NORM, VALUE_WEIGHT = 0.99, 0.95, 0.2, 2e-3, 0.5, 0.5


@dataclass(frozen=True)
class Bonus:
    """Coefficients of entropy and barrier; annealed ones fall linearly to 0 over the measured part of the run."""

    name: str
    coefficient: float
    entropy: float = 0.0
    barrier: float = 0.0
    annealed: bool = False


def bonus(name: str, c: float) -> Bonus:
    """One of the five methods of the study."""
    return {
        "none": Bonus(name, 0.0),
        "entropy": Bonus(name, c, entropy=c),
        "barrier": Bonus(name, c, barrier=c),
        "symmetric": Bonus(name, c, entropy=0.5 * c, barrier=0.5 * c),
        "annealed": Bonus(name, c, barrier=c, annealed=True),
    }[name]


class Networks:
    """Actor and critic of every run: lists of weights (runs, in, out) and biases (runs, 1, out)."""

    def __init__(self, weights: list[Tensor]) -> None:
        self.weights = [weight.clone().requires_grad_() for weight in weights]

    @classmethod
    def fresh(cls, inputs: int, actions: int, seeds: list[int]) -> Networks:
        """The same seed starts the same networks, whatever the method."""
        shapes = [(inputs, UNITS, math.sqrt(2)), (UNITS, UNITS, math.sqrt(2))]
        layers = [*shapes, (UNITS, actions, 0.01), *shapes, (UNITS, 1, 1.0)]
        generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        weights = []
        for rows, columns, gain in layers:
            long, short = max(rows, columns), min(rows, columns)
            drawn = torch.stack([torch.randn(long, short, generator=g) for g in generators])
            frame = torch.linalg.qr(drawn)[0]
            weights += [gain * (frame if rows >= columns else frame.mT), torch.zeros(len(seeds), 1, columns)]
        return cls(weights)

    def repeated(self, runs: Tensor) -> Networks:
        """A copy in which run i is this one's run runs[i]."""
        return Networks([weight.detach()[runs] for weight in self.weights])

    def __call__(self, features: Tensor | None) -> tuple[Tensor, Tensor]:
        """Logits (runs, batch, K) and values (runs, batch) of features (runs, batch, F); None is the identity matrix."""
        return self._pass(features, self.weights[:6]), self._pass(features, self.weights[6:])[..., 0]

    @staticmethod
    def _pass(features: Tensor | None, weights: list[Tensor]) -> Tensor:
        w1, b1, w2, b2, w3, b3 = weights
        first = torch.tanh(w1 + b1 if features is None else torch.baddbmm(b1, features, w1))
        return torch.baddbmm(b3, torch.tanh(torch.baddbmm(b2, first, w2)), w3)


@dataclass(frozen=True)
class Curves:
    """What was seen, per run and update.

    The score of an update is the mean over environments of the mean return of the episodes that ended there in this update,
    or of the last one that had; so a slow environment counts as much as a fast one.
    """

    score: NDArray[np.float64]  # (runs, updates), 0 for uniform play and 1 for the best policy
    min_probability: NDArray[np.float64]  # (runs, updates), geometric mean over the states visited
    greedy: NDArray[np.float64]  # (runs,), score of the most likely actions at the end


class Training:
    """Some runs of one task; `phase` trains through one phase and returns its curves."""

    def __init__(self, task: Task, networks: Networks, seeds: list[int], bonuses: list[Bonus], stream: int) -> None:
        self.task, self.networks = task, networks
        self.generator = torch.Generator().manual_seed(stream)
        self.features = torch.as_tensor(task.features, dtype=torch.float32)
        self.tabular = task.features.shape[-2] <= FEW_STATES
        self.variants = torch.tensor(seeds) % len(task.starts)
        self.environments = Environments(task, self.variants, ENVIRONMENTS, self.generator)
        self.optimiser = torch.optim.Adam(networks.weights, LEARNING_RATE, eps=1e-5)
        self.entropy = torch.tensor([b.entropy for b in bonuses])[:, None]
        self.barrier = torch.tensor([b.barrier for b in bonuses])[:, None]
        self.annealed = torch.tensor([b.annealed for b in bonuses])[:, None]
        self.nothing = torch.zeros_like(self.entropy)
        self.steps, self.epochs, self.batches = (8, 1, 1) if task.a2c else (STEPS_PER_UPDATE, 3, 2)

    def _reader(self, left: Tensor) -> Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]:
        """From states (runs, batch) to log pi (runs, batch, K), values and bonus (runs, batch), at the present weights."""

        def outputs(features: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
            logits, values = self.networks(features)
            extra = left * (self.entropy * entropy(logits) + self.barrier * log_barrier(logits))
            return torch.log_softmax(logits, -1), values, extra

        if not self.tabular:
            return lambda state: outputs(self.features[state])
        one_hot = self.features.ndim == 2
        log_pi, values, extra = outputs(None if one_hot else self.features[self.variants])
        return lambda state: (
            log_pi.gather(1, state[..., None].expand(-1, -1, log_pi.shape[-1])),
            values.gather(1, state),
            extra.gather(1, state),
        )

    def phase(self, number: int, before: int, total: int) -> Curves:
        """Train through a phase that begins after `before` of `total` measured updates."""
        self.environments.enter(number)
        low, high = (
            torch.as_tensor(x)[self.variants] for x in self.task.phases[number].bounds(self.task.starts, self.task.limit)
        )
        rollouts = STEPS_PER_UPDATE // self.steps
        last = low[:, None].repeat(1, ENVIRONMENTS)  # until an environment's first episode has ended, that of uniform play
        scores, nearness = [], []
        for update in range(self.task.updates[number]):
            count, summed = torch.zeros_like(last), torch.zeros_like(last)
            left = torch.where(self.annealed, 1.0 - (before + update) / total, 1.0)
            for _ in range(rollouts):
                log_min = self._learn(self._collect(count, summed), left)
            last = torch.where(count > 0, summed / count.clamp(min=1), last)
            scores.append((last.mean(1) - low) / (high - low))
            nearness.append(log_min)
        greedy = (self._greedy(number) - low) / (high - low)
        return Curves(torch.stack(scores, 1).numpy(), torch.stack(nearness, 1).double().exp().numpy(), greedy.numpy())

    @torch.no_grad()
    def _collect(self, count: Tensor, summed: Tensor) -> dict[str, Tensor]:
        """A rollout, (runs, steps * environments) each; adds the returns of ended episodes to `summed` and `count`."""
        seen: dict[str, list[Tensor]] = {name: [] for name in ("state", "action", "log_pi", "value", "reward", "going")}
        read = self._reader(self.nothing)
        for _ in range(self.steps):
            state = self.environments.state
            log_pi, value, _ = read(state)
            action = torch.multinomial(log_pi.exp().flatten(0, 1), 1, generator=self.generator).view(state.shape)
            reward, done, returned = self.environments.step(action)
            count += done
            summed += returned * done
            now = (state, action, log_pi.gather(-1, action[..., None])[..., 0], value)
            for name, value in zip(seen, (*now, reward.float(), 1.0 - done.float()), strict=True):
                seen[name].append(value)
        data = {name: torch.stack(values, 1) for name, values in seen.items()}
        data["advantage"] = self._advantages(data, read(self.environments.state)[1])
        data["target"] = data["advantage"] + data["value"]
        return {name: values.flatten(1) for name, values in data.items()}

    def _advantages(self, data: dict[str, Tensor], after: Tensor) -> Tensor:
        advantage = torch.zeros_like(data["value"])
        running = torch.zeros_like(after)
        for t in reversed(range(self.steps)):
            surprise = data["reward"][:, t] + GAMMA * data["going"][:, t] * after - data["value"][:, t]
            running = surprise + GAMMA * GAE * data["going"][:, t] * running
            advantage[:, t] = running
            after = data["value"][:, t]
        return advantage

    def _learn(self, data: dict[str, Tensor], left: Tensor) -> Tensor:
        """The passes over one rollout; returns the mean log of the smallest probability seen in the first mini-batch."""
        size = data["state"].shape[1]
        first = None
        for _ in range(self.epochs):
            order = torch.randperm(size, generator=self.generator)
            for part in order.chunk(self.batches):
                batch = {name: values[:, part] for name, values in data.items()}
                log_pi, values, extra = self._reader(left)(batch["state"])
                loss = self._loss(batch, log_pi, values, extra)
                self.optimiser.zero_grad()
                loss.sum().backward()  # runs share no weight, so each gets the gradient of its own loss
                self._clip()
                self.optimiser.step()
                first = log_pi.detach().amin(-1).mean(1) if first is None else first
        assert first is not None
        return first

    def _loss(self, batch: dict[str, Tensor], log_policy: Tensor, values: Tensor, extra: Tensor) -> Tensor:
        """(runs,)."""
        log_pi = log_policy.gather(-1, batch["action"][..., None])[..., 0]
        advantage = batch["advantage"]
        if self.task.a2c:
            gain = log_pi * advantage
        else:
            advantage = (advantage - advantage.mean(1, keepdim=True)) / (advantage.std(1, keepdim=True) + 1e-8)
            ratio = (log_pi - batch["log_pi"]).exp()
            gain = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage)
        return (VALUE_WEIGHT * (values - batch["target"]).square() - gain - extra).mean(1)

    def _clip(self) -> None:
        gradients = [weight.grad for weight in self.networks.weights if weight.grad is not None]
        norm = torch.stack([g.square().sum((1, 2)) for g in gradients]).sum(0).sqrt()
        scale = (MAX_NORM / (norm + 1e-6)).clamp(max=1.0)[:, None, None]
        for gradient in gradients:
            gradient *= scale

    @torch.no_grad()
    def _greedy(self, number: int) -> Tensor:
        """Mean return of the most likely actions over the first episode of each environment, (runs,)."""
        self.environments.enter(number)
        result = torch.zeros(self.environments.state.shape, dtype=torch.float64)
        running = torch.ones(self.environments.state.shape, dtype=torch.bool)
        read = self._reader(self.nothing)
        for _ in range(self.task.limit):
            _, done, returned = self.environments.step(read(self.environments.state)[0].argmax(-1))
            result = torch.where(running & done, returned, result)
            running &= ~done
        return result.mean(1)


def train(task: Task, bonuses: list[Bonus], seeds: list[int], *, stream: int) -> Curves:
    """Every bonus on every seed, bonus-major: curves over the measured phases, (len(bonuses) * len(seeds), updates)."""
    start = Networks.fresh(task.features.shape[-1], task.phases[0].reward.shape[2], seeds)
    if task.head_start:
        variants = torch.tensor(seeds) % len(task.starts)
        with torch.no_grad():
            start.weights[5][torch.arange(len(seeds)), 0, variants] += task.head_start
    for number in range(task.unmeasured):
        Training(task, start, seeds, [bonus("none", 0.0)] * len(seeds), stream).phase(number, 0, 1)
    everywhere = torch.arange(len(seeds)).repeat(len(bonuses))
    each = [one for one in bonuses for _ in seeds]
    training = Training(task, start.repeated(everywhere), seeds * len(bonuses), each, stream + 1)
    lengths = task.updates[task.unmeasured :]
    curves = [training.phase(task.unmeasured + i, sum(lengths[:i]), sum(lengths)) for i in range(len(lengths))]
    return Curves(
        np.concatenate([c.score for c in curves], 1),
        np.concatenate([c.min_probability for c in curves], 1),
        curves[-1].greedy,
    )
