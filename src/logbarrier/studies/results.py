"""Stored cells -> records, one per case."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..record import Record
from .cell import Case
from .cell_file import DamagedCellError
from .status import seconds_of
from .store import Store


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
    provenance = {**blocks[0][1], "seconds": round(seconds, 4)}
    return Record(first.steps, values, {**first.settings, "runs": runs}, provenance, case.setting.ranges)


def records(store: Store) -> Iterator[tuple[Case, Record]]:
    """Every case that has finished runs, with its record."""
    for case in store.study.cases:
        record = record_of(store, case)
        if record is not None:
            yield case, record
