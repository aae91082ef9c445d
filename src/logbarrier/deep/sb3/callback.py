"""A callback for Stable-Baselines3: it logs how near the boundary the policy is, and moves c by a schedule."""

from __future__ import annotations

import math

from stable_baselines3.common.callbacks import BaseCallback

from .policies import LogBarrierMixin
from .schedules import Moment, Schedule


class BarrierCallback(BaseCallback):
    """`model.learn(100_000, callback=BarrierCallback(Linear(0.3)))`; without a schedule c stays as it is and is only logged.

    The logger gets `barrier/coefficient`, `barrier/entropy` (the true one), `barrier/log_barrier`,
    `barrier/min_probability` (geometric mean over states) and `barrier/effective_actions`, all over the states trained on.
    c is the model's `ent_coef`, so that a model saved half way resumes where it was.
    """

    def __init__(self, schedule: Schedule | None = None, verbose: int = 0) -> None:
        super().__init__(verbose)
        if not (schedule is None or callable(schedule)):
            raise TypeError(f"BarrierCallback: schedule must be a function of a Moment, such as Linear(0.3), got {schedule!r}")
        self.schedule = schedule

    def _init_callback(self) -> None:
        if not isinstance(self.model.policy, LogBarrierMixin):
            raise ValueError(
                f"BarrierCallback: the policy must be a LogBarrierPolicy or a variant, got {type(self.model.policy).__name__}"
            )

    def _on_rollout_start(self) -> None:
        seen = self.model.policy.seen.take()
        if self.schedule is not None:
            self.model.ent_coef = self.schedule(
                Moment(
                    progress=self.model.num_timesteps / self.model._total_timesteps,
                    steps=self.model.num_timesteps,
                    coefficient=self.model.ent_coef,
                    min_log_probability=seen.get("min_log_probability"),
                )
            )
        self.logger.record("barrier/coefficient", self.model.ent_coef)
        self._log(seen)

    def _on_training_end(self) -> None:
        self._log(self.model.policy.seen.take())

    def _on_step(self) -> bool:
        return True

    def _log(self, seen: dict[str, float]) -> None:
        for name in ("entropy", "log_barrier", "effective_actions"):
            if name in seen:
                self.logger.record(f"barrier/{name}", seen[name])
        if seen:
            self.logger.record("barrier/min_probability", math.exp(seen["min_log_probability"]))
