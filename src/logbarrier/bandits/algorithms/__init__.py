"""The rules, one short file each.

A file put into this folder is found by itself; its public name goes into `logbarrier/__init__.pyi`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from ...base.parameters import make_named, parameters_of
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
    return {rule.name: rule for rule in sorted(found, key=lambda rule: (not rule.has_preferences, rule.name))}


RULES = _rules()


def make_rule(name: str, parameters: dict[str, Any]) -> Rule:
    """The rule of a name as in `RULES`, with parameters by name; both are checked."""
    return make_named("rule", RULES, name, parameters)


def rule_from_dict(plain: dict[str, Any]) -> Rule:
    """The rule that `Rule.to_dict` described; types are checked, for a file may hold anything."""
    name = plain["rule"]
    readers = parameters_of(RULES[name]) if name in RULES else {}
    given = {key: value for key, value in plain.items() if key != "rule"}
    values = {key: readers[key].read(name, key, value) if key in readers else value for key, value in given.items()}
    return make_rule(name, values)
