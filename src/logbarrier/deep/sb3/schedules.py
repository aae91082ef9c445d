"""How the coefficient c changes while training: functions of the moment, for `BarrierCallback`.

>>> anneal = Linear(0.3, hold=0.5)
>>> [anneal(Moment(progress=p, steps=0, coefficient=0.3)) for p in (0.0, 0.5, 0.75, 1.0)]
[0.3, 0.3, 0.15, 0.0]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...base import validate


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a schedule may look at, before each rollout."""

    progress: float
    """Share of this training that is done, 0 to 1."""
    steps: int
    """Steps in the environment so far."""
    coefficient: float
    """c as it is."""
    min_log_probability: float | None = None
    """Mean over states of the log of the smallest probability, in the last round of training; None before the first."""


Schedule = Callable[[Moment], float]


@dataclass(frozen=True, slots=True)
class Linear:
    """c stays at `start` for a share `hold` of the training, then goes to `end` in a straight line."""

    start: float
    end: float = 0.0
    hold: float = 0.0

    def __post_init__(self) -> None:
        validate.at_least_zero("Linear", "start", self.start)
        validate.at_least_zero("Linear", "end", self.end)
        if not 0.0 <= validate.number("Linear", "hold", self.hold) < 1.0:
            raise ValueError(f"Linear: hold must be at least 0 and below 1, got {self.hold}")

    def __call__(self, moment: Moment) -> float:
        gone = min(1.0, max(0.0, (moment.progress - self.hold) / (1.0 - self.hold)))
        return self.start + gone * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Steps:
    """c by steps: `Steps({0: 0.3, 50_000: 0.1})` is 0.3 until 50 000 steps in the environment, then 0.1."""

    values: Mapping[int, float]

    def __post_init__(self) -> None:
        if 0 not in self.values or min(self.values) < 0:
            raise ValueError(f"Steps: values must start at step 0, got steps {sorted(self.values)}")
        for value in self.values.values():
            validate.at_least_zero("Steps", "value", value)

    def __call__(self, moment: Moment) -> float:
        return self.values[max(step for step in self.values if step <= moment.steps)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """c seeks a smallest probability: it grows while the policy is below `floor` and shrinks while it is above.

    At rest the smallest probability is about proportional to c, so the error is corrected in logarithms:

        log c += gain (log floor - mean over states of log min pi)

    by at most a factor of 2 a round, within [low, high].
    """

    floor: float
    gain: float = 0.1
    low: float = 1e-3
    high: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < validate.number("Floor", "floor", self.floor) < 0.5:
            raise ValueError(f"Floor: floor must be above 0 and below 0.5, got {self.floor}")
        validate.positive("Floor", "gain", self.gain)
        if not validate.positive("Floor", "low", self.low) < validate.positive("Floor", "high", self.high):
            raise ValueError(f"Floor: low must be below high, got {self.low} and {self.high}")

    def __call__(self, moment: Moment) -> float:
        now = min(self.high, max(self.low, moment.coefficient))
        if moment.min_log_probability is None:
            return now
        change = self.gain * (math.log(self.floor) - moment.min_log_probability)
        return min(self.high, max(self.low, now * math.exp(min(math.log(2), max(-math.log(2), change)))))
