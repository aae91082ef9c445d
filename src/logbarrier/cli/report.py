"""logbarrier report."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from . import execution
from .errors import one_sentence


def report(
    folders: Annotated[list[Path], typer.Argument(help="Study folders, as 'logbarrier status' lists them.")],
    page: Annotated[Path | None, typer.Option(help="Where the page of several folders goes; report.html by default.")] = None,
    as_json: execution.AsJson = False,
) -> None:
    """Write a study's summary, figures and report.html, which opens from disk; for several studies, also one joint page.

    Example: logbarrier report runs/learning-rates-1a2b3c4d runs/mine-5e6f7a8b --page both.html
    """
    from ..paper.publish import claims_of, publish_paper
    from ..paper.reproduction import horizon_of
    from ..paper.variation import differences_from_paper
    from ..report import figures, publish, publish_together
    from ..studies import CannotWriteError, Store
    from ..studies.results import records

    with one_sentence("the cells are untouched"):
        stores = [Store.open(folder) for folder in folders]
        for store in stores:
            if next(records(store), None) is None:
                file = store.folder / "study.toml"
                raise ValueError(f"report: no finished cell in {store.folder}; run 'logbarrier run {file}' first")
        try:
            of_paper = [horizon_of(store.study) is not None for store in stores]
            pages = [
                publish_paper(store) if paper else publish(store, _notes(differences_from_paper(store.study)))
                for store, paper in zip(stores, of_paper, strict=True)
            ]
            if len(stores) > 1:
                pages.append(publish_together(stores, page or Path("report.html")))
        except CannotWriteError as error:
            sys.stderr.write(f"logbarrier: {error}; the cells are untouched\n")
            raise typer.Exit(1) from None
    if as_json:
        paths = [str(path) for store in stores for path in figures(store)]
        claims = [claim for store, paper in zip(stores, of_paper, strict=True) if paper for claim in claims_of(store)]
        typer.echo(json.dumps({"report": str(pages[-1]), "figures": paths, "claims": claims}, indent=1))
    else:
        typer.echo(pages[-1])


def _notes(differences: list[str]) -> list[str]:
    return [f"Settings that differ from the paper's: {'; '.join(differences)}."] if differences else []
