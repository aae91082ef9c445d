"""The interface described for machines: OpenAPI 3.1."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..version import __version__
from .operations import LARGEST_ID, OF_EXPERIMENT, Operation

TEXTS = {
    "/log": (
        "The decisions with their propensities, one JSON object per line.",
        "application/x-ndjson",
    ),
    "/metrics": ("Counts since the start, and the rewards of each arm, as Prometheus text.", "text/plain"),
}
ERRORS = {
    400: "The request is wrong.",
    401: "The header 'Authorization: Bearer TOKEN' is missing or wrong.",
    404: "",  # by operation
    408: "The request took too long to arrive.",
    409: "The decision was given another outcome, or is closed; or the experiment is paused or has ended.",
    413: "The body is too large.",
    431: "The head of the request is too large.",
    503: "The disk cannot take it; nothing was done.",
}
OF_TEXTS = {400, 401, 408, 431, 503}


def document(operations: Iterable[Operation]) -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation)
    for path, (summary, kind) in TEXTS.items():
        fine = {"content": {kind: {"schema": {"type": "string"}}}}
        paths[path] = {"get": {"summary": summary, "responses": _answers(fine, OF_TEXTS, None)}}
    after = {"name": "after", "in": "query", "schema": {"type": "integer", "minimum": -1, "maximum": LARGEST_ID}}
    paths["/log"]["get"]["parameters"] = [after]
    of_one = {**paths["/log"]["get"], "parameters": [after, _name("name")]}
    of_one["responses"] = _answers(of_one["responses"]["200"], OF_TEXTS | {404}, "There is no such experiment.")
    paths[f"{OF_EXPERIMENT}/log"] = {"get": of_one}
    return {
        "openapi": "3.1.0",
        "info": {"title": "logbarrier agent", "version": __version__},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
    }


def _described(operation: Operation) -> dict[str, Any]:
    statuses = set(ERRORS) - {404, 409}
    statuses -= {401} if operation.is_open else set()
    statuses |= {404} if operation.missing else set()
    statuses |= {409} if operation.missing and operation.method != "GET" else set()
    answer = _json({"type": "object", "properties": operation.answer, "required": list(operation.answer)})
    plain: dict[str, Any] = {"summary": operation.summary}
    plain["responses"] = _answers(answer, statuses, operation.missing, operation.is_free)
    properties = {name: field.schema for name, field in {**operation.needed, **operation.optional}.items()}
    if properties:
        schema: dict[str, Any] = {"type": "object", "properties": properties, "required": list(operation.needed)}
        schema |= {"additionalProperties": operation.is_free}
        if operation.one_of:
            schema["oneOf"] = [{"required": [name]} for name in operation.one_of]
        plain["requestBody"] = {"required": bool(operation.needed), **_json(schema)}
    named = [part for part in ("name", "key") if f"{{{part}}}" in operation.path]
    if named:
        plain["parameters"] = [_name(part) for part in named]
    if operation.is_open:
        plain["security"] = []
    return plain


def _name(part: str) -> dict[str, Any]:
    return {"name": part, "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]+$"}}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _answers(fine: dict[str, Any], statuses: set[int], missing: str | None, is_free: bool = False) -> dict[str, Any]:
    sentence = _json({"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]})
    if is_free:
        sentence = _json(
            {"type": "object", "properties": {"errorCode": {"type": "string"}, "errorDetails": {"type": "string"}}}
        )
    described = {**ERRORS, 404: missing or ""}
    errors = {str(status): {"description": described[status], **sentence} for status in sorted(statuses)}
    return {"200": {"description": "Done, and on disk.", **fine}, **errors}
