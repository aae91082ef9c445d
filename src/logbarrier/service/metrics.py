"""What the service has done and what its experiments hold, as Prometheus text."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..agent.durable.decision_file import DecisionFile
from .committer import Committer

MOST_ARMS = 100  # of an experiment; more series would burden the system that collects them
PER_ARM = {
    "arm_probability": ("gauge", "Probability of each arm."),
    "arm_decisions_total": ("counter", "Decisions for each arm."),
    "arm_rewards_total": ("counter", "Rewards of each arm."),
    "arm_reward_sum": ("gauge", "Sum of the rewards of each arm."),
}


class Metrics:
    """Counts since the service started."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer
        self.decisions = 0
        self.rewards: Counter[str] = Counter(told=0, duplicate=0)

    def text(self, now: dict[str, dict[str, float]]) -> str:
        """now: as `measured` returns."""
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
            *_family("updates", "gauge", "Rewards that each experiment has learnt from.", now["updates"]),
            *_family("pending", "gauge", "Pending decisions of each experiment.", now["pending"]),
        ]
        for name, (kind, help_text) in PER_ARM.items():
            lines += _family(name, kind, help_text, now[name])
        return "\n".join(lines) + "\n"


def measured(file: DecisionFile) -> dict[str, dict[str, float]]:
    """The numbers of every experiment: name of the metric -> labels -> value."""
    found: dict[str, dict[str, float]] = {name: {} for name in ("updates", "pending", *PER_ARM)}
    for name in file.ledgers:
        agent, experiment = file.ledger(name).agent, f'experiment="{name}"'
        found["updates"][f"{{{experiment}}}"] = agent.updates
        found["pending"][f"{{{experiment}}}"] = len(agent.pending)
        if agent.n_arms > MOST_ARMS:
            continue
        seen, policy = agent._statistics, agent.policy.tolist()
        for i, arm in enumerate(agent.arms):
            labels = f"{{{experiment},{_label(arm)}}}"
            found["arm_probability"][labels] = policy[i]
            found["arm_decisions_total"][labels] = seen.decisions[i]
            found["arm_rewards_total"][labels] = seen.rewards[i]
            found["arm_reward_sum"][labels] = seen.rewards[i] * seen.means[i]
    return found


def _family(name: str, kind: str, help_text: str, values: dict[str, Any]) -> list[str]:
    full = f"logbarrier_{name}"
    return [f"# HELP {full} {help_text}", f"# TYPE {full} {kind}", *(f"{full}{labels} {v}" for labels, v in values.items())]


def _label(arm: str | float) -> str:
    """A number gets a second label, since arms 1 and "1" are two series."""
    return f'arm="{_escaped(arm)}"' if isinstance(arm, str) else f'arm="{arm}",type="number"'


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
