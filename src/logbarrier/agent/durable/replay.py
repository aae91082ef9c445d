"""Replaying the journal: what an event did to an agent, once more."""

from __future__ import annotations

import json
import math
from typing import Any

from ..agent import Agent
from .database import Event


def replay(agent: Agent, event: Event) -> None:
    """Apply an event to an agent; raise ValueError where a decision comes out differently."""
    arm = None if event.arm is None else json.loads(event.arm)
    match event.kind:
        case "ask":
            decision = agent.ask(None if event.detail is None else json.loads(event.detail))
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
            agent.observe(arm, _of(event.reward), probability=event.probability)
        case "add_arm":
            agent.add_arm(arm, probability=event.probability)
        case "remove_arm":
            agent.remove_arm(arm)
        case _:
            raise ValueError(f"DurableAgent: event {event.number} of the journal has an unknown kind {event.kind!r}")


def _of(value: Any) -> Any:
    if value is None:
        raise ValueError("DurableAgent: the journal is damaged")
    return value
