"""Replaying the journal: what an event did to an agent, once more."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from ..any_agent import AnyAgent, add_arm, ask, observe
from ..arm_statistics import ArmStatistics
from .ask_detail import read_detail
from .database import Event


def replay(agent: AnyAgent, event: Event) -> None:
    """Apply an event to an agent; raise ValueError where a decision comes out differently."""
    arm = None if event.arm is None else json.loads(event.arm)
    match event.kind:
        case "ask":
            detail = read_detail(event.detail)
            actions = None if detail.actions is None else dict(detail.actions)
            decision = ask(agent, detail.available, detail.context, actions)
            same = math.isclose(decision.probability, event.probability or 0.0, rel_tol=1e-9)
            if (decision.id, decision.arm) != (event.decision, arm) or not same:
                raise ValueError(f"DurableAgent: event {event.number} of the journal does not replay; is the rule the same?")
        case "tell":
            agent.tell(_of(event.decision), _of(event.reward))
        case "forget":
            agent.forget(_of(event.decision))
        case "expire" if event.reward is None:
            agent.forget(_of(event.decision))
        case "expire":
            agent.tell(_of(event.decision), _of(event.reward))
        case "observe":
            observe(agent, arm, _of(event.reward), event.probability, read_detail(event.detail).context)
        case "add_arm":
            add_arm(agent, arm, event.probability)
        case "remove_arm":
            agent.remove_arm(arm)
        case _:
            raise ValueError(f"DurableAgent: event {event.number} of the journal has an unknown kind {event.kind!r}")


def recount(agent: AnyAgent, events: Iterable[Event]) -> None:
    """Count the decisions and rewards of each present arm in events that led to this agent."""
    arm_of: dict[int | None, str | None] = {}
    present = {json.dumps(arm): i for i, arm in enumerate(agent.arms)}
    counted = ArmStatistics(agent.n_arms)
    for event in events:
        if event.kind == "ask":
            arm_of[event.decision] = event.arm
            if event.arm in present:
                counted.decisions[present[event.arm]] += 1
        elif event.kind == "remove_arm":  # one of that name that was added again is a new arm
            arm_of = {decision: arm for decision, arm in arm_of.items() if arm != event.arm}
            if event.arm in present:
                counted.clear(present[event.arm])
        elif event.reward is not None:
            arm = event.arm if event.kind == "observe" else arm_of.pop(event.decision, None)
            counted.add_reward(present.get(str(arm), -1), event.reward)
    agent._statistics = counted


def _of(value: Any) -> Any:
    if value is None:
        raise ValueError("DurableAgent: the journal is damaged")
    return value
