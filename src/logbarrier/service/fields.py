"""The fields of a call's body: their JSON types, checked here and described in openapi.json. The agent checks ranges."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..agent.durable.ledger import ENDED, ON, PAUSED
from ..agent.durable.subjects import LONGEST
from ..bandits.loops.policy import LARGEST_REWARD


class Field(NamedTuple):
    """schema: as JSON Schema; takes: the same in words; fits: whether a value has the right type."""

    schema: dict[str, Any]
    takes: str
    fits: Callable[[Any], bool]


class RefusedError(Exception):
    """A status, a sentence, and headers to go with them."""


def _is_number(value: Any) -> bool:
    return type(value) is int or type(value) is float  # not bool, which is an int


def _is_name(value: Any) -> bool:
    return type(value) is str or _is_number(value)


def _is_list_of_names(value: Any) -> bool:
    return type(value) is list and all(map(_is_name, value))


def _is_whole(value: Any) -> bool:
    return (type(value) is int or (type(value) is float and value.is_integer())) and value >= 0


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_text_or_object(value: Any) -> bool:
    return type(value) is str or type(value) is dict


ARM = Field({"description": "The name of an arm.", "type": ["string", "number"]}, "a string or a number", _is_name)
ARMS = Field({"type": "array", "items": ARM.schema}, "a list of arms", _is_list_of_names)
SUBSET = Field({**ARMS.schema, "minItems": 1, "uniqueItems": True}, ARMS.takes, ARMS.fits)
NEW_ARMS = Field({**ARMS.schema, "minItems": 2, "uniqueItems": True}, ARMS.takes, ARMS.fits)
ID = Field({"type": "integer", "minimum": 0}, "a whole number of at least 0", _is_whole)
REWARD = Field({"type": "number", "minimum": -LARGEST_REWARD, "maximum": LARGEST_REWARD}, "a number", _is_number)
PROPENSITY = Field({"type": "number", "exclusiveMinimum": 0, "maximum": 1}, "a number", _is_number)
SHARE = Field({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, "a number", _is_number)
FLOOR = Field({"type": "number", "minimum": 0, "exclusiveMaximum": 1}, "a number", _is_number)
POSITIVE = Field({"type": "number", "exclusiveMinimum": 0}, "a number", _is_number)
SUBJECT = Field(
    {"description": "A user or session.", "type": "string", "minLength": 1, "maxLength": LONGEST}, "a string", _is_text
)
NAME = Field({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"}, "a string", _is_text)
STATE = Field({"enum": [ON, PAUSED, ENDED]}, "a string", _is_text)
RULE = Field(
    {"description": "The name of a rule, or an object with 'rule' and its parameters.", "type": ["string", "object"]},
    "a string or an object",
    _is_text_or_object,
)
FEATURES = Field(
    {"description": "How many numbers a context has, or an object: name -> kind.", "type": ["integer", "object"]},
    "a whole number or an object",
    lambda value: type(value) is dict or (_is_whole(value) and value > 0),
)
FEATURE = Field(
    {"description": "A name, or a place where contexts are lists.", "type": ["string", "integer"], "minimum": 0},
    "a string or a whole number",
    lambda value: type(value) is str or (type(value) is int and value >= 0),
)
CONTEXT = Field(
    {"description": "Where the experiment has features.", "type": ["object", "array"]},
    "an object or a list of numbers",
    lambda value: type(value) is dict or (type(value) is list and all(map(_is_number, value))),
)
PROBABILITIES = Field(
    {"description": "The probability of each arm, by name.", "type": "object", "additionalProperties": {"type": "number"}},
    "an object of numbers",
    lambda value: type(value) is dict and all(map(_is_number, value.values())),
)
ACTIONS = Field(
    {
        "description": "Where the experiment has actions: name -> features of those offered.",
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"type": "number"}},
        "minProperties": 1,
    },
    "an object: name -> list of numbers",
    lambda value: type(value) is dict and all(type(row) is list and all(map(_is_number, row)) for row in value.values()),
)
N_ACTIONS = Field(
    {"description": "How many features an action has; in place of arms.", "type": "integer", "minimum": 1},
    "a whole number of at least 1",
    lambda value: _is_whole(value) and value > 0,
)
OBJECT = Field({"type": "object"}, "an object", lambda value: type(value) is dict)


def check_fields(
    body: dict[str, Any], needed: Mapping[str, Field], optional: Mapping[str, Field], one_of: tuple[str, ...] = ()
) -> None:
    """Refuse a body that lacks a needed field, has an unknown one, or one of the wrong type."""
    if not needed.keys() <= body.keys():
        lacking = next(name for name in needed if name not in body)
        raise RefusedError(400, f"service: the body lacks the field {lacking!r}")
    for name, value in body.items():
        field = needed[name] if name in needed else optional.get(name)
        if field is None:
            takes = ", ".join([*needed, *optional]) or "none"
            raise RefusedError(400, f"service: the body has an unknown field {name!r}; it takes {takes}")
        if not field.fits(value):
            raise RefusedError(400, f"service: {name} must be {field.takes}, got {json.dumps(value)[:100]}")
    if one_of and sum(name in body for name in one_of) != 1:
        raise RefusedError(400, f"service: the body must have exactly one of the fields {' and '.join(one_of)}")
