"""logbarrier rules."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from .console import unwrapped_console
from .rule_words import option

UNSET = "unset"  # the default of a parameter that need not be given and has no value then


def rules(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the rules of bandits and MDPs with their parameters, their place in the paper and what they are.

    A parameter without a value must be given.

    Example: logbarrier rules | grep barrier
    """
    from ..studies.settings import settings

    known = {setting.name: list(setting.rules.values()) for setting in settings()}
    if as_json:
        listed = [{**_described(rule), "setting": name} for name, rules in known.items() for rule in rules]
        typer.echo(json.dumps(listed, indent=2))
        return
    from rich.table import Table

    for number, (name, rules) in enumerate(known.items()):
        title = "rule" if number == 0 else f"\nrules of {name}"
        table = Table(title, "parameters", "place in the paper", "what it is", box=None, header_style="bold", pad_edge=False)
        for rule in rules:
            row = _described(rule)
            words = [f"{option(key)}{_default(value)}" for key, value in row["parameters"].items()]
            table.add_row(row["rule"], " ".join(words), row["place"], row["summary"])
        unwrapped_console().print(table)


def _described(rule: type[Any]) -> dict[str, Any]:
    from dataclasses import MISSING, fields

    return {
        "rule": rule.name,
        "parameters": {
            field.name: None if field.default is MISSING else UNSET if field.default is None else field.default
            for field in fields(rule)
        },
        "place": getattr(rule, "place", ""),
        "summary": (rule.__doc__ or "").splitlines()[0],
    }


def _default(value: object) -> str:
    """A default as it is shown behind its option; nothing for a parameter that must be given."""
    if value is None:
        return ""
    return f" {value:.4g}" if isinstance(value, float) else f" {value}"
