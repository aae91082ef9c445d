"""logbarrier run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from . import execution
from .errors import one_sentence


def run(
    study: Annotated[Path, typer.Argument(help="A study file, as in examples/.")],
    out: execution.Out = None,
    only: Annotated[list[str] | None, typer.Option(help="KEY=VALUE, such as rule=sgb; repeat to narrow further.")] = None,
    horizon: Annotated[float | None, typer.Option(envvar="LOGBARRIER_HORIZON", help="In place of the file's.")] = None,
    runs: Annotated[int | None, typer.Option(envvar="LOGBARRIER_RUNS", help="In place of the file's.")] = None,
    seed: Annotated[int | None, typer.Option(envvar="LOGBARRIER_SEED", help="In place of the file's.")] = None,
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
    """Run a study: compute what is missing, summarise it, print where it is. Stop it at any time and run it again.

    Example: logbarrier run examples/learning-rates.toml --only n_arms=10
    """
    from ..studies import CannotWriteError, Store, read_study, write_summary

    with one_sentence(f"finished cells are kept; 'logbarrier run {study}' goes on from there"):
        file = read_study(study, horizon=horizon, runs=runs, seed=seed)
        how = {"out": out, "threads": threads, "executor": executor, "workers": workers, "scheduler": scheduler}
        settings: dict[str, Any] = {**file.execution, **{key: value for key, value in how.items() if value is not None}}
        store = Store(Path(settings.pop("out", "runs")) / file.study.folder_name, file.study)
        cases = file.study.only(only) if only else None
        if dry_run:
            execution.print_dry_run([(store, cases)], force=force, retry=retry, as_json=as_json)
            return
        chosen = execution.make_executor(**{"threads": None, "executor": None, "workers": None, "scheduler": None, **settings})
        try:
            outcome = execution.compute(store, chosen, cases, force=force, retry=retry, quiet=quiet, label=file.study.name)
            write_summary(store)
        except CannotWriteError as error:
            sys.stderr.write(f"logbarrier: {error}; finished cells are kept; fix this and run the same command again\n")
            raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps({"folder": str(store.folder), **vars(outcome)}, indent=1))
    else:
        typer.echo(
            f"{store.folder}: {outcome.computed} cells computed in {outcome.seconds:.1f} s, {outcome.stored} were stored\n"
            f"next: logbarrier report {store.folder}"
        )
    execution.finish([outcome])
