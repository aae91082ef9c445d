"""The calls about the experiments of a file: list, create, change, end."""

from __future__ import annotations

from typing import Any

from ..agent.durable.decision_file import DecisionFile
from ..agent.durable.experiments import create
from ..agent.durable.ledger import Ledger
from ..agent.durable.settings import change
from ..bandits.algorithms import RULES, rule_from_dict
from ..bandits.algorithms.rule import Rule
from .committer import Committer
from .fields import ARM, ARMS, FEATURES, FLOOR, ID, N_ACTIONS, NAME, NEW_ARMS, POSITIVE, REWARD, RULE, STATE
from .operations import OF_EXPERIMENT, Asked, Body, operation

SETTINGS = {"ttl": POSITIVE, "default_reward": REWARD, "baseline": ARM, "difference": POSITIVE}
NUMBER_OR_NULL = {"type": ["number", "null"]}
DESCRIBED: dict[str, Any] = {
    "name": NAME.schema,
    "state": STATE.schema,
    "winner": {"type": ["string", "number", "null"]},
    "arms": ARMS.schema,
    "rule": {"type": "object"},
    "features": {"type": ["integer", "object", "null"]},
    "actions": {"type": ["integer", "null"]},
    "floor": FLOOR.schema,
    "ttl": NUMBER_OR_NULL,
    "default_reward": NUMBER_OR_NULL,
    "baseline": {"type": ["string", "number", "null"]},
    "difference": NUMBER_OR_NULL,
    "decisions": ID.schema,
    "rewards": ID.schema,
    "pending": ID.schema,
}


class Management:
    """The handlers."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer

    @operation("GET", "/health", "Whether the service answers; needs no token.", {"status": {"const": "ok"}}, is_open=True)
    async def health(self, asked: Asked) -> Body:
        """Whether the service answers; nothing else, and to anyone."""
        await self._committer.do(lambda file: None)
        return {"status": "ok"}

    @operation(
        "GET",
        "/experiments",
        "The experiments, oldest first, and those that cannot be read, with the reason.",
        {
            "experiments": {"type": "array", "items": {"type": "object", "properties": DESCRIBED, "required": list(DESCRIBED)}},
            "unreadable": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    )
    async def experiments(self, asked: Asked) -> Body:
        """List the experiments."""
        listed: Body = await self._committer.do(described_all)
        return listed

    @operation(
        "POST",
        "/experiments",
        "Create an experiment. The rule is the recommended one and the seed is derived from the name, unless given.",
        DESCRIBED,
        needed={"name": NAME},
        optional={
            "arms": NEW_ARMS,
            "actions": N_ACTIONS,
            "rule": RULE,
            "features": FEATURES,
            "seed": ID,
            "floor": FLOOR,
            **SETTINGS,
        },
    )
    async def create(self, asked: Asked) -> Body:
        """Create an experiment."""
        body = dict(asked.body)
        name = body.pop("name")
        settings = {setting: body.pop(setting, None) for setting in SETTINGS}
        seed = body.get("seed")
        given = {
            "arms": body.get("arms"),
            "actions": body.get("actions"),
            "rule": None if "rule" not in body else rule_of(body["rule"]),
            "seed": None if seed is None else int(seed),
            "floor": body.get("floor", 0.0),
            "features": body.get("features"),
        }
        made: Body = await self._committer.do(lambda file: described(name, create(file, name, given, settings)))
        return made

    @operation("GET", OF_EXPERIMENT, "An experiment.", DESCRIBED, missing="There is no such experiment.")
    async def experiment(self, asked: Asked) -> Body:
        """Describe an experiment."""
        one: Body = await self._committer.do(lambda file: described(asked.name, file.ledger(asked.name)))
        return one

    @operation(
        "PATCH",
        OF_EXPERIMENT,
        "Change an experiment: pause it, resume it, end it with a winner, or set what closes its decisions.",
        DESCRIBED,
        optional={"state": STATE, "winner": ARM, **SETTINGS},
        missing="There is no such experiment.",
    )
    async def change(self, asked: Asked) -> Body:
        """Change an experiment."""

        def call(file: DecisionFile) -> Body:
            ledger = file.ledger(asked.name)
            change(ledger, asked.body)
            return described(asked.name, ledger)

        changed: Body = await self._committer.do(call)
        return changed


def described_all(file: DecisionFile) -> Body:
    """Every experiment."""
    return {
        "experiments": [described(name, file.ledger(name)) for name in file.ledgers],
        "unreadable": file.unreadable,
    }


def described(name: str, ledger: Ledger) -> Body:
    """An experiment as plain values."""
    agent, settings = ledger.agent, ledger.settings
    return {
        "name": name,
        "state": ledger.state,
        "winner": settings.get("winner"),
        "arms": agent.arms,
        "rule": agent.rule.to_dict(),
        "features": getattr(agent, "features", None),
        "actions": getattr(agent, "actions", None),
        "floor": agent.floor,
        **{key: settings.get(key) for key in SETTINGS},
        "decisions": agent.asked,
        "rewards": agent.updates,
        "pending": len(agent.pending),
    }


def rule_of(plain: str | dict[str, Any]) -> Rule:
    """The rule of a name, or of a name with parameters."""
    given = {"rule": plain} if isinstance(plain, str) else plain
    name = given.get("rule")
    if not isinstance(name, str) or name not in RULES:
        raise ValueError(f"service: rule must be one of {', '.join(RULES)}, got {name!r}")
    return rule_from_dict(given)
