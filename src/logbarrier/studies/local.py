"""The executor of this machine: cells side by side on threads of one process; kernels release the interpreter."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..base import validate
from ..base.background import in_background
from ..base.failure import RuleError, whole_traceback
from .cell import Cell, machine
from .cell_file import pack

Report = Callable[[int], None]
MOST_THREADS = 1024


@dataclass(frozen=True)
class Result:
    """What came of a cell: its bytes and how they were made, or why there are none."""

    cell: Cell
    content: bytes | None
    note: dict[str, Any]


class LocalExecutor:
    """Computes cells on `threads` threads, all cores by default."""

    def __init__(self, threads: int | None = None) -> None:
        wanted = os.cpu_count() or 1 if threads is None else threads
        self.threads = validate.integer("LocalExecutor", "threads", wanted, 1, MOST_THREADS)

    def compute(self, cells: Sequence[Cell], report: Report) -> Generator[Result, None, None]:
        """The results in the order they come; `report` is called with finished steps. Closing the iterator stops the rest."""
        stop = threading.Event()
        inner = max(1, self.threads // max(len(cells), 1))  # fewer cells than threads: threads go inside the cells
        work = partial(_compute_one, inner, report, stop)
        yield from in_background("LocalExecutor", work, cells, self.threads, stop)


def _compute_one(threads: int, report: Report, stop: threading.Event, cell: Cell) -> Result:
    done = 0

    def progress(now: int, _: int) -> None:
        nonlocal done
        if stop.is_set():
            raise InterruptedError("stopped")
        report(now - done)
        done = now

    return Result(cell, *compute_cell(cell, threads, progress))


def compute_cell(
    cell: Cell, threads: int = 1, progress: Callable[[int, int], None] | None = None
) -> tuple[bytes | None, dict[str, Any]]:
    """A cell's bytes and provenance, or None and the failure."""
    try:
        record = cell.simulate(threads, progress)
        return pack(cell, record), {**record.provenance, **machine()}
    except (Exception, SystemExit) as error:  # sys.exit in a user's rule must not end the study
        said = f"user-defined code called sys.exit({error.code})" if isinstance(error, SystemExit) else str(error)
        name = "" if isinstance(error, RuleError) else f"{type(error).__name__}: "  # a sentence of this package needs none
        return None, {"error": f"{name}{said}", "traceback": whole_traceback(error), **machine()}
