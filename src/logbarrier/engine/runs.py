"""Many runs on threads: the steps to measure at, and flights that a failure or Ctrl-C stops at their next piece."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

import numpy as np

from ..base import validate

Progress = Callable[[int, int], None]


def checkpoint_steps(
    owner: str, checkpoints: int | Sequence[int] | None, spacing: str, horizon: int, default: int
) -> np.ndarray:
    """The (C,) steps to measure at, ascending, with 0 and the horizon: `checkpoints` says which or how many."""
    validate.choice(owner, "spacing", spacing, ("linear", "log"))
    if checkpoints is None or np.ndim(checkpoints) == 0:
        count = validate.integer(owner, "checkpoints", default if checkpoints is None else checkpoints, 2)
        if spacing == "linear":
            chosen = np.linspace(0, horizon, min(count, horizon + 1))
        else:
            chosen = np.concatenate([[0], np.geomspace(1, horizon, min(count - 1, horizon))])
        return np.unique(np.round(chosen).astype(np.int64))
    given = [validate.integer(owner, "checkpoint", step, 0, horizon) for step in checkpoints]  # type: ignore[union-attr]
    return np.unique(np.array([0, *given, horizon], dtype=np.int64))


class Counter:
    """Adds up finished steps from all threads and shows them."""

    def __init__(self, show: Progress | None, total: int) -> None:
        self._done, self._total, self._show, self._lock = 0, total, show, threading.Lock()

    def add(self, steps: int) -> None:
        """So many more steps are done."""
        if self._show is not None:
            with self._lock:
                self._done += steps
                self._show(self._done, self._total)


def fly_all(one_flight: Callable[[int], None], flights: int, threads: int, stop: threading.Event) -> None:
    """Every flight on a pool of threads; on Ctrl-C or a failure `stop` is set, at which the others end."""
    if threads == 1:
        for index in range(flights):
            one_flight(index)
        return
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(one_flight, index) for index in range(flights)]
        try:
            finished, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in finished:
                future.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
