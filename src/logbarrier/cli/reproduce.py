"""logbarrier reproduce."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import execution
from .claims_table import print_claims
from .errors import one_sentence

if TYPE_CHECKING:
    from ..studies import Outcome

AGAIN = "finished cells are kept, the same 'logbarrier reproduce' command goes on from there"


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="figure-1, baselines, eta; all by default.")] = None,
    horizon: Annotated[str, typer.Option(help="paper, or long: also a hundred times the printed horizon.")] = "paper",
    runs: Annotated[int, typer.Option(help="Independent runs per curve.")] = 100,
    seed: Annotated[int, typer.Option(help="Same seed, same figures, to the byte.")] = 0,
    out: execution.Out = None,
    threads: execution.Threads = None,
    executor: execution.ExecutorName = None,
    workers: execution.Workers = None,
    scheduler: execution.Scheduler = None,
    dry_run: execution.DryRun = False,
    force: execution.Force = False,
    retry: execution.Retry = False,
    as_json: execution.AsJson = False,
    quiet: execution.Quiet = False,
) -> None:
    """Reproduce the paper: simulate, draw its figures, judge its claims, write a report. Stop it at any time and go on.

    Example: logbarrier reproduce figure-1 --horizon long
    """
    from ..paper import EXPERIMENTS, paper_study
    from ..paper.publish import claims_of, publish_paper
    from ..paper.reproduction import cases_of
    from ..paper.setting import escape_sentence
    from ..report import figures
    from ..studies import CannotWriteError, Store

    with one_sentence(AGAIN):
        cases = cases_of(names or list(EXPERIMENTS))
        base = out or Path("runs")
        studies = [paper_study(each, runs, seed) for each in dict.fromkeys(("paper", horizon))]
        stores = [Store(base / study.folder_name, study) for study in studies]
        if dry_run:
            execution.print_dry_run([(store, cases) for store in stores], force=force, retry=retry, as_json=as_json)
            return
        chosen = execution.make_executor(threads, executor, workers, scheduler)
        outcomes: list[Outcome] = []
        try:
            for store in stores:
                label = store.study.name
                outcomes.append(execution.compute(store, chosen, cases, force=force, retry=retry, quiet=quiet, label=label))
            pages = [publish_paper(store) for store in stores]
        except CannotWriteError as error:
            sys.stderr.write(f"logbarrier: {error}; {AGAIN}\n")
            raise typer.Exit(1) from None
    claims = claims_of(stores[-1])
    if as_json:
        drawn = [str(path) for store in stores for path in figures(store)]
        typer.echo(json.dumps({"reports": [str(page) for page in pages], "figures": drawn, "claims": claims}, indent=1))
    else:
        print_claims(claims, escape_sentence())
        for store, page in zip(stores, pages, strict=True):
            typer.echo(f"figures: {store.folder / 'figures'}   report: {page}")
    execution.finish(outcomes)
