"""Stable-Baselines3 policies whose bonus is the log barrier instead of the entropy; everything else is SB3's own.

PPO, A2C and their kin in sb3-contrib add `ent_coef` times the third value of `policy.evaluate_actions` to what they
maximise. One mixin puts the barrier there. Acting, saving, loading and the distribution's own `entropy()` stay as they were;
SB3's `train/entropy_loss` then logs minus the barrier, and `BarrierCallback` logs the true entropy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import (
    MaskableActorCriticCnnPolicy,
    MaskableActorCriticPolicy,
    MaskableMultiInputActorCriticPolicy,
)
from sb3_contrib.common.recurrent.policies import (
    RecurrentActorCriticCnnPolicy,
    RecurrentActorCriticPolicy,
    RecurrentMultiInputActorCriticPolicy,
)
from stable_baselines3.common.policies import ActorCriticCnnPolicy, ActorCriticPolicy, MultiInputActorCriticPolicy
from torch import Tensor

from ..functions import entropy, log_barrier, min_log_probability

Bonus = Callable[[Tensor, Tensor | None], Tensor]


def categoricals(action_dist: Any) -> list[tuple[Tensor, Tensor | None]]:
    """Logits (batch, K) and mask of every part of the last action distribution: one for Discrete, one per axis otherwise."""
    parts = getattr(action_dist, "distributions", None) or action_dist.distribution
    if isinstance(parts, torch.distributions.Bernoulli):
        # A yes-or-no part is a softmax over the logits (0, x).
        return [(torch.stack([torch.zeros_like(x), x], -1), None) for x in parts.logits.unbind(-1)]
    return [(part.logits, getattr(part, "masks", None)) for part in (parts if isinstance(parts, list) else [parts])]


class Seen:
    """Means over the states a policy was trained on since they were last asked for."""

    def __init__(self) -> None:
        self.batches = 0
        self.total = torch.zeros(4)

    @torch.no_grad()
    def add(self, parts: list[tuple[Tensor, Tensor | None]]) -> None:
        """One mini-batch; parts as `categoricals` gives them."""
        each = [[f(logits, mask) for logits, mask in parts] for f in (entropy, log_barrier, min_log_probability)]
        true_entropy, barrier = (torch.stack(values).sum(0) for values in each[:2])
        smallest = torch.stack(each[2]).amin(0)
        self.total = self.total + torch.stack([true_entropy, barrier, smallest, true_entropy.exp()]).mean(1).cpu()
        self.batches += 1

    def take(self) -> dict[str, float]:
        """Means by name, empty if nothing was trained on; then start afresh."""
        if not self.batches:
            return {}
        means = (self.total / self.batches).tolist()
        self.batches, self.total = 0, torch.zeros(4)
        return dict(zip(("entropy", "log_barrier", "min_log_probability", "effective_actions"), means, strict=True))


class LogBarrierMixin:
    """Put before any SB3 actor-critic policy class: `class Mine(LogBarrierMixin, MyPolicy): ...`.

    `bonus` takes logits (batch, K) and a mask or None; pass another one through `policy_kwargs={"bonus": symmetric_kl}`.
    Over MultiDiscrete and MultiBinary actions the bonus is summed, as SB3 does with the entropy.
    """

    action_dist: Any

    def __init__(
        self, observation_space: Any, action_space: Any, *args: Any, bonus: Bonus = log_barrier, **kwargs: Any
    ) -> None:
        if isinstance(action_space, spaces.Box):
            raise ValueError(
                f"{type(self).__name__}: the log barrier needs discrete actions, got {action_space}; keep SB3's own policy and "
                "its entropy bonus there, or discretise the actions into bins with a MultiDiscrete space"
            )
        super().__init__(observation_space, action_space, *args, **kwargs)  # type: ignore[call-arg]
        self.bonus = bonus
        self.seen = Seen()

    def evaluate_actions(self, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Values, log-probabilities, and the bonus where SB3 has the entropy; each (batch,)."""
        values, log_prob, _ = super().evaluate_actions(*args, **kwargs)  # type: ignore[misc]
        parts = categoricals(self.action_dist)
        self.seen.add(parts)
        return values, log_prob, torch.stack([self.bonus(logits, mask) for logits, mask in parts]).sum(0)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "bonus": self.bonus}  # type: ignore[misc]


class LogBarrierPolicy(LogBarrierMixin, ActorCriticPolicy):
    """For vectors: `PPO(LogBarrierPolicy, env, ent_coef=0.3)`, A2C alike."""


class LogBarrierCnnPolicy(LogBarrierMixin, ActorCriticCnnPolicy):
    """For images."""


class LogBarrierMultiInputPolicy(LogBarrierMixin, MultiInputActorCriticPolicy):
    """For dictionaries of observations."""


class LogBarrierMaskablePolicy(LogBarrierMixin, MaskableActorCriticPolicy):
    """For sb3-contrib's MaskablePPO: the barrier is over the allowed actions."""


class LogBarrierMaskableCnnPolicy(LogBarrierMixin, MaskableActorCriticCnnPolicy):
    """For MaskablePPO on images."""


class LogBarrierMaskableMultiInputPolicy(LogBarrierMixin, MaskableMultiInputActorCriticPolicy):
    """For MaskablePPO on dictionaries of observations."""


class LogBarrierRecurrentPolicy(LogBarrierMixin, RecurrentActorCriticPolicy):
    """For sb3-contrib's RecurrentPPO."""


class LogBarrierRecurrentCnnPolicy(LogBarrierMixin, RecurrentActorCriticCnnPolicy):
    """For RecurrentPPO on images."""


class LogBarrierRecurrentMultiInputPolicy(LogBarrierMixin, RecurrentMultiInputActorCriticPolicy):
    """For RecurrentPPO on dictionaries of observations."""


BARRIER_KIN: dict[type, type[LogBarrierMixin]] = {
    kin.__mro__[2]: kin
    for kin in (
        LogBarrierPolicy,
        LogBarrierCnnPolicy,
        LogBarrierMultiInputPolicy,
        LogBarrierMaskablePolicy,
        LogBarrierMaskableCnnPolicy,
        LogBarrierMaskableMultiInputPolicy,
        LogBarrierRecurrentPolicy,
        LogBarrierRecurrentCnnPolicy,
        LogBarrierRecurrentMultiInputPolicy,
    )
}
"""From an SB3 policy class to the one here that differs from it by the bonus alone."""
