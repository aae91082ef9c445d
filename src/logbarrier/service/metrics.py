"""What the service has done, as Prometheus text."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .committer import Committer

MOST_ARMS = 100  # more series would burden the system that collects them


class Metrics:
    """Counts since the service started."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer
        self.decisions = 0
        self.rewards: Counter[str] = Counter(told=0, duplicate=0)

    def text(self, now: dict[str, Any]) -> str:
        """now: as `GET /policy` answers."""
        of_batches = self._committer
        lines = [
            *_family("decisions_total", "counter", "Decisions answered.", {"": self.decisions}),
            *_family(
                "rewards_total",
                "counter",
                "Rewards answered.",
                {f'{{result="{result}"}}': count for result, count in self.rewards.items()},
            ),
            *_family("batches_total", "counter", "Batches of calls, each with at most one write.", {"": of_batches.batches}),
            *_family("batch_calls_total", "counter", "Calls in those batches.", {"": of_batches.calls}),
            *_family("batch_seconds_total", "counter", "Seconds spent on them.", {"": of_batches.seconds}),
            *_family("updates", "gauge", "Rewards the agent has learnt from.", {"": now["updates"]}),
            *_family("pending", "gauge", "Pending decisions.", {"": now["pending"]}),
        ]
        if len(now["arms"]) <= MOST_ARMS:
            shares = zip(now["arms"], now["policy"], strict=True)
            series = {_labels(arm): share for arm, share in shares}
            lines += _family("arm_probability", "gauge", "Probability of each arm.", series)
        return "\n".join(lines) + "\n"


def _family(name: str, kind: str, help_text: str, values: dict[str, float]) -> list[str]:
    full = f"logbarrier_{name}"
    return [f"# HELP {full} {help_text}", f"# TYPE {full} {kind}", *(f"{full}{labels} {v}" for labels, v in values.items())]


def _labels(arm: str | float) -> str:
    """A number gets a second label, since arms 1 and "1" are two series."""
    return f'{{arm="{_escaped(arm)}"}}' if isinstance(arm, str) else f'{{arm="{arm}",type="number"}}'


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
