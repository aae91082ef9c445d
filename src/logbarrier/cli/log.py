"""logbarrier log."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from .errors import one_sentence


def log(
    file: Annotated[Path, typer.Argument(help="The file of decisions; it may be in use.")],
    experiment: Annotated[str, typer.Option(help="The name of the experiment.")] = "default",
    after: Annotated[int, typer.Option(help="Print only decisions with ids above this one.")] = -1,
    salvage: Annotated[bool, typer.Option("--salvage", help="Read what can still be read of a damaged file.")] = False,
) -> None:
    """Print the decisions of an experiment as JSON lines, each with its propensity, the arms available and its reward.

    Example: logbarrier log shop.db --after 1000
    """
    from ..agent.durable.log import read_log
    from ..agent.durable.salvage import salvaged_log

    with one_sentence("what was printed is whole lines"):
        if not salvage:
            _print(read_log(file, after=after, experiment=experiment))
            return
        rows, changed, is_whole = salvaged_log(file, experiment=experiment)
        _print(row for row in rows if row["id"] > after)
        pages = "all pages could be read" if is_whole else "some pages could not be read"
        sys.stderr.write(f"logbarrier: {changed} rows of events are not what was written and are left out; {pages}\n")


def _print(rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        typer.echo(json.dumps(row))
