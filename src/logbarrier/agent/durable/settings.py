"""The settings of an experiment: when decisions are closed, what a summary compares with, and its state."""

from __future__ import annotations

from typing import Any

from ...base import validate
from ..any_agent import AnyAgent
from ..inputs import checked_reward
from .ledger import ENDED, ON, PAUSED, Ledger

CHANGEABLE = ("ttl", "default_reward", "baseline", "difference", "state", "winner")


def change(ledger: Ledger, settings: dict[str, Any]) -> None:
    """Change the settings of an experiment, as a call: ttl, default_reward, baseline, difference, state and winner.

    An experiment that has ended stays so; a winner may be named when it ends.
    """
    who = "Experiment.change"
    state, winner = settings.get("state"), settings.get("winner")
    if ledger.state == ENDED:
        raise ValueError(f"{who}: the experiment has ended")
    if state is not None and state not in (ON, PAUSED, ENDED):
        raise ValueError(f"{who}: state must be {ON}, {PAUSED} or {ENDED}, got {state!r}")
    if winner is not None and (state != ENDED or winner not in ledger.agent.arms):
        raise ValueError(f"{who}: winner must be an arm of an experiment that is ended, got {winner!r}")
    checked = checked_settings(who, ledger.agent, settings)
    ledger.set(**checked, **{key: value for key, value in (("state", state), ("winner", winner)) if value is not None})


def checked_settings(owner: str, agent: AnyAgent, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings that were given, but state and winner."""
    checked: dict[str, Any] = {**closing_settings(owner, settings.get("ttl"), settings.get("default_reward"))}
    if settings.get("baseline") is not None:
        if settings["baseline"] not in agent.arms:
            raise ValueError(f"{owner}: baseline must be an arm, got {settings['baseline']!r}")
        checked["baseline"] = settings["baseline"]
    if settings.get("difference") is not None:
        checked["difference"] = float(validate.positive(owner, "difference", settings["difference"]))
    return checked


def closing_settings(owner: str, ttl: float | None, default_reward: float | None) -> dict[str, float]:
    """The settings that close decisions, of those that were given."""
    settings = {}
    if ttl is not None:
        settings["ttl"] = float(validate.positive(owner, "ttl", ttl))
    if default_reward is not None:
        settings["default_reward"] = float(checked_reward(owner, default_reward)) + 0.0  # no negative zero
    return settings
