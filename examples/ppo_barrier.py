"""PPO and A2C in one file, with a choice of bonus: none, entropy, the log barrier, or half of each.

    python examples/ppo_barrier.py --env CartPole-v1 --bonus entropy --coefficient 0.01
    python examples/ppo_barrier.py --env FrozenLake-v1 --algorithm a2c --bonus barrier --coefficient 0.1 --anneal

Everything that matters is in `update`; the bonus is the one line marked there. Discrete actions only.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from logbarrier.deep import effective_actions, entropy, log_barrier, min_probability, symmetric_kl

Bonus = Callable[[Tensor], Tensor]
BONUSES: dict[str, Bonus] = {
    "none": lambda logits: logits.new_zeros(logits.shape[:-1]),
    "entropy": entropy,
    "barrier": log_barrier,
    "symmetric": symmetric_kl,
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What PPO and A2C differ in is here, and in the loss."""

    clip: float | None  # of the probability ratio; None is A2C's plain policy gradient
    passes: int
    parts: int
    steps: int
    normalise: bool
    learning_rate: float
    environments: int = 8
    gamma: float = 0.99
    trace: float = 0.95
    value_weight: float = 0.5
    max_norm: float = 0.5


PPO = Settings(clip=0.2, passes=4, parts=4, steps=128, normalise=True, learning_rate=1e-3)
A2C = Settings(clip=None, passes=1, parts=1, steps=8, normalise=False, learning_rate=1e-3)


class Agent(nn.Module):
    """Separate actor and critic, two tanh layers of 64 each."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.actor, self.critic = (_network(inputs, outputs, gain) for outputs, gain in ((actions, 0.01), (1, 1.0)))

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (..., K) and values (...)."""
        return self.actor(observations), self.critic(observations).squeeze(-1)


def _network(inputs: int, outputs: int, last_gain: float) -> nn.Sequential:
    layers = [nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)]
    for layer, gain in ((layers[0], math.sqrt(2)), (layers[2], math.sqrt(2)), (layers[4], last_gain)):
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


class Encoder:
    """Observations as float vectors: one-hot for Discrete ones, flattened otherwise."""

    def __init__(self, space: spaces.Space) -> None:
        self.choices = int(space.n) if isinstance(space, spaces.Discrete) else None
        self.size = self.choices or math.prod(space.shape or (1,))

    def __call__(self, observations: np.ndarray) -> Tensor:
        given = torch.as_tensor(observations)
        if self.choices:
            return nn.functional.one_hot(given.long(), self.choices).float()
        return given.float().reshape(len(given), self.size)


@dataclass(frozen=True)
class Batch:
    """A rollout, (steps * environments, ...)."""

    observations: Tensor
    actions: Tensor
    log_pi: Tensor
    advantages: Tensor
    targets: Tensor


class Rollouts:
    """Steps the environments and remembers the returns of the episodes that ended."""

    def __init__(self, name: str, settings: Settings, seed: int) -> None:
        mode = gymnasium.vector.AutoresetMode.SAME_STEP
        self.environments = gymnasium.make_vec(name, settings.environments, vector_kwargs={"autoreset_mode": mode})
        self.settings = settings
        self.encode = Encoder(self.environments.single_observation_space)
        self.now = self.encode(self.environments.reset(seed=seed)[0])
        self.running = np.zeros(settings.environments)
        self.returns: list[float] = []

    @torch.no_grad()
    def collect(self, agent: Agent) -> Batch:
        """Act for `steps` steps; generalised advantage estimates."""
        seen: list[tuple[Tensor, ...]] = []
        for _ in range(self.settings.steps):
            logits, values = agent(self.now)
            policy = torch.distributions.Categorical(logits=logits)
            actions = policy.sample()
            after, reward, ended, late, _ = self.environments.step(actions.numpy())
            done = ended | late
            self.running += reward
            self.returns += self.running[done].tolist()
            self.running[done] = 0.0
            going = 1.0 - torch.as_tensor(done).float()
            seen.append((self.now, actions, policy.log_prob(actions), values, torch.as_tensor(reward).float(), going))
            self.now = self.encode(after)
        observations, actions, log_pi, values, rewards, going = (torch.stack(column) for column in zip(*seen, strict=True))
        advantages = torch.zeros_like(values)
        later, running = agent(self.now)[1], torch.zeros_like(values[0])
        for t in reversed(range(self.settings.steps)):
            surprise = rewards[t] + self.settings.gamma * going[t] * later - values[t]
            running = surprise + self.settings.gamma * self.settings.trace * going[t] * running
            advantages[t], later = running, values[t]
        flat = (x.flatten(0, 1) for x in (observations, actions, log_pi, advantages, advantages + values))
        return Batch(*flat)


def update(agent: Agent, optimiser: torch.optim.Optimizer, batch: Batch, settings: Settings, bonus: Bonus, c: float) -> Tensor:
    """The passes over one rollout; returns the logits of the last part."""
    for _ in range(settings.passes):
        for part in torch.randperm(len(batch.actions)).chunk(settings.parts):
            logits, values = agent(batch.observations[part])
            log_pi = torch.log_softmax(logits, -1).gather(-1, batch.actions[part, None]).squeeze(-1)
            advantages = batch.advantages[part]
            if settings.normalise:
                advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            if settings.clip is None:
                gain = log_pi * advantages
            else:
                ratio = (log_pi - batch.log_pi[part]).exp()
                gain = torch.minimum(ratio * advantages, ratio.clamp(1 - settings.clip, 1 + settings.clip) * advantages)
            value_loss = (values - batch.targets[part]).square().mean()
            loss = settings.value_weight * value_loss - gain.mean() - c * bonus(logits).mean()  # the bonus
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), settings.max_norm)
            optimiser.step()
    return logits.detach()


def train(
    name: str,
    settings: Settings,
    bonus: Bonus,
    *,
    coefficient: float,
    anneal: bool,
    timesteps: int,
    seed: int,
    quiet: bool = False,
) -> tuple[Agent, list[float]]:
    """The agent and the returns of all episodes."""
    torch.manual_seed(seed)
    rollouts = Rollouts(name, settings, seed)
    agent = Agent(rollouts.encode.size, int(rollouts.environments.single_action_space.n))
    optimiser = torch.optim.Adam(agent.parameters(), settings.learning_rate, eps=1e-5)
    updates = max(1, timesteps // (settings.steps * settings.environments))
    for number in range(updates):
        c = coefficient * (1 - number / updates if anneal else 1.0)
        logits = update(agent, optimiser, rollouts.collect(agent), settings, bonus, c)
        if not quiet and number % max(1, updates // 20) == 0:
            recent = np.mean(rollouts.returns[-50:]) if rollouts.returns else math.nan
            done = (number + 1) * settings.steps * settings.environments
            alive, smallest = effective_actions(logits).mean(), min_probability(logits).mean()
            print(f"{done:8d} steps  return {recent:8.3f}  c {c:.3f}  effective actions {alive:.2f}  smallest {smallest:.1e}")
    return agent, rollouts.returns


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--env", default="CartPole-v1")
    parser.add_argument("--algorithm", choices=("ppo", "a2c"), default="ppo")
    parser.add_argument("--bonus", choices=tuple(BONUSES), default="barrier")
    parser.add_argument("--coefficient", type=float, default=0.1)
    parser.add_argument("--anneal", action="store_true", help="let the coefficient fall linearly to 0")
    parser.add_argument("--timesteps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    settings = PPO if given.algorithm == "ppo" else A2C
    chosen = {"coefficient": given.coefficient, "anneal": given.anneal, "timesteps": given.timesteps, "seed": given.seed}
    train(given.env, settings, BONUSES[given.bonus], **chosen)


if __name__ == "__main__":
    main()
