"""The interface described for machines: OpenAPI 3.1."""

from __future__ import annotations

from typing import Any

from ..version import __version__

NAME: dict[str, Any] = {"description": "The name of an arm.", "type": ["string", "number"]}
PROBABILITY: dict[str, Any] = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
NUMBER: dict[str, Any] = {"type": "number"}
WHOLE: dict[str, Any] = {"type": "integer", "minimum": 0}
NAMES: dict[str, Any] = {"type": "array", "items": NAME}
ARMS: dict[str, Any] = {"arms": NAMES}

# (method, path): summary, fields of the body, those it needs, fields of the answer
OPERATIONS: dict[tuple[str, str], tuple[str, dict[str, Any], list[str], dict[str, Any]]] = {
    ("post", "/decide"): (
        "Draw an arm, from all or from those available; answered when it is on disk.",
        {"available": NAMES},
        [],
        {"id": WHOLE, "arm": NAME, "probability": PROBABILITY},
    ),
    ("post", "/reward"): (
        "Tell the reward of a decision. The same again is a duplicate; another one is refused with 409.",
        {"id": WHOLE, "reward": NUMBER},
        ["id", "reward"],
        {"result": {"enum": ["told", "duplicate"]}},
    ),
    ("post", "/forget"): ("Let go of a decision.", {"id": WHOLE}, ["id"], {"result": {"const": "forgotten"}}),
    ("post", "/observe"): (
        "Learn from a pull that another policy drew with this probability.",
        {"arm": NAME, "reward": NUMBER, "probability": PROBABILITY},
        ["arm", "reward"],
        {"result": {"const": "observed"}},
    ),
    ("get", "/arms"): ("The arms.", {}, [], ARMS),
    ("post", "/arms"): ("Add an arm, at 1/(K + 1) unless told.", {"arm": NAME, "probability": PROBABILITY}, ["arm"], ARMS),
    ("post", "/arms/remove"): ("Remove an arm; its pending decisions can still be told.", {"arm": NAME}, ["arm"], ARMS),
    ("get", "/policy"): (
        "The probability of each arm now.",
        {},
        [],
        {**ARMS, "policy": {"type": "array", "items": NUMBER}, "updates": WHOLE, "pending": WHOLE, "rule": {"type": "object"}},
    ),
    ("get", "/health"): ("Whether the agent answers; needs no token.", {}, [], {"status": {"const": "ok"}}),
}
TEXTS = {
    "/log": (
        "The decisions with their propensities, one JSON object per line.",
        "application/x-ndjson",
    ),
    "/metrics": ("Counts since the start, as Prometheus text.", "text/plain"),
}


def description() -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, Any] = {}
    for (method, path), (summary, body, needed, answer) in OPERATIONS.items():
        operation: dict[str, Any] = {"summary": summary, "responses": _answers(_json(answer))}
        if body:
            operation["requestBody"] = {"required": bool(needed), **_json(body, needed)}
        if path == "/health":
            operation["security"] = []
        paths.setdefault(path, {})[method] = operation
    for path, (summary, kind) in TEXTS.items():
        operation = {"summary": summary, "responses": _answers({"content": {kind: {"schema": {"type": "string"}}}})}
        if path == "/log":
            operation["parameters"] = [{"name": "after", "in": "query", "schema": {"type": "integer"}}]
        paths[path] = {"get": operation}
    return {
        "openapi": "3.1.0",
        "info": {"title": "logbarrier agent", "version": __version__},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
    }


def _json(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": list(properties)}
    if required is not None:
        schema |= {"required": required, "additionalProperties": False}
    return {"content": {"application/json": {"schema": schema}}}


def _answers(fine: dict[str, Any]) -> dict[str, Any]:
    error = {"description": "One sentence that says what is wrong.", **_json({"error": {"type": "string"}})}
    return {"200": {"description": "Done, and on disk.", **fine}, "default": error}
