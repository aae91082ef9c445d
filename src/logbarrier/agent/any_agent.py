"""The agents that a file can hold: without and with contexts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..bandits.algorithms.rule import Rule
from ..base.failure import WrongTypeError
from .agent import Agent
from .contextual.contextual_agent import ContextualAgent
from .inputs import checked_names
from .pending import Decision

AnyAgent = Agent | ContextualAgent


def restored_agent(state: Any, rule: Rule | None) -> AnyAgent:
    """The agent that a `state_dict` described; rule: for a user-defined one."""
    if isinstance(state, dict) and "contextual" in state:
        return ContextualAgent.from_state_dict(state)
    return Agent.from_state_dict(state, rule=rule)


def ask(agent: AnyAgent, available: Any, context: Any, actions: Any) -> Decision:
    """Draw an arm, or one of the actions offered; a context is for agents that have features."""
    if isinstance(agent, ContextualAgent):
        return agent.ask(context, actions=actions, available=available)
    if actions is not None:
        raise ValueError("Experiment.ask: actions must be left out, since this experiment has arms")
    if context is not None:
        raise ValueError("Experiment.ask: context must be left out, since this experiment has no features")
    return agent.ask(available)


def observe(agent: AnyAgent, arm: Any, reward: float, probability: float | None, context: Any) -> None:
    """Learn from a decision that the agent did not make."""
    if isinstance(agent, ContextualAgent):
        agent.observe(context, arm, reward)
        return
    if context is not None:
        raise ValueError("Experiment.observe: context must be left out, since this experiment has no features")
    agent.observe(arm, reward, probability=probability)


def add_arm(agent: AnyAgent, arm: Any, probability: float | None) -> None:
    """Add an arm; with contexts, its probability follows from the context."""
    if isinstance(agent, Agent):
        agent.add_arm(arm, probability=probability)
    elif probability is not None:
        raise ValueError("Experiment.add_arm: probability must be left out, since this experiment has features")
    else:
        agent.add_arm(arm)


def plain_actions(actions: Any) -> list[list[Any]] | None:
    """Offered actions as JSON can hold them: [name, features], the name is the row where there are none."""
    if actions is None:
        return None
    if not hasattr(actions, "__len__") or isinstance(actions, str):
        raise WrongTypeError(f"Experiment.ask: actions must be rows of numbers, or name -> row, got {actions!r}")
    named = actions.items() if isinstance(actions, Mapping) else enumerate(actions)
    names, rows = zip(*named, strict=True) if len(actions) else ((), ())
    return [[name, plain_context(row)] for name, row in zip(checked_names(names), rows, strict=True)]


def plain_context(context: Any) -> Any:
    """A context as JSON can hold it; a missing number is None."""
    if isinstance(context, Mapping):
        return {name: _plain(value) for name, value in context.items()}
    if context is None or isinstance(context, str) or not hasattr(context, "__iter__"):
        return context
    return [_plain(value) for value in context]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return None if math.isnan(value) else value
    return value
