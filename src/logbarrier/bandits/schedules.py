"""Learning-rate schedules as values: alpha_t = scale * t^-power * exp(-rate t), with t counted from 1.

>>> import logbarrier as lb
>>> rule = lb.SGB(learning_rate=lb.inverse_sqrt(0.5))
>>> lb.inverse_sqrt(0.5)
Schedule(scale=0.5, power=0.5, rate=0.0)
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from ..base import validate
from ..base.failure import WrongTypeError
from ..base.parameters import AtLeastZero, Parameter, Parameterised, Positive, parameters_of
from ..engine.compiled import compiled
from ..engine.elementary import exp, log


@dataclass(frozen=True, kw_only=True)
class Schedule(Parameterised):
    """alpha_t = scale * t^-power * exp(-rate t), t = 1, 2, ..."""

    scale: Positive
    power: AtLeastZero = 0.0
    rate: AtLeastZero = 0.0


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


def as_numbers(learning_rate: float | Schedule) -> tuple[float, float, float]:
    """(scale, power, rate) of a number or a schedule, as compiled functions take it."""
    if isinstance(learning_rate, Schedule):
        return float(learning_rate.scale), float(learning_rate.power), float(learning_rate.rate)
    return float(learning_rate), 0.0, 0.0


schedule_numbers = as_numbers  # its name in logbarrier.extend


def to_plain(learning_rate: float | Schedule) -> Any:
    """A schedule as a dict for JSON; a number stays a number."""
    return asdict(learning_rate) if isinstance(learning_rate, Schedule) else float(learning_rate)


def _check(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, Schedule):
        validate.positive(owner, name, value)


def _read(owner: str, name: str, plain: Any) -> Any:
    """A number, or the schedule in a table such as {scale = 0.1, power = 0.5}."""
    if not isinstance(plain, dict):
        if isinstance(plain, bool) or not isinstance(plain, int | float):
            raise WrongTypeError(
                f"{owner}: {name} must be a number or a schedule such as {{scale=0.1, power=0.5}}, got {plain!r}"
            )
        return plain
    parts = parameters_of(Schedule)
    for part, value in plain.items():
        if part not in parts:
            raise ValueError(f"{owner}: {name} has no part {part}; a schedule takes {', '.join(parts)}")
        parts[part].read(owner, f"{name}.{part}", value)
    if "scale" not in plain:
        raise ValueError(f"{owner}: {name} needs scale; a schedule takes {', '.join(parts)}")
    return Schedule(**plain)


LearningRate = Annotated[float | Schedule, Parameter(check=_check, read=_read, write=to_plain)]


@compiled
def learning_rate_at(t, schedule):
    """alpha_t of (scale, power, rate)."""
    scale, power, rate = schedule
    if power == 0.0 and rate == 0.0:
        return scale
    if power == 0.5 and rate == 0.0:
        return scale / math.sqrt(t)
    return scale * exp(-power * log(float(t)) - rate * t)
