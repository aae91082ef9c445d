"""logbarrier rules."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def rules(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the rules with their parameters and their place in the paper."""
    from dataclasses import MISSING, fields

    from ..algorithms import RULES

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
        words = [f"--{k.replace('_', '-')}" + ("" if v is None else f" {v}") for k, v in row["parameters"].items()]  # type: ignore[attr-defined]
        table.add_row(str(row["rule"]), " ".join(words), str(row["place"]))
    Console().print(table)
