"""The OpenFeature Remote Evaluation Protocol, version 0.3: a flag is an experiment, the targeting key is the subject.

https://github.com/open-feature/protocol
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..agent.durable.decision_file import DecisionFile
from ..agent.durable.ledger import StoppedError
from ..base.failure import INVALID
from .committer import Committer
from .fields import OBJECT
from .operations import Answer, Asked, Body, operation

BULK = "/ofrep/v1/evaluate/flags"
SINGLE = f"{BULK}/{{key}}"
CODES = {400: "PARSE_ERROR", 404: "FLAG_NOT_FOUND"}  # of an error that has no other code
BOOLEANS = {"true": True, "false": False}
NO_VARIANT = "off"
EVALUATION: dict[str, Any] = {
    "key": {"type": "string"},
    "reason": {"enum": ["SPLIT", "DISABLED"]},
    "variant": {"type": "string"},
}


class InvalidContextError(ValueError):
    """An error code and a sentence."""


class Ofrep:
    """The handlers."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer

    @operation(
        "POST",
        SINGLE,
        "Evaluate a flag (OFREP): the arm that an experiment draws for context.targetingKey.",
        EVALUATION,
        needed={"context": OBJECT},
        is_free=True,
        missing="There is no such experiment.",
    )
    async def evaluate(self, asked: Asked) -> Body | Answer:
        """Evaluate one flag."""
        key = asked.name
        try:
            context = asked.body["context"]
            subject_of(context)
            evaluation: Body = await self._committer.do(lambda file: evaluated(file, key, context))
        except InvalidContextError as error:
            return Answer({"key": key, "errorCode": error.args[0], "errorDetails": error.args[1]}, 400)
        return evaluation

    @operation(
        "POST",
        BULK,
        "Evaluate all flags (OFREP); the header If-None-Match may hold the ETag of an earlier answer.",
        {"flags": {"type": "array", "items": {"type": "object"}}},
        needed={"context": OBJECT},
        is_free=True,
    )
    async def evaluate_all(self, asked: Asked) -> Answer:
        """Evaluate every flag."""
        try:
            context = asked.body["context"]
            subject_of(context)
            flags = await self._committer.do(lambda file: [evaluated_or_not(file, name, context) for name in file.ledgers])
        except InvalidContextError as error:
            return Answer({"errorCode": error.args[0], "errorDetails": error.args[1]}, 400)
        tag = f'"{hashlib.sha256(json.dumps(flags).encode()).hexdigest()[:32]}"'.encode()
        known = b",".join(value for name, value in asked.headers if name == b"if-none-match")
        unchanged = tag in [each.strip().removeprefix(b"W/") for each in known.split(b",")]
        return Answer(None if unchanged else {"flags": flags}, 304 if unchanged else 200, [(b"etag", tag)])


def subject_of(context: dict[str, Any]) -> str:
    """The targeting key of a context."""
    key = context.get("targetingKey")
    if key is None or key == "":
        raise InvalidContextError("TARGETING_KEY_MISSING", "service: the context lacks the targetingKey")
    if not isinstance(key, str):
        raise InvalidContextError("INVALID_CONTEXT", f"service: targetingKey must be a string, got {json.dumps(key)[:100]}")
    return key


def evaluated(file: DecisionFile, name: str, context: dict[str, Any]) -> Body:
    """The evaluation of a flag; without a value, the caller's default applies.

    Attributes of the context that the experiment has features of are its context; others are ignored.
    """
    ledger = file.ledger(name)
    try:
        features = getattr(ledger.agent, "features", None)
        known = {key: context[key] for key in context if key in features} if isinstance(features, dict) else None
        decision = ledger.ask(subject=subject_of(context), context=known)
    except StoppedError:
        winner = ledger.settings.get("winner")
        return {"key": name, "reason": "DISABLED", "variant": NO_VARIANT if winner is None else str(winner)}
    except INVALID as error:
        raise InvalidContextError("INVALID_CONTEXT", str(error)) from None
    value = BOOLEANS[decision.arm] if set(ledger.agent.arms) == set(BOOLEANS) else decision.arm
    metadata = {"experiment": name, "decision": decision.id, "propensity": decision.probability}
    return {"key": name, "value": value, "reason": "SPLIT", "variant": str(decision.arm), "metadata": metadata}


def evaluated_or_not(file: DecisionFile, name: str, context: dict[str, Any]) -> Body:
    """The evaluation of a flag among others; an error concerns that flag alone."""
    try:
        return evaluated(file, name, context)
    except InvalidContextError as error:
        return {"key": name, "errorCode": error.args[0], "errorDetails": error.args[1]}


def failure(name: str, status: int, sentence: str) -> Body:
    """An error in the form of the protocol."""
    return {"key": name, "errorCode": CODES.get(status, "GENERAL"), "errorDetails": sentence}
