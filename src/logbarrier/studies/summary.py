"""Tables to analyse a study with: summary (one row per case, metric and checkpoint) and runs (one row per case and run).

Every parameter has its own column, `problem.gap` or `rule.learning_rate`, so that cases which differ in it can be
distinguished and grouped. It is empty where a problem or rule has no such parameter.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..base.files import whole_file
from ..statistics import STUCK
from .arrays import shown
from .cell import Case
from .results import records
from .store import CannotWriteError, Store
from .tables import name_of
from .user_defined import short_name

Row = dict[str, Any]
QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}


def summary_rows(store: Store) -> Iterator[Row]:
    """Mean, 95 % interval and quantiles of every metric; the metric `stuck` has only a mean."""
    for case, record in records(store):
        start = {**case_columns(case), "runs": record.runs}
        for metric in record.metrics:
            low, high = record.interval(metric)
            values = {"mean": record.mean(metric), "low": low, "high": high}
            values |= dict(zip(QUANTILES, record.quantiles(metric, tuple(QUANTILES.values())), strict=True))
            for i, step in enumerate(record.steps.tolist()):
                yield {**start, "step": step, "metric": metric, **{name: float(value[i]) for name, value in values.items()}}
        if "wrong_probability" in record.values:
            for step, share in zip(record.steps.tolist(), record.stuck().tolist(), strict=True):
                yield {**start, "step": step, "metric": "stuck", "mean": share}


def run_rows(store: Store) -> Iterator[Row]:
    """Where every single run ended: a column per metric."""
    for case, record in records(store):
        final = {metric: record[metric][:, -1].tolist() for metric in record.metrics}
        if "wrong_probability" in record.values:
            final["stuck"] = (record["wrong_probability"][:, -1] > STUCK).astype(int).tolist()
        for i in range(record.runs):
            values = {metric: numbers[i] for metric, numbers in final.items()}
            yield {**case_columns(case), "run": record.settings.get("first_run", 0) + i, "step": record.horizon, **values}


def case_columns(case: Case) -> Row:
    """A case in columns: problem and rule by name, the problem's size, and every parameter of both."""
    columns: Row = {"problem": name_of(case.problem), "rule": short_name(case.rule["rule"]), **case.sizes}
    for kind, table in (("problem", case.problem), ("rule", case.rule)):
        for key, value in table.items():
            if key not in (kind, *case.sizes):
                columns |= _flat(f"{kind}.{key}", value)
    return columns


def write_summary(store: Store) -> list[Path]:
    """Write summary and runs as .csv, and as .parquet where pyarrow is installed; returns their paths."""
    written = []
    for name, rows in (("summary", list(summary_rows(store))), ("runs", list(run_rows(store)))):
        columns = list(dict.fromkeys(column for row in rows for column in row))
        first = [column for column in columns if "." not in column]
        where = first.index("runs" if name == "summary" else "run") if rows else 0
        ordered = [*first[:where], *sorted(set(columns) - set(first)), *first[where:]]
        try:
            written.append(_write_csv(store.folder / f"{name}.csv", ordered, rows))
            if find_spec("pyarrow") is not None and rows:
                written.append(_write_parquet(store.folder / f"{name}.parquet", ordered, rows))
        except OSError as error:
            raise CannotWriteError(f"cannot write {store.folder / name}: {error.strerror or error}") from None
    return written


def _flat(name: str, value: Any) -> Row:
    """A schedule is a column per part, a list of numbers its JSON, an array its shape and hash."""
    if isinstance(value, dict):
        return {key: entry for part, number in value.items() for key, entry in _flat(f"{name}.{part}", number).items()}
    if isinstance(value, list):
        return {name: json.dumps(value)}
    return {name: shown(value) if isinstance(value, str) else value}


def _write_csv(path: Path, columns: list[str], rows: list[Row]) -> Path:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with whole_file(path) as file:
        file.write(text.getvalue().encode())
    return path


def _write_parquet(path: Path, columns: list[str], rows: list[Row]) -> Path:
    import pyarrow
    import pyarrow.parquet

    with whole_file(path) as file:
        pyarrow.parquet.write_table(
            pyarrow.table({name: _of_one_type([row.get(name) for row in rows]) for name in columns}), file
        )
    return path


def _of_one_type(values: list[Any]) -> list[Any]:
    """Numbers, or words where some are: a Parquet column has one type."""
    kinds = {type(value) for value in values} - {type(None)}
    kind = next(iter(kinds)) if len(kinds) == 1 else float if kinds <= {int, float} else str
    return [None if value is None else kind(value) for value in values]
