"""logbarrier run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from . import execution
from .errors import one_sentence


@execution.with_execution
def run(
    study: Annotated[Path, typer.Argument(help="A study file, as in examples/.")],
    out: execution.Out = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="<key=value>", help="Such as rule=sgb; repeat to narrow further.")
    ] = None,
    horizon: Annotated[float | None, typer.Option(envvar="LOGBARRIER_HORIZON", help="In place of the file's.")] = None,
    runs: Annotated[int | None, typer.Option(envvar="LOGBARRIER_RUNS", help="In place of the file's.")] = None,
    seed: Annotated[int | None, typer.Option(envvar="LOGBARRIER_SEED", help="In place of the file's.")] = None,
    *,
    how: execution.Execution,
) -> None:
    """Run a study: compute what is missing, summarise it, print where it is. Stop it at any time and run it again.

    Example: logbarrier run examples/learning-rates.toml --only n_arms=10
    """
    from ..studies import Store, read_study, write_summary

    with one_sentence(f"finished cells are kept; 'logbarrier run {study}' goes on from there"):
        file = read_study(study, horizon=horizon, runs=runs, seed=seed)
        folder = Path(out or file.execution.get("out", "runs"))
        in_file = {key: value for key, value in file.execution.items() if key != "out" and getattr(how, key) is None}
        how = replace(how, **in_file)
        store = Store(folder / file.study.folder_name, file.study)
        cases = file.study.only(only) if only else None
        if how.dry_run:
            how.print_dry_run([(store, cases)])
            return
        chosen = how.make_executor()
        with execution.kept_cells("finished cells are kept; fix this and run the same command again"):
            outcome = how.compute(store, chosen, cases)
            write_summary(store)
    if how.as_json:
        typer.echo(json.dumps({"folder": str(store.folder), **vars(outcome)}, indent=1))
    else:
        typer.echo(
            f"{store.folder}: {outcome.computed} cells computed in {outcome.seconds:.1f} s, {outcome.stored} were stored\n"
            f"next: logbarrier report {store.folder}"
        )
    execution.finish([outcome])
