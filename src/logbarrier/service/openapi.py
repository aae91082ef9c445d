"""The interface described for machines: OpenAPI 3.1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..version import __version__
from .fields import ARM, ARMS, ID, PROPENSITY, REWARD, SHARE, SUBSET, Field

LARGEST_ID = 2**53 - 1  # the largest integer that JSON numbers carry everywhere
NUMBER: dict[str, Any] = {"type": "number"}
ARM_LIST: dict[str, Any] = {"arms": ARMS.schema}


class Operation(NamedTuple):
    """A call. answer: the fields of the answer; needed, optional: the fields of the body; is_open: needs no token."""

    summary: str
    answer: Mapping[str, Any]
    needed: Mapping[str, Field] = {}
    optional: Mapping[str, Field] = {}
    is_open: bool = False


OPERATIONS: dict[tuple[str, str], Operation] = {
    ("POST", "/decide"): Operation(
        "Draw an arm, from all or from those available; answered when it is on disk.",
        {"id": ID.schema, "arm": ARM.schema, "probability": PROPENSITY.schema},
        optional={"available": SUBSET},
    ),
    ("POST", "/reward"): Operation(
        "Give the reward of a decision. The same again is a duplicate; another one is refused with 409.",
        {"result": {"enum": ["told", "duplicate"]}},
        needed={"id": ID, "reward": REWARD},
    ),
    ("POST", "/forget"): Operation(
        "Drop a decision that will have no reward. The same again is a duplicate; one with a reward is refused with 409.",
        {"result": {"enum": ["forgotten", "duplicate"]}},
        needed={"id": ID},
    ),
    ("POST", "/observe"): Operation(
        "Learn from a pull that another policy drew with this probability.",
        {"result": {"const": "observed"}},
        needed={"arm": ARM, "reward": REWARD},
        optional={"probability": PROPENSITY},
    ),
    ("GET", "/arms"): Operation("The arms.", ARM_LIST),
    ("POST", "/arms"): Operation(
        "Add an arm, at 1/(K + 1) unless a probability is given.",
        ARM_LIST,
        needed={"arm": ARM},
        optional={"probability": SHARE},
    ),
    ("POST", "/arms/remove"): Operation(
        "Remove an arm; its pending decisions can still have a reward.", ARM_LIST, needed={"arm": ARM}
    ),
    ("GET", "/policy"): Operation(
        "The probability of each arm now.",
        {
            **ARM_LIST,
            "policy": {"type": "array", "items": NUMBER},
            "updates": ID.schema,
            "pending": ID.schema,
            "rule": {"type": "object"},
        },
    ),
    ("GET", "/health"): Operation("Whether the agent answers; needs no token.", {"status": {"const": "ok"}}, is_open=True),
}
TEXTS = {
    "/log": (
        "The decisions with their propensities, one JSON object per line.",
        "application/x-ndjson",
    ),
    "/metrics": ("Counts since the start, as Prometheus text.", "text/plain"),
}


ERRORS = {
    400: "The request is wrong.",
    401: "The header 'Authorization: Bearer TOKEN' is missing or wrong.",
    404: "The decision was never asked.",
    408: "The request took too long to arrive.",
    409: "The decision was given another outcome, or is closed.",
    413: "The body is too large.",
    431: "The head of the request is too large.",
    503: "The disk cannot take it; nothing was done.",
}


def description() -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, Any] = {}
    for (method, path), operation in OPERATIONS.items():
        paths.setdefault(path, {})[method.lower()] = _described(operation)
    for path, (summary, kind) in TEXTS.items():
        fine = {"content": {kind: {"schema": {"type": "string"}}}}
        paths[path] = {"get": {"summary": summary, "responses": _answers(fine, {400, 401, 408, 431, 503})}}
    after = {"type": "integer", "minimum": -1, "maximum": LARGEST_ID}
    paths["/log"]["get"]["parameters"] = [{"name": "after", "in": "query", "schema": after}]
    return {
        "openapi": "3.1.0",
        "info": {"title": "logbarrier agent", "version": __version__},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
    }


def _described(operation: Operation) -> dict[str, Any]:
    statuses = set(ERRORS) - ({401} if operation.is_open else set()) - (set() if "id" in operation.needed else {404, 409})
    answer = _json({"type": "object", "properties": operation.answer, "required": list(operation.answer)})
    plain: dict[str, Any] = {"summary": operation.summary, "responses": _answers(answer, statuses)}
    properties = {name: field.schema for name, field in {**operation.needed, **operation.optional}.items()}
    if properties:
        schema = {"type": "object", "properties": properties, "required": list(operation.needed), "additionalProperties": False}
        plain["requestBody"] = {"required": bool(operation.needed), **_json(schema)}
    if operation.is_open:
        plain["security"] = []
    return plain


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _answers(fine: dict[str, Any], statuses: set[int]) -> dict[str, Any]:
    sentence = _json({"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]})
    errors = {str(status): {"description": ERRORS[status], **sentence} for status in sorted(statuses)}
    return {"200": {"description": "Done, and on disk.", **fine}, **errors}
