"""PPO with the spectral bonus in one file: exploration by the covariance of frozen random features.

    python examples/ppo_spectral.py                       DeepSea 15; --first-weight 0 is PPO alone
    python examples/ppo_spectral.py --size 20 --timesteps 200000

The bonus of a state with features z is z^T (G + I)^-1 z, where G = sum of z z^T over recent batches. It is large in
directions that were seldom visited. Reward and bonus have a critic each. Their advantages are normalised separately and
mixed by a weight that falls geometrically, so the scale of the rewards does not matter.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


@dataclass(frozen=True)
class Settings:
    """What can be changed from the command line."""

    size: int = 15
    timesteps: int = 80_000
    first_weight: float = 10.0
    last_weight: float = 0.1
    features: int = 256
    memory: float = 0.95
    environments: int = 32
    steps: int = 40
    epochs: int = 4
    mini_batches: int = 4
    learning_rate: float = 1e-3
    gamma: float = 0.99
    decay: float = 0.95
    clip: float = 0.2
    largest_gradient: float = 0.5
    seed: int = 0


class DeepSea:
    """Many N x N grids at once: each step goes one row down, left or right; the lower right corner pays 1.

    Right costs 0.01/N, so every reward on the way points away from the goal. Which action is right differs by cell.
    """

    def __init__(self, size: int, environments: int) -> None:
        self.size = size
        self.right = np.random.default_rng(42).integers(2, size=(size, size))
        self.row = 0
        self.column = np.zeros(environments, dtype=int)

    def observe(self) -> Tensor:
        """Return the cells as one-hot vectors, (environments, N * N)."""
        return nn.functional.one_hot(torch.as_tensor(self.row * self.size + self.column), self.size**2).float()

    def step(self, action: NDArray[np.int64]) -> tuple[NDArray[np.float64], bool]:
        """Move; return the rewards and whether the episodes, which all have N steps, are over."""
        right = action == self.right[self.row, self.column]
        reward = right * ((self.column == self.size - 1) - 0.01 / self.size)
        self.column = np.clip(self.column + np.where(right, 1, -1), 0, self.size - 1)
        self.row += 1
        over = self.row == self.size
        if over:
            self.row = 0
            self.column[:] = 0
        return reward, over


class SpectralBonus:
    """Novelty against a covariance that forgets."""

    def __init__(self, inputs: int, size: int, memory: float) -> None:
        self.network = nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, size)).requires_grad_(False)
        nn.init.normal_(self.network[0].weight)  # inputs are one-hot
        nn.init.normal_(self.network[2].weight, std=128**-0.5)
        self.memory = memory
        self.gram = torch.zeros(size, size)

    def __call__(self, observations: Tensor) -> Tensor:
        """Add a batch (N, inputs) and return its bonus (N,)."""
        z = nn.functional.normalize(self.network(observations), dim=1)
        self.gram = self.memory * self.gram + z.T @ z
        factor = torch.linalg.cholesky(self.gram + torch.eye(len(self.gram)))
        # z^T (L L^T)^-1 z = |L^-1 z|^2: no inverse is formed, and float32 is enough.
        return torch.linalg.solve_triangular(factor.T, z, upper=True, left=False).square().sum(1)


def network(inputs: int, outputs: int, last_scale: float) -> nn.Sequential:
    """Return two hidden layers of 64 units."""
    layers = nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))
    nn.init.orthogonal_(layers[-1].weight, last_scale)
    nn.init.zeros_(layers[-1].bias)
    return layers


def advantages(rewards: Tensor, values: Tensor, ends: Tensor, gamma: float, decay: float) -> Tensor:
    """Return generalised advantages (steps, environments); values has one step more, ends is 1 where an episode ends."""
    found, following = torch.zeros_like(rewards), torch.zeros_like(rewards[0])
    for step in reversed(range(len(rewards))):
        alive = 1.0 - ends[step]
        following = rewards[step] + gamma * alive * values[step + 1] - values[step] + gamma * decay * alive * following
        found[step] = following
    return found


class RootMeanSquare:
    """Running root mean square over all batches."""

    def __init__(self) -> None:
        self.total, self.batches = 0.0, 0

    def __call__(self, x: Tensor) -> Tensor:
        """Return x divided by the root mean square of x and all batches before."""
        self.total += float(x.square().mean())
        self.batches += 1
        return x / max((self.total / self.batches) ** 0.5, 1e-8)


@dataclass
class Learner:
    """An actor and two critics, with one optimiser each: a joint gradient clip would starve the actor."""

    actor: nn.Module
    critic: nn.Module
    bonus_critic: nn.Module
    settings: Settings

    def __post_init__(self) -> None:
        self.networks = (self.actor, self.critic, self.bonus_critic)
        self.optimisers = [torch.optim.Adam(part.parameters(), self.settings.learning_rate, eps=1e-5) for part in self.networks]

    def train(self, states: Tensor, actions: Tensor, old: Tensor, advantage: Tensor, targets: tuple[Tensor, Tensor]) -> None:
        """Make PPO's epochs over one batch; targets are the returns of reward and bonus."""
        for _ in range(self.settings.epochs):
            for chosen in torch.randperm(len(states)).chunk(self.settings.mini_batches):
                log_pi = self.actor(states[chosen]).log_softmax(1).gather(1, actions[chosen, None])[:, 0]
                ratio = (log_pi - old[chosen]).exp()
                clipped = ratio.clamp(1 - self.settings.clip, 1 + self.settings.clip)
                losses = [-torch.min(ratio * advantage[chosen], clipped * advantage[chosen]).mean()]
                for critic, target in zip((self.critic, self.bonus_critic), targets, strict=True):
                    losses.append((critic(states[chosen])[:, 0] - target[chosen]).square().mean())
                for loss, part, optimiser in zip(losses, self.networks, self.optimisers, strict=True):
                    optimiser.zero_grad()
                    loss.backward()
                    nn.utils.clip_grad_norm_(part.parameters(), self.settings.largest_gradient)
                    optimiser.step()


def train(settings: Settings, *, quiet: bool = False) -> tuple[Learner, list[float]]:
    """Return the learner, and the share of the episodes that reach the goal, batch by batch."""
    torch.manual_seed(settings.seed)
    inputs = settings.size**2
    environment = DeepSea(settings.size, settings.environments)
    learner = Learner(network(inputs, 2, 0.01), network(inputs, 1, 1.0), network(inputs, 1, 1.0), settings)
    bonus = SpectralBonus(inputs, settings.features, settings.memory)
    of_reward, of_bonus = RootMeanSquare(), RootMeanSquare()
    shape = (settings.steps, settings.environments)
    batches = settings.timesteps // (settings.steps * settings.environments)
    shares: list[float] = []
    for batch in range(batches):
        states, actions = torch.zeros(*shape, inputs), torch.zeros(shape, dtype=torch.long)
        old, rewards, ends = torch.zeros(shape), torch.zeros(shape), torch.zeros(shape)
        for step in range(settings.steps):
            states[step] = environment.observe()
            with torch.no_grad():
                log_pi = learner.actor(states[step]).log_softmax(1)
            actions[step] = torch.multinomial(log_pi.exp(), 1)[:, 0]
            old[step] = log_pi.gather(1, actions[step, :, None])[:, 0]
            reward, over = environment.step(actions[step].numpy())
            rewards[step], ends[step] = torch.as_tensor(reward), float(over)
        shares.append(float((rewards > 0.5).sum() / ends.sum().clamp(min=1)))

        with torch.no_grad():
            seen = torch.cat([states, environment.observe()[None]])
            values, bonus_values = (critic(seen)[..., 0] for critic in (learner.critic, learner.bonus_critic))
        novelty = bonus(states.flatten(0, 1)).view(shape)
        scaled = (1 - settings.gamma) * novelty / novelty.mean()  # returns of about 1, whatever the age of the covariance
        # The bonus goes on across episodes: the end of one costs nothing.
        parts = (
            advantages(rewards, values, ends, settings.gamma, settings.decay),
            advantages(scaled, bonus_values, torch.zeros(shape), settings.gamma, settings.decay),
        )
        targets = ((parts[0] + values[:-1]).flatten(), (parts[1] + bonus_values[:-1]).flatten())
        ratio = settings.last_weight / max(settings.first_weight, 1e-30)
        weight = settings.first_weight * ratio ** (batch / batches) if settings.first_weight else 0.0
        advantage = (of_reward(parts[0]) + weight * of_bonus(parts[1])) / (1 + weight)
        learner.train(states.flatten(0, 1), actions.flatten(), old.flatten(), advantage.flatten(), targets)
        if not quiet and (batch % 10 == 0 or batch == batches - 1):
            steps = (batch + 1) * settings.steps * settings.environments
            print(f"{steps:8,} steps: {100 * shares[-1]:3.0f} % of the episodes reach the goal, weight {weight:.2f}")
    return learner, shares


def main() -> None:
    """Read the settings and train."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name, value in vars(Settings()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    torch.set_num_threads(1)
    train(Settings(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
