"""The rules, one short file each, and the list of them."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from .. import schedules
from .adaptive_log_barrier_sgb import AdaptiveLogBarrierSGB
from .baseline_npg import BaselineNPG
from .baseline_sgb import BaselineSGB
from .clipped_log_barrier_sgb import ClippedLogBarrierSGB
from .entropy_sgb import EntropySGB
from .log_barrier_sgb import LogBarrierSGB
from .npg import NPG
from .rule import Rule
from .sgb import SGB

RULES: dict[str, type[Rule]] = {
    rule.name: rule
    for rule in (SGB, BaselineSGB, EntropySGB, LogBarrierSGB, AdaptiveLogBarrierSGB, NPG, BaselineNPG, ClippedLogBarrierSGB)
}


def make_rule(name: str, parameters: dict[str, Any]) -> Rule:
    """The rule of a name as in `RULES`, with parameters by name; both are checked."""
    if name not in RULES:
        raise ValueError(f"rule: must be one of {', '.join(RULES)}, got {name!r}")
    known = [field.name for field in fields(RULES[name])]
    required = [field.name for field in fields(RULES[name]) if field.default is MISSING]
    for parameter in parameters:
        if parameter not in known:
            raise ValueError(f"{name}: has no parameter {parameter}; it takes {', '.join(known)}")
    for parameter in required:
        if parameter not in parameters:
            raise ValueError(f"{name}: needs {parameter}; it takes {', '.join(known)}")
    return RULES[name](**parameters)


def rule_from_dict(plain: dict[str, Any]) -> Rule:
    """The rule that `Rule.to_dict` described."""
    parameters = {key: value for key, value in plain.items() if key != "rule"}
    if "learning_rate" in parameters:
        parameters["learning_rate"] = schedules.from_plain(parameters["learning_rate"])
    return make_rule(plain["rule"], parameters)


__all__ = [
    "NPG",
    "RULES",
    "SGB",
    "AdaptiveLogBarrierSGB",
    "BaselineNPG",
    "BaselineSGB",
    "ClippedLogBarrierSGB",
    "EntropySGB",
    "LogBarrierSGB",
    "Rule",
    "make_rule",
    "rule_from_dict",
]
