"""logbarrier reproduce."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import execution
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
    from ..paper import EXPERIMENTS, Results, draw_figures, paper_study
    from ..paper.reproduction import cases_of
    from ..studies import CannotWriteError, Store, write_summary

    with one_sentence(AGAIN):
        wanted = names or list(EXPERIMENTS)
        cases = cases_of(wanted)
        paper_study(horizon, runs, seed)
        base = out or Path("runs")
        horizons = ["paper"] if horizon == "paper" else ["paper", horizon]
        studies = [paper_study(each, runs, seed) for each in horizons]
        stores = [Store(base / study.folder_name, study) for study in studies]
        if dry_run:
            for store in stores:
                execution.print_dry_run(store, cases, force=force, retry=retry, as_json=as_json)
            return
        chosen = execution.make_executor(threads, executor, workers, scheduler)
        outcomes: list[Outcome] = []
        figures: list[Path] = []
        try:
            for store in stores:
                label = store.study.name
                outcomes.append(execution.compute(store, chosen, cases, force=force, retry=retry, quiet=quiet, label=label))
                write_summary(store)
                figures += draw_figures(Results(store), wanted)
        except CannotWriteError as error:
            sys.stderr.write(f"logbarrier: {error}; {AGAIN}\n")
            raise typer.Exit(1) from None
    typer.echo(json.dumps([str(path) for path in figures]))
    execution.finish(outcomes)
