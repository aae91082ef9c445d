"""Stored cells -> records, one a case, and a tidy summary of them all."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..base.files import whole_file
from ..record import Record
from .cell_file import DamagedCellError
from .status import seconds_of
from .store import CannotWriteError, Store
from .study import Case

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
COLUMNS = (
    "problem", "n_arms", "rule", "parameters", "runs", "step", "metric",
    "mean", "low", "high", "q05", "q25", "q50", "q75", "q95",
)  # fmt: skip


def record_of(store: Store, case: Case) -> Record | None:
    """All finished runs of a case as one record, in the order of the runs; None if there is none yet."""
    blocks = []
    for cell in store.study.cells_of(case):
        try:
            block = store.read(cell)
        except DamagedCellError:
            continue
        if block is not None:
            blocks.append((block, store.provenance(cell)))
    if not blocks:
        return None
    first = blocks[0][0]
    values = {name: np.concatenate([block[name] for block, _ in blocks]) for name in first.metrics}
    seconds = sum(seconds_of(provenance) or 0.0 for _, provenance in blocks)
    runs = sum(block.runs for block, _ in blocks)
    return Record(first.steps, values, {**first.settings, "runs": runs}, {**blocks[0][1], "seconds": round(seconds, 4)})


def records(store: Store) -> Iterator[tuple[Case, Record]]:
    """Every case that has finished runs, with its record."""
    for case in store.study.cases:
        record = record_of(store, case)
        if record is not None:
            yield case, record


def summary_rows(store: Store) -> Iterator[tuple[Any, ...]]:
    """One row, as in COLUMNS, per case, metric and checkpoint; the metric `stuck` has a mean alone."""
    for case, record in records(store):
        parameters = json.dumps({key: value for key, value in case.rule.items() if key != "rule"})
        start = (case.problem["problem"], case.n_arms, case.rule["rule"], parameters, record.runs)
        for metric in record.metrics:
            low, high = record.interval(metric)
            columns = np.vstack([record.mean(metric), low, high, record.quantiles(metric, QUANTILES)]).T
            for step, row in zip(record.steps.tolist(), columns.tolist(), strict=True):
                yield (*start, step, metric, *row)
        if "wrong_probability" in record.values:
            for step, share in zip(record.steps.tolist(), record.stuck().tolist(), strict=True):
                yield (*start, step, "stuck", share, *[None] * 7)


def write_summary(store: Store) -> list[Path]:
    """Write summary.csv, and summary.parquet where pyarrow is installed; returns their paths."""
    rows = list(summary_rows(store))
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    written = [store.folder / "summary.csv"]
    try:
        with whole_file(written[0]) as file:
            file.write(text.getvalue().encode())
        if find_spec("pyarrow") is not None and rows:
            written.append(_write_parquet(store.folder / "summary.parquet", rows))
    except OSError as error:
        raise CannotWriteError(f"cannot write {written[-1]}: {error.strerror or error}") from None
    return written


def _write_parquet(path: Path, rows: list[tuple[Any, ...]]) -> Path:
    import pyarrow
    import pyarrow.parquet

    columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    with whole_file(path) as file:
        pyarrow.parquet.write_table(pyarrow.table(columns), file)
    return path
