"""Learning-rate schedules as values: alpha_t = scale * t^-power * exp(-rate t), with t counted from 1.

>>> import logbarrier as lb
>>> rule = lb.SGB(learning_rate=lb.inverse_sqrt(0.5))
>>> lb.inverse_sqrt(0.5)
Schedule(scale=0.5, power=0.5, rate=0.0)
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from ..base import validate
from ..engine.compiled import compiled
from ..engine.elementary import exp, log


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """alpha_t = scale * t^-power * exp(-rate t), t = 1, 2, ..."""

    scale: float
    power: float = 0.0
    rate: float = 0.0

    def __post_init__(self) -> None:
        validate.positive("Schedule", "scale", self.scale)
        validate.at_least_zero("Schedule", "power", self.power)
        validate.at_least_zero("Schedule", "rate", self.rate)


def constant(scale: float) -> Schedule:
    """The same learning rate at every step; a plain number does the same."""
    return Schedule(scale=scale)


def inverse_sqrt(scale: float) -> Schedule:
    """scale / sqrt(t)."""
    return Schedule(scale=scale, power=0.5)


def power_law(scale: float, power: float) -> Schedule:
    """scale * t^-power."""
    return Schedule(scale=scale, power=power)


def exponential_decay(scale: float, rate: float) -> Schedule:
    """scale * exp(-rate t)."""
    return Schedule(scale=scale, rate=rate)


LearningRate = float | Schedule


def as_numbers(owner: str, learning_rate: Any) -> tuple[float, float, float]:
    """(scale, power, rate) of a number or a schedule, as compiled functions take it."""
    if isinstance(learning_rate, Schedule):
        return float(learning_rate.scale), float(learning_rate.power), float(learning_rate.rate)
    return validate.positive(owner, "learning_rate", learning_rate), 0.0, 0.0


def to_plain(learning_rate: Any) -> Any:
    """A schedule as a dict for JSON; a number stays a number."""
    return asdict(learning_rate) if isinstance(learning_rate, Schedule) else float(learning_rate)


def from_plain(value: Any) -> LearningRate:
    """What `to_plain` wrote."""
    return Schedule(**value) if isinstance(value, dict) else float(value)


@compiled
def learning_rate_at(t, schedule):
    """alpha_t of (scale, power, rate)."""
    scale, power, rate = schedule
    if power == 0.0 and rate == 0.0:
        return scale
    if power == 0.5 and rate == 0.0:
        return scale / math.sqrt(t)
    return scale * exp(-power * log(float(t)) - rate * t)
