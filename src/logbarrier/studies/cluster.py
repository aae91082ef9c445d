"""The executor of many processes or machines: whole cells go to Dask workers, their bytes come back to the one writer."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from .. import validate
from .cell import Cell
from .local import Report, Result, compute_cell

WORKER_DEATHS = 100  # a cell is given up only after this many workers died on it


class DaskExecutor:
    """Computes cells on a Dask cluster.

    workers    processes of a cluster started for this call on this machine; all cores by default
    scheduler  or the address of a running cluster, such as tcp://HOST:8786, whose workers have logbarrier installed

    A worker that dies loses nothing: Dask gives its cells to the others.
    """

    def __init__(self, workers: int | None = None, scheduler: str | None = None) -> None:
        if find_spec("distributed") is None:
            raise ValueError("DaskExecutor: needs Dask; install it with pip install 'logbarrier[distributed]'")
        if workers is not None and scheduler is not None:
            raise ValueError("DaskExecutor: workers and scheduler exclude one another: a running cluster has its own workers")
        self.workers = validate.integer("DaskExecutor", "workers", os.cpu_count() or 1 if workers is None else workers, 1)
        self.scheduler = scheduler

    def compute(self, cells: Sequence[Cell], report: Report) -> Iterator[Result]:
        """The results in the order they come. Closing the iterator stops the rest."""
        if not cells:
            return
        from distributed import as_completed

        with self._client() as client:
            cell_of_key = {}
            for cell in cells:
                future = client.submit(compute_cell, cell.identity, key=f"cell-{cell.id}", pure=False, retries=0)
                cell_of_key[future] = cell
            try:
                for future in as_completed(list(cell_of_key)):
                    cell = cell_of_key.pop(future)
                    report(cell.steps)
                    yield Result(cell, *_outcome(future))
            finally:
                client.cancel(list(cell_of_key), force=True)

    @contextlib.contextmanager
    def _client(self) -> Iterator[Any]:
        import dask
        from distributed import Client, LocalCluster

        with contextlib.ExitStack() as stack:
            stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": WORKER_DEATHS}))
            if self.scheduler is None:
                cluster = LocalCluster(
                    n_workers=self.workers, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
                )
                stack.enter_context(cluster)
                yield stack.enter_context(Client(cluster))
            else:
                try:
                    client = Client(self.scheduler, timeout=10)
                except (OSError, ValueError) as error:
                    raise ValueError(f"DaskExecutor: no scheduler answers at {self.scheduler}: {error}") from None
                yield stack.enter_context(client)


def _outcome(future: Any) -> tuple[bytes | None, dict[str, Any]]:
    try:
        content, note = future.result()
    except Exception as error:  # the worker died too often, or cannot import logbarrier
        return None, {"error": f"{type(error).__name__}: {error}"}
    return content, note
