"""logbarrier rules."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def rules(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the rules with their parameters and their place in the paper."""
    from dataclasses import MISSING, fields

    from ..bandits.algorithms import RULES

    listed = [
        {
            "rule": name,
            "parameters": {f.name: None if f.default is MISSING else f.default for f in fields(rule)},
            "place": rule.place,
            "summary": (rule.__doc__ or "").splitlines()[0],
        }
        for name, rule in RULES.items()
    ]
    if as_json:
        typer.echo(json.dumps(listed, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("rule", "parameters", "place in the paper", box=None, header_style="bold", pad_edge=False)
    for row in listed:
        words = [f"--{key.replace('_', '-')}{_default(value)}" for key, value in row["parameters"].items()]  # type: ignore[attr-defined]
        table.add_row(str(row["rule"]), " ".join(words), str(row["place"]))
    Console().print(table)


def _default(value: object) -> str:
    """A default as it is shown behind its option; nothing for a parameter that must be given."""
    if value is None:
        return ""
    return f" {value:.4g}" if isinstance(value, float) else f" {value}"
