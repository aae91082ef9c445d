"""logbarrier status."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import execution
from .console import printable, table_of, wide_console
from .errors import one_sentence
from .execution import warn

if TYPE_CHECKING:
    from ..studies import Store

COLUMNS = ("done", "missing", "failed", "damaged")


def status(
    folder: Annotated[Path | None, typer.Argument(help="A study folder or a study file; all studies by default.")] = None,
    out: execution.Out = None,
    as_json: execution.AsJson = False,
    traceback: execution.Traceback = False,
) -> None:
    """Show how far studies have come: cells done, missing, failed and damaged, and the time left.

    Example: logbarrier status runs/learning-rates-1a2b3c4d
    """
    from ..studies import Store, read_study

    with one_sentence("nothing was changed"):
        base = out or Path("runs")
        skipped: list[dict[str, str]] = []
        if folder is None:
            listed, skipped = _all_in(base)
        elif folder.is_dir():
            listed = [_plain(Store.open(folder))]
        else:
            study = read_study(folder).study
            listed = [_plain(Store(base / study.folder_name, study))]
    for one in skipped:
        warn(f"{one['folder']} is left out: {one['skipped']}")
    if as_json:
        typer.echo(json.dumps([*listed, *skipped], indent=1))
    elif folder is None:
        _print_table(["study"], [([row["folder"]], row) for row in listed])
    else:
        row = listed[0]
        rows = [([case["rule"], case["problem"]], case) for case in row["cases"]]
        _print_table(["rule", "problem"], [*rows, (["all", ""], row)])
        for failure in row["failures"]:
            typer.echo(printable(f"failed {failure['id']}: {failure['error']}"))
        if traceback:
            execution.print_tracebacks(Store.open(row["folder"]))
    for row in listed:
        if row["holder"] and not as_json:
            typer.echo(printable(f"{row['folder']} is being written by {row['holder']}"))


def _all_in(base: Path) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    """Every study in a folder, and those that cannot be read here, with the reason."""
    from ..studies import Store

    listed, skipped = [], []
    for file in sorted(base.glob("*/study.toml")):
        try:
            listed.append(_plain(Store.open(file.parent)))
        except Exception as error:  # whatever is wrong with a folder, the others are listed
            said = str(error).removeprefix(f"{file}: ")
            named = said if isinstance(error, ValueError | OSError) else f"{type(error).__name__}: {said}"
            skipped.append({"folder": str(file.parent), "skipped": named})
    if not listed and not skipped:
        raise ValueError(f"status: no study in {base}; 'logbarrier run STUDY.toml' makes one")
    return listed, skipped


def _plain(store: Store) -> dict[str, Any]:
    from ..studies.status import case_statuses, study_status

    statuses = case_statuses(store)
    total = study_status(statuses, os.cpu_count() or 1)
    failures = [(cell, store.failure(cell)) for cell in store.study.cells()]
    return {
        "study": store.study.name,
        "folder": str(store.folder),
        "holder": store.holder(),
        "seconds_left": total.seconds_left,
        **total.cells,
        "cases": [
            {
                "case": str(one.case),
                "rule": store.study.rule_label(one.case),
                "problem": store.study.problem_label(one.case),
                **one.cells,
                "seconds": one.seconds,
                "seconds_left": None if one.seconds_left is None else one.seconds_left / (os.cpu_count() or 1),
            }
            for one in statuses
        ],
        "failures": [{"id": cell.id, "error": failure["error"]} for cell, failure in failures if "error" in failure],
    }


def _print_table(first: list[str], rows: list[tuple[list[str], dict[str, Any]]]) -> None:
    from rich.markup import escape

    table = table_of(first, [*COLUMNS, "time left"])
    for names, row in rows:
        table.add_row(
            *(escape(printable(name)) for name in names),
            *(str(row[column]) for column in COLUMNS),
            _duration(row["seconds_left"]),
        )
    wide_console().print(table)


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 1 or seconds == 0 else "< 1 s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
