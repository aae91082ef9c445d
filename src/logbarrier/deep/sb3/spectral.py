"""PPO, A2C and RecurrentPPO of Stable-Baselines3 with a bonus for exploration.

After each rollout the bonus b of every step is divided by its mean, and an additional critic estimates its returns.
Advantages of reward and bonus are divided by their own running root mean squares and mixed:

    A = (A_reward + weight A_bonus) / (1 + weight).

The weight falls geometrically over the training, by default from 10 to 0.1, whatever the scale of the rewards. The returns
of the bonus go on across episodes, as in RND: the end of an episode costs no bonus.
"""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib import RecurrentPPO
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.preprocessing import preprocess_obs
from stable_baselines3.common.utils import obs_as_tensor
from torch import Tensor, nn

from ...base import validate
from ..bonuses import Batch, Bonus, FeatureMap, RandomFeatures, SpectralBonus
from .policies import categoricals

BonusMaker = Callable[[Any, int], Bonus]
"""From the shape of the observations and the number of environments to a bonus."""


def spectral(shape: Any, environments: int) -> Bonus:
    """Return the default bonus: the state part of the spectral barrier on 256 random features."""
    return SpectralBonus(RandomFeatures(shape))


class BonusCritic(nn.Module):
    """Values of the bonus, with a network like the policy's: (N, ...) to (N,)."""

    def __init__(self, policy: Any) -> None:
        super().__init__()
        self.space, self.normalise = policy.observation_space, policy.normalize_images
        self.extractor = policy.make_features_extractor()
        size = self.extractor.features_dim
        self.value = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))

    def inputs(self, observations: Any) -> Any:
        """Return observations as networks take them: floats, images between 0 and 1, one-hot vectors."""
        return preprocess_obs(observations, self.space, normalize_images=self.normalise)

    def forward(self, inputs: Any) -> Tensor:
        """Return the values of inputs."""
        return self.value(self.extractor(inputs)).squeeze(-1)


class BonusMixin:
    """Put before an on-policy algorithm of SB3: `class Mine(BonusMixin, PPO): ...`.

    `bonus` is a module of `logbarrier.deep.bonuses`, or a function from the shape of the observations and the number of
    environments to one. The logger gets `bonus/mean`, `bonus/coverage` (mean over largest bonus of the rollout, 1 for an
    optimal design), `bonus/weight`, `bonus/critic_loss`, and what the bonus reports, such as `bonus/effective_dimension`.
    """

    def __init__(
        self,
        policy: Any,
        env: Any,
        *args: Any,
        bonus: Bonus | BonusMaker = spectral,
        bonus_weights: tuple[float, float] = (10.0, 0.1),
        bonus_gamma: float = 0.99,
        **kwargs: Any,
    ) -> None:
        who = type(self).__name__
        if not (isinstance(bonus_weights, Sequence) and len(bonus_weights) == 2):
            raise TypeError(f"{who}: bonus_weights must be two positive numbers, first and last, got {bonus_weights!r}")
        for weight in bonus_weights:
            validate.positive(who, "bonus_weights", weight)
        if not 0.0 <= validate.number(who, "bonus_gamma", bonus_gamma) < 1.0:
            raise ValueError(f"{who}: bonus_gamma must be at least 0 and below 1, got {bonus_gamma}")
        if isinstance(bonus, FeatureMap | type) or not (isinstance(bonus, Bonus) or callable(bonus)):
            got = f"the class {bonus.__name__}" if isinstance(bonus, type) else type(bonus).__name__
            raise TypeError(
                f"{who}: bonus must be a Bonus, such as SpectralBonus(features), or a function that returns one, got {got}"
            )
        self.bonus_given, self.bonus_weights, self.bonus_gamma = bonus, bonus_weights, bonus_gamma
        self.squares = [0.0, 0.0]  # sums over rollouts of the mean squared advantage of reward and bonus
        self.rollouts = 0
        kwargs.setdefault("normalize_advantage", False)  # advantages come normalised already
        super().__init__(policy, env, *args, **kwargs)  # type: ignore[call-arg]

    def _setup_model(self: Any) -> None:
        super()._setup_model()  # type: ignore[misc]
        self.bonus_critic = BonusCritic(self.policy).to(self.device)
        self.bonus_optimiser = torch.optim.Adam(self.bonus_critic.parameters(), self.lr_schedule(1.0), eps=1e-5)
        sample = self.observation_space.sample()
        inputs = self.bonus_critic.inputs(obs_as_tensor(_each(sample, lambda part: part[None]), "cpu"))
        shape = _each(inputs, lambda part: tuple(part.shape[1:]))
        given = self.bonus_given
        made = copy.deepcopy(given) if isinstance(given, Bonus) else given(shape, self.n_envs)
        if not isinstance(made, Bonus):
            raise TypeError(f"{type(self).__name__}: bonus must return a Bonus, got {type(made).__name__}")
        self.bonus = made.to(self.device)
        if getattr(made, "logits", 0) and isinstance(self.action_space, spaces.Box):
            raise ValueError(
                f"{type(self).__name__}: the score form needs discrete actions, got {self.action_space}; "
                "use the state part, SpectralBonus without logits"
            )
        if getattr(made, "logits", 0) and isinstance(self, RecurrentPPO):
            raise ValueError(f"{type(self).__name__}: has no score form; use the state part, SpectralBonus without logits")
        self._try_bonus(sample, inputs, shape)

    def _try_bonus(self: Any, sample: Any, inputs: Any, shape: Any) -> None:
        """Raise now, before the first rollout, what the bonus would raise after it."""
        who, count, scores = type(self).__name__, self.n_envs, None
        if wanted := getattr(self.bonus, "logits", 0):
            with torch.no_grad():
                tensors, _ = self.policy.obs_to_tensor(sample)
                found = sum(logits.shape[-1] for logits, _ in categoricals(self.policy.get_distribution(tensors)))
            if found != wanted:
                raise ValueError(f"{who}: logits of the bonus must be {found} for {self.action_space}, got {wanted}")
            scores = torch.zeros(1, count, found, device=self.device)
        repeated = _each(inputs, lambda part: part.to(self.device).repeat(count, *[1] * (part.ndim - 1))[None])
        starts = torch.ones(1, count, dtype=torch.bool, device=self.device)
        try:
            self.bonus.bonus(Batch(observations=repeated, starts=starts, scores=scores))
        except (RuntimeError, ValueError, TypeError, AttributeError, LookupError) as error:
            raise ValueError(f"{who}: the bonus must take observations of shape {shape}; it raised: {error}") from error

    def collect_rollouts(self: Any, env: Any, callback: Any, rollout_buffer: Any, n_rollout_steps: int) -> bool:
        """Fill the buffer as usual, then replace its advantages by the mixture."""
        try:
            complete = super().collect_rollouts(env, callback, rollout_buffer, n_rollout_steps)  # type: ignore[misc]
        except ValueError:
            self._check_finite("observations of the environment", self._last_obs)
            raise
        if not complete:
            return False
        self._check_finite("observations of the environment", self._last_obs)
        self._check_finite("rewards, and observations at a time limit,", rollout_buffer.rewards)
        steps = rollout_buffer.rewards.shape
        raw = _merged(rollout_buffer.observations, self.observation_space)
        flat = self.bonus_critic.inputs(obs_as_tensor(raw, self.device))
        batch = Batch(
            observations=_each(flat, lambda part: part.view(*steps, *part.shape[1:])),
            starts=torch.as_tensor(rollout_buffer.episode_starts > 0, device=self.device),
            scores=self._scores(raw, rollout_buffer.actions) if getattr(self.bonus, "logits", 0) else None,
        )
        bonus = self.bonus.bonus(batch)
        self.bonus.update(batch)
        mean = float(bonus.mean())
        with torch.no_grad():
            last = self.bonus_critic(self.bonus_critic.inputs(obs_as_tensor(self._last_obs, self.device)))
            values = torch.cat([self.bonus_critic(flat).view(steps), last[None]])
        scaled = (1.0 - self.bonus_gamma) * bonus / max(mean, 1e-30)
        advantages = generalised_advantages(scaled, values, gamma=self.bonus_gamma, decay=self.gae_lambda)
        self.bonus_data = flat, (advantages + values[:-1]).flatten()
        weight = self._mix(rollout_buffer, advantages.cpu().numpy())
        coverage = mean / max(float(bonus.max()), 1e-30)
        for name, value in {"mean": mean, "coverage": coverage, "weight": weight, **self.bonus.report()}.items():
            self.logger.record(f"bonus/{name}", value)
        return True

    def _check_finite(self: Any, what: str, values: Any) -> None:
        parts = values.values() if isinstance(values, dict) else [values]
        if bad := sum(int((~np.isfinite(part)).sum()) for part in parts):
            raise ValueError(
                f"{type(self).__name__}: {what} must be finite, got {bad} numbers that are not; "
                "use SB3's VecCheckNan to find the source"
            )

    def _mix(self: Any, rollout_buffer: Any, advantages: Any) -> float:
        """Write the mixture into the buffer; return the weight of the bonus."""
        progress = min(1.0, self.num_timesteps / self._total_timesteps)
        first, last = self.bonus_weights
        weight = first * (last / first) ** progress
        self.rollouts += 1
        normalised = []
        for i, part in enumerate((rollout_buffer.advantages, advantages)):
            self.squares[i] += float((part.astype("float64") ** 2).mean())
            normalised.append(part / max(math.sqrt(self.squares[i] / self.rollouts), 1e-8))
        rollout_buffer.advantages = ((normalised[0] + weight * normalised[1]) / (1.0 + weight)).astype("float32")
        return weight

    def _scores(self: Any, raw: Any, actions: Any) -> Tensor:
        """Return e_a - pi for every part of the action, (steps, environments, logits)."""
        with torch.no_grad():
            parts = categoricals(self.policy.get_distribution(obs_as_tensor(raw, self.device)))
        taken = torch.as_tensor(actions, device=self.device).long().view(-1, len(parts))
        scores = [
            nn.functional.one_hot(taken[:, i], logits.shape[-1]) - logits.softmax(-1) for i, (logits, _) in enumerate(parts)
        ]
        return torch.cat(scores, -1).view(*actions.shape[:2], -1)

    def train(self: Any) -> None:
        """Train policy and critic as usual, then the critic of the bonus, whose gradient is clipped separately."""
        super().train()  # type: ignore[misc]
        inputs, returns = self.bonus_data
        count = len(returns)
        losses = []
        for _ in range(getattr(self, "n_epochs", 1)):
            order = torch.randperm(count, device=returns.device)
            for chosen in order.split(getattr(self, "batch_size", count)):
                values = self.bonus_critic(_each(inputs, operator.itemgetter(chosen)))
                loss = nn.functional.mse_loss(values, returns[chosen])
                self.bonus_optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.bonus_critic.parameters(), self.max_grad_norm)
                self.bonus_optimiser.step()
                losses.append(float(loss.detach()))
        self.logger.record("bonus/critic_loss", sum(losses) / len(losses))

    def _excluded_save_params(self: Any) -> list[str]:
        return [*super()._excluded_save_params(), "bonus", "bonus_critic", "bonus_optimiser", "bonus_data"]  # type: ignore[misc]

    def _get_torch_save_params(self: Any) -> tuple[list[str], list[str]]:
        modules, tensors = super()._get_torch_save_params()  # type: ignore[misc]
        return [*modules, "bonus", "bonus_critic", "bonus_optimiser"], tensors


class SpectralPPO(BonusMixin, PPO):
    """PPO that explores: `SpectralPPO("MlpPolicy", env).learn(100_000)`; takes every argument of PPO."""


class SpectralA2C(BonusMixin, A2C):
    """A2C that explores: `SpectralA2C("MlpPolicy", env).learn(100_000)`; takes every argument of A2C."""


class SpectralRecurrentPPO(BonusMixin, RecurrentPPO):
    """sb3-contrib's RecurrentPPO that explores; the bonus and its critic see the observations alone."""


def generalised_advantages(rewards: Tensor, values: Tensor, *, gamma: float, decay: float) -> Tensor:
    """Return advantages (steps, environments) of rewards (steps, environments) and values (steps + 1, environments).

    >>> generalised_advantages(torch.ones(3, 1), torch.zeros(4, 1), gamma=0.5, decay=1.0).flatten()
    tensor([1.7500, 1.5000, 1.0000])
    """
    differences = rewards + gamma * values[1:] - values[:-1]
    advantages = torch.zeros_like(rewards)
    following = torch.zeros_like(rewards[0])
    for step in reversed(range(len(rewards))):
        following = differences[step] + gamma * decay * following
        advantages[step] = following
    return advantages


def _each(observations: Any, change: Callable[[Any], Any]) -> Any:
    """Apply a function to an observation, or to every part of a dictionary of them."""
    return (
        {name: change(part) for name, part in observations.items()} if isinstance(observations, dict) else change(observations)
    )


def _merged(observations: Any, space: Any) -> Any:
    """Merge steps and environments of what a rollout buffer holds, (steps, environments, ...), as (N, *shape of the space)."""
    if isinstance(observations, dict):
        return {name: _merged(part, space[name]) for name, part in observations.items()}
    return observations.reshape(-1, *space.shape)
