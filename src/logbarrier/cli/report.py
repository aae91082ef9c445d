"""logbarrier report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from . import execution
from .errors import one_sentence


def report(
    folder: Annotated[Path, typer.Argument(help="A study folder, as 'logbarrier status' lists them.")],
    as_json: execution.AsJson = False,
) -> None:
    """Write a study's summary, figures and report.html, one page that opens from disk."""
    from ..paper.publish import claims_of, publish_paper
    from ..paper.reproduction import horizon_of
    from ..report import figures, publish
    from ..studies import Store
    from ..studies.results import records

    with one_sentence("the cells are untouched"):
        store = Store.open(folder)
        if next(records(store), None) is None:
            raise ValueError(f"report: no finished cell in {folder}; run 'logbarrier run {folder / 'study.toml'}' first")
        of_paper = horizon_of(store.study) is not None
        page = publish_paper(store) if of_paper else publish(store)
    if as_json:
        paths = [str(path) for path in figures(store)]
        claims = claims_of(store) if of_paper else []
        typer.echo(json.dumps({"report": str(page), "figures": paths, "claims": claims}, indent=1))
    else:
        typer.echo(page)
