"""The executor of many processes or machines: whole cells go to Dask workers, their bytes come back to the one writer."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..base import validate
from .arrays import add_arrays, arrays_in
from .cell import Cell, cell_of
from .local import Report, Result, compute_cell

SECOND_CHANCES = 20  # Dask gives a task up when a few workers died on it; how often it is asked to try again
PATIENCE = 5  # seconds without a result after which the workers are counted
NOTICED_WITHIN = 3  # seconds in which a client notices that its scheduler is gone


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
            raise ValueError("DaskExecutor: give either workers or scheduler: a running cluster has its own workers")
        self.workers = validate.integer("DaskExecutor", "workers", os.cpu_count() or 1 if workers is None else workers, 1)
        self.scheduler = scheduler

    def compute(self, cells: Sequence[Cell], report: Report) -> Generator[Result, None, None]:
        """The results in the order they come. Closing the iterator stops the rest."""
        if not cells:
            return
        with self._client() as client:
            cell_of = _submitted(client, cells)
            try:
                yield from self._results(client, cell_of, report)
            except (OSError, CancelledError, RuntimeError):
                if self.scheduler is None or not _is_gone(client):
                    raise
                raise ConnectionError(
                    f"DaskExecutor: the scheduler at {self.scheduler} is gone; finished cells are kept"
                ) from None
            finally:
                if _answers(client):
                    client.cancel(list(cell_of), force=True)

    def _results(self, client: Any, cell_of: dict[Any, Cell], report: Report) -> Generator[Result, None, None]:
        """The results as they come; each leaves `cell_of`."""
        from distributed import KilledWorker, wait

        chances = dict.fromkeys(cell_of, SECOND_CHANCES)
        while cell_of:
            try:
                finished = wait(list(cell_of), timeout=PATIENCE, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                if not _answers(client):
                    raise ConnectionError("no answer") from None
                self._replace_lost_workers(client)
                continue
            for future in finished:
                if isinstance(future.exception(), KilledWorker) and chances[future] > 0:
                    chances[future] -= 1
                    future.retry()
                    continue
                cell = cell_of.pop(future)
                report(cell.steps)
                yield Result(cell, *_outcome(future))

    @contextlib.contextmanager
    def _client(self) -> Iterator[Any]:
        from distributed import Client, LocalCluster

        if self.scheduler is None:
            options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "silence_logs": 50}
            with LocalCluster(n_workers=0, **options) as cluster, Client(cluster) as client:
                cluster.scale(self.workers)
                yield client
        else:
            try:
                client = Client(self.scheduler, timeout=5)
            except (OSError, ValueError) as error:
                raise ValueError(f"DaskExecutor: no scheduler answers at {self.scheduler}: {error}") from None
            for name in ("distributed", *logging.root.manager.loggerDict):
                if name.startswith("distributed"):
                    logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # what happens is said in a sentence
            with client:
                yield client

    def _replace_lost_workers(self, client: Any) -> None:
        """Dask restarts a worker that dies, unless it dies while it starts; if so none is left, begin with new ones."""
        if self.scheduler is None and not client.scheduler_info()["workers"]:
            client.cluster.scale(len(client.cluster.worker_spec) + self.workers)


def _submitted(client: Any, cells: Sequence[Cell]) -> dict[Any, Cell]:
    """Future -> cell. Each array is a task of its own: a worker receives it once, and another one where that worker dies."""
    mine = secrets.token_hex(4)  # keys of this call alone: another client's equal cells are none of its business
    sent: dict[str, Any] = {}
    cell_of = {}
    for cell in cells:
        needed = arrays_in([cell.case.problem, cell.case.rule])
        for name in needed.keys() - sent.keys():
            sent[name] = client.submit(_as_it_is, needed[name], key=f"array-{name}-{mine}")
        arrays = {name: sent[name] for name in needed}
        cell_of[client.submit(compute_elsewhere, cell.wire, arrays, key=f"cell-{cell.id}-{mine}")] = cell
    return cell_of


def compute_elsewhere(wire: dict[str, Any], arrays: dict[str, np.ndarray]) -> tuple[bytes | None, dict[str, Any]]:
    """What a worker runs: the cell that `Cell.wire` describes, and the arrays that it refers to, by hash."""
    add_arrays(arrays)
    return compute_cell(cell_of(wire))


def _as_it_is(array: np.ndarray) -> np.ndarray:
    return array


def _answers(client: Any) -> bool:
    """Whether the scheduler is still there."""
    return bool(client.status == "running" and client.scheduler_comm is not None and not client.scheduler_comm.comm.closed())


def _is_gone(client: Any) -> bool:
    """Whether the scheduler is gone: after a broken connection one part of the client may know it a little before another."""
    deadline = time.monotonic() + NOTICED_WITHIN
    while _answers(client) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not _answers(client)


def _outcome(future: Any) -> tuple[bytes | None, dict[str, Any]]:
    try:
        content, note = future.result()
    except (OSError, CancelledError):  # of the connection: what a cell itself raises comes back as a note
        raise
    except Exception as error:  # the worker died too often, or cannot import logbarrier
        return None, {"error": f"{type(error).__name__}: {error}"}
    return content, note
