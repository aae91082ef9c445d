"""The rules, one short file each.

A file put beside this one is found by itself; its public name goes into `logbarrier/__init__.pyi`.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from .. import schedules
from .rule import Rule


def _rules() -> dict[str, type[Rule]]:
    """name -> rule: those with preferences, which are the policy gradients, first; then by name."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    found = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Rule)
        and value.__module__ == module.__name__
        and hasattr(value, "name")
    }
    return {rule.name: rule for rule in sorted(found, key=lambda rule: (not rule.prefers, rule.name))}


RULES = _rules()


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
