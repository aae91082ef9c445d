"""What `run`, `reproduce` and `complexity` share: the options that say how cells are computed, and what is shown meanwhile."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..studies import Case, Executor, Outcome, Store

AllCores = Annotated[int | None, typer.Option(help="All cores by default.")]
Threads = Annotated[int | None, typer.Option(envvar="LOGBARRIER_THREADS", help="Cells at once here; all cores by default.")]
ExecutorName = Annotated[str | None, typer.Option(envvar="LOGBARRIER_EXECUTOR", help="local (default) or dask.")]
Workers = Annotated[int | None, typer.Option(envvar="LOGBARRIER_WORKERS", help="Processes that dask starts here.")]
Scheduler = Annotated[str | None, typer.Option(envvar="LOGBARRIER_SCHEDULER", help="A running Dask cluster, tcp://HOST:PORT.")]
Out = Annotated[Path | None, typer.Option(envvar="LOGBARRIER_OUT", help="Folder that holds study folders; runs by default.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="List the cells that would be computed, and stop.")]
Force = Annotated[bool, typer.Option("--force", help="Compute the cells again even if they are stored.")]
Retry = Annotated[bool, typer.Option("--retry", help="Also compute cells that failed before.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Traceback = Annotated[bool, typer.Option("--traceback", help="Print the whole traceback of user-defined code that fails.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress bar.")]


@dataclass(frozen=True)
class Execution:
    """How cells are computed, and what is shown meanwhile."""

    threads: Threads = None
    executor: ExecutorName = None
    workers: Workers = None
    scheduler: Scheduler = None
    dry_run: DryRun = False
    force: Force = False
    retry: Retry = False
    as_json: AsJson = False
    quiet: Quiet = False
    traceback: Traceback = False

    def make_executor(self) -> Executor:
        """The executor the options name; a scheduler or workers alone mean dask."""
        from ..studies import LocalExecutor

        name = self.executor or ("dask" if self.scheduler or self.workers else "local")
        if name == "dask":
            from ..studies.cluster import DaskExecutor

            return DaskExecutor(self.workers, self.scheduler)
        if name != "local":
            raise ValueError(f"executor: must be local or dask, got {name!r}")
        if self.workers or self.scheduler:
            raise ValueError("executor: workers and scheduler need the dask executor, got executor local")
        return LocalExecutor(self.threads)

    def compute(self, store: Store, executor: Executor, cases: list[Case] | None, up_to: int | None = None) -> Outcome:
        """Run the study with a bar on stderr."""
        from ..base.progress import Bar
        from ..studies import run

        bar: Bar | None = None

        def show(done: int, total: int) -> None:
            nonlocal bar
            bar = bar or Bar(total, store.study.name)  # none where nothing is left to compute
            bar(done, total)

        try:
            shown = None if self.quiet else show
            outcome = run(store, executor, cases, up_to=up_to, force=self.force, retry=self.retry, progress=shown, warn=warn)
            if self.traceback:
                print_tracebacks(store)
            return outcome
        finally:
            if bar is not None:
                bar.close()

    def print_dry_run(self, work: Sequence[tuple[Store, list[Case] | None]]) -> None:
        """What a run of these cases, None for all, would compute in each store: a line per curve; as JSON, every cell."""
        listed: list[dict[str, Any]] = [
            {"folder": str(store.folder), "cells": _due(store, cases, force=self.force, retry=self.retry)}
            for store, cases in work
        ]
        if self.as_json:
            typer.echo(json.dumps(listed, indent=1))
            return
        for one, (store, cases) in zip(listed, work, strict=True):
            curves: dict[str, list[dict[str, Any]]] = {}
            for cell in one["cells"]:
                curves.setdefault(cell["case"], []).append(cell)
            for case, cells in curves.items():
                runs = sum(cell["runs"][1] - cell["runs"][0] + 1 for cell in cells)
                states = ", ".join(sorted({cell["state"] for cell in cells}))
                typer.echo(f"{runs:>6} runs in {len(cells)} cells ({states})  {case}")
            typer.echo(f"{len(one['cells'])} of {len(store.study.cells(cases))} cells to compute in {store.folder}")


def with_execution(command: Callable[..., None]) -> Callable[..., None]:
    """The command for typer: with an option for each field of `Execution` in place of its last parameter, `how`."""
    signature = inspect.signature(command, eval_str=True)
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "how"]
    options = list(inspect.signature(Execution, eval_str=True).parameters.values())

    @functools.wraps(command)
    def spread(**given: Any) -> None:
        how = Execution(**{option.name: given.pop(option.name) for option in options})
        command(**given, how=how)

    parameters = [*own, *options]
    spread.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    spread.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return spread


@contextlib.contextmanager
def kept_cells(go_on: str) -> Iterator[None]:
    """A folder that cannot be written becomes one sentence, with how to go on, and exit code 1."""
    from ..studies import CannotWriteError

    try:
        yield
    except CannotWriteError as error:
        sys.stderr.write(f"logbarrier: {error}; {go_on}\n")
        raise typer.Exit(1) from None


def print_tracebacks(store: Store) -> None:
    """The traceback of every failed cell, each once, on stderr."""
    noted = (store.failure(cell).get("traceback") for cell in store.study.cells())
    for text in dict.fromkeys(text for text in noted if text):
        sys.stderr.write(f"{text}\n")


def warn(sentence: str) -> None:
    """A sentence on stderr."""
    sys.stderr.write(f"logbarrier: {printable(sentence)}\n")


def _due(store: Store, cases: list[Case] | None, *, force: bool, retry: bool) -> list[dict[str, Any]]:
    from ..studies.run import is_due

    due = []
    for case in store.study.cases if cases is None else cases:
        for cell in store.study.cells_of(case):
            state = store.state(cell)
            copied = state == "missing" and not force and store.read_elsewhere(cell) is not None
            if is_due(state, force=force, retry=retry) and not copied:
                last = cell.first_run + cell.runs - 1
                due.append({"id": cell.id, "state": state, "runs": [cell.first_run, last], "case": str(case)})
    return due


def finish(outcomes: list[Outcome]) -> None:
    """Exit code 1 where cells failed, with how to try again."""
    failed = sum(len(outcome.failed) for outcome in outcomes)
    if failed:
        warn(f"{failed} cells failed; 'logbarrier status' says why, the same command with --retry tries them again")
        raise typer.Exit(1)
