"""logbarrier reproduce."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import execution
from .claims_table import print_claims, tally_of
from .errors import one_sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..studies import Case, Outcome, Store

    Compute = Callable[..., Outcome]

AGAIN = "finished cells are kept; the same 'logbarrier reproduce' command goes on from there"


@execution.with_execution
def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="figure-1, baselines, eta; all by default.")] = None,
    horizon: Annotated[
        str | None,
        typer.Option(help="printed or long, in full; by default the printed one and as much of the long one as fits."),
    ] = None,
    minutes: Annotated[float, typer.Option(help="The time to fit into when no horizon is given.")] = 4.0,
    runs: Annotated[int, typer.Option(help="Independent runs per curve.")] = 100,
    seed: Annotated[int, typer.Option(help="Same seed, same figures, to the byte.")] = 0,
    only: Annotated[
        list[str] | None, typer.Option(metavar="<key=value>", help="Such as n_arms=100; repeat to narrow further.")
    ] = None,
    out: execution.Out = None,
    *,
    how: execution.Execution,
) -> None:
    """Reproduce the paper: simulate, plot its figures, evaluate its claims, write a report. Stop and resume it at any time.

    Example: logbarrier reproduce figure-1 --horizon printed --only n_arms=100
    """
    from ..paper import EXPERIMENTS, paper_study
    from ..paper.design import HORIZONS, escape_sentence
    from ..paper.publish import claims_of, publish_paper
    from ..paper.reproduction import cases_of
    from ..report import figures
    from ..studies import Store

    started = time.monotonic()
    with one_sentence(AGAIN):
        cases = cases_of(names or list(EXPERIMENTS))
        studies = [paper_study(each, runs, seed) for each in (HORIZONS if horizon is None else [horizon])]
        if only:
            chosen_keys = {case.key for case in studies[0].only(only)}
            cases = [case for case in cases if case.key in chosen_keys]
            if not cases:
                raise ValueError(f"reproduce: no curve of {', '.join(names or list(EXPERIMENTS))} matches {' and '.join(only)}")
        stores = [Store((out or Path("runs")) / study.folder_name, study) for study in studies]
        if how.dry_run:
            how.print_dry_run([(store, cases) for store in stores])
            return
        chosen = how.make_executor()

        def compute(store: Store, cases: list[Case], up_to: int | None = None) -> Outcome:
            return how.compute(store, chosen, cases, up_to)

        with execution.kept_cells(AGAIN):
            outcomes = [compute(stores[0], cases)]
            pages = [publish_paper(stores[0])]
            if horizon is None:
                if not how.as_json:
                    typer.echo(f"The printed horizon: {tally_of(claims_of(stores[0]))}.\nreport: {pages[0]}", nl=True)
                    sys.stdout.flush()
                cores = how.threads or how.workers or os.cpu_count() or 1
                outcomes += _what_fits(stores[1], stores[0], cases, compute, started + 60 * minutes, cores)
                pages = [publish_paper(store) for store in stores] if outcomes[1:] else pages
    made = stores[: len(pages)]
    files = [str(path) for store in made for path in figures(store)]
    _print(claims_of(made[-1]), made, pages, files, escape_sentence(), how.as_json)
    execution.finish(outcomes)


def _what_fits(store: Store, printed: Store, cases: list[Case], compute: Compute, deadline: float, cores: int) -> list[Outcome]:
    """Rounds of the long horizon until the next one would end too late; what is stored already costs nothing."""
    from ..paper.budget import PLOTTING, rounds, seconds_needed

    outcomes = []
    for some, up_to in rounds(store, cases):
        if time.monotonic() + seconds_needed(store, printed, some, up_to, cores) + PLOTTING > deadline:
            break
        outcomes.append(compute(store, some, up_to))
    return outcomes


def _print(
    claims: list[dict[str, Any]], stores: list[Store], pages: list[Path], files: list[str], explanation: str, as_json: bool
) -> None:
    if as_json:
        typer.echo(json.dumps({"reports": [str(page) for page in pages], "figures": files, "claims": claims}, indent=1))
        return
    print_claims(claims, explanation)
    for store, page in zip(stores, pages, strict=True):
        typer.echo(f"figures: {store.folder / 'figures'}   report: {page}")
