"""Rescue a saved policy that has collapsed: look at what it has lost, then go on training it with the barrier."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sb3_contrib import MaskablePPO, RecurrentPPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.save_util import load_from_zip_file

from ...base import validate
from .callback import BarrierCallback
from .diagnosis import Diagnosis, diagnose
from .policies import BARRIER_KIN, LogBarrierMixin
from .returns import MANY_LOST, is_worse
from .schedules import Linear, Schedule
from .spectral import SpectralA2C, SpectralPPO, SpectralRecurrentPPO

ANNEALED = Linear(0.6)
"""c falls from 0.6 to 0, which rescued the collapsed PPO policies of the study, and the policy ends sharp."""


@dataclass(frozen=True)
class Rescue:
    """The model after the rescue, and what it was and is."""

    model: Any
    before: Diagnosis
    after: Diagnosis

    @property
    def change(self) -> float:
        """Mean return after minus mean return before; not a number if no episode ended."""
        if not (self.before.returns and self.after.returns):
            return math.nan
        return float(np.mean(self.after.returns) - np.mean(self.before.returns))

    @property
    def worse(self) -> bool:
        """Whether the mean return fell by more than two standard errors."""
        return is_worse(self.after.returns, self.before.returns)

    def __str__(self) -> str:
        return f"Before\n\n{self.before}\n\nAfter\n\n{self.after}\n\nmean return changed by {self.change:.3g}"


def rescue(
    model: Any,
    env: Any = None,
    *,
    timesteps: int,
    schedule: Schedule = ANNEALED,
    policy_class: type[LogBarrierMixin] | None = None,
    callback: Any = None,
    steps: int = 2000,
    lost_below: float = 1e-3,
    seed: int = 0,
    force: bool = False,
) -> Rescue:
    """Diagnose an SB3 model over some steps, train it for `timesteps` more with the barrier, diagnose it again.

        saved = rescue(PPO.load("model.zip"), new_env, timesteps=50_000)
        print(saved.before, saved.after, sep="\\n\\n")
        saved.model.save("rescued.zip")

    The model given is left alone; the rescued one is of the same algorithm, with its weights, optimiser and settings.
    A policy that is certain and right is refused unless `force` is set, for the barrier would train it down.
    """
    timesteps = validate.integer("rescue", "timesteps", timesteps, 1)
    before = diagnose(model, env, steps=steps, lost_below=lost_below, seed=seed)
    if before.collapsed is False and before.lost_share >= MANY_LOST and not force:
        raise ValueError(f"rescue: the policy needs no rescue; {before.verdict} Force the training if its task will change")
    trained = with_barrier(model, env, policy_class=policy_class)
    trained.set_random_seed(seed)
    trained.learn(timesteps, callback=[BarrierCallback(schedule), *([] if callback is None else [callback])])
    return Rescue(trained, before, diagnose(trained, steps=steps, lost_below=lost_below, seed=seed))


def with_barrier(model: Any, env: Any = None, *, policy_class: type[LogBarrierMixin] | None = None) -> Any:
    """A copy of an SB3 model in which `ent_coef` weighs the log barrier; weights, optimiser and settings are the model's own.

    `env` is the environment to go on in, by default the model's own. Your own policy class needs its barrier version:
    `class Mine(LogBarrierMixin, MyPolicy): ...`, passed as `policy_class`.
    """
    known = type(model.policy)
    chosen = policy_class or (known if issubclass(known, LogBarrierMixin) else BARRIER_KIN.get(known))
    if chosen is None:
        raise ValueError(
            f"with_barrier: {known.__name__} has no barrier version; define `class Mine(LogBarrierMixin, {known.__name__})` "
            "and pass it as policy_class"
        )
    copy = io.BytesIO()
    model.save(copy)
    copy.seek(0)
    return type(model).load(copy, env=model.get_env() if env is None else env, custom_objects={"policy_class": chosen})


def load(path: str | Path, env: Any = None) -> Any:
    """Return a saved PPO, A2C, MaskablePPO, RecurrentPPO or one with a bonus, recognised by what the archive holds."""
    if not (Path(path).exists() or Path(f"{path}.zip").exists()):
        raise FileNotFoundError(f"load: there is no file {path}; pass the path of a saved model")
    data, _, _ = load_from_zip_file(str(path), load_data=True)
    policy = (data or {}).get("policy_class")
    if not (isinstance(policy, type) and issubclass(policy, ActorCriticPolicy | MaskableActorCriticPolicy)):
        raise ValueError(f"{path}: not a saved PPO, A2C, MaskablePPO or RecurrentPPO model")
    plain: Any
    explores: Any
    if issubclass(policy, MaskableActorCriticPolicy):
        plain = explores = MaskablePPO
    elif issubclass(policy, RecurrentActorCriticPolicy):
        plain, explores = RecurrentPPO, SpectralRecurrentPPO
    else:
        plain, explores = (PPO, SpectralPPO) if "clip_range" in (data or {}) else (A2C, SpectralA2C)
    return (explores if "bonus_given" in (data or {}) else plain).load(path, env=env)
