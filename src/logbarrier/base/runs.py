"""What every simulator does around its loop: checkpoints and metrics by name, progress, and many runs on threads."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base import validate
from ..version import __version__
from .background import in_background

Progress = Callable[[int, int], None]

LARGEST_STEP = 2**32 - 1  # a step number is 32 bits of the random counter


@dataclass(frozen=True)
class Runs:
    """Which runs to make: first .. first + count - 1 of a seed, on so many threads."""

    count: int
    seed: int
    first: int
    threads: int

    @staticmethod
    def asked(count: int, seed: int, first: int, threads: int | None) -> Runs:
        """What a caller of `simulate` asked for, checked."""
        count = validate.integer("simulate", "runs", count, 1, LARGEST_STEP)
        return Runs(
            count,
            validate.integer("simulate", "seed", seed, 0),
            validate.integer("simulate", "first_run", first, 0, LARGEST_STEP - count),
            validate.integer("simulate", "threads", os.cpu_count() or 1 if threads is None else threads, 1),
        )

    @property
    def settings(self) -> dict[str, int]:
        """What a record keeps of them."""
        return {"runs": self.count, "first_run": self.first, "seed": self.seed}

    def provenance(self, engine: str, started: float) -> dict[str, Any]:
        """How and where they were made; `started` is what `time.perf_counter` said then."""
        return {
            "engine": engine,
            "threads": self.threads,
            "seconds": round(time.perf_counter() - started, 4),
            "logbarrier": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "machine": platform.machine(),
        }


def metric_names(wanted: Sequence[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    """What to measure: the names asked for, checked, or all that are known."""
    if wanted is None:
        return known
    names = (wanted,) if isinstance(wanted, str) or not isinstance(wanted, Sequence) else tuple(wanted)
    if not names:
        raise ValueError("simulate: metrics must name at least one")
    for name in names:
        validate.choice("simulate", "metric", name, known)
    return names


def checkpoint_steps(checkpoints: int | Sequence[int] | None, spacing: str, horizon: int, default: int) -> np.ndarray:
    """The (C,) steps to measure at, ascending, with 0 and the horizon; `checkpoints` says which, or how many."""
    validate.choice("simulate", "spacing", spacing, ("linear", "log"))
    if checkpoints is None or np.ndim(checkpoints) == 0:
        count = validate.integer("simulate", "checkpoints", default if checkpoints is None else checkpoints, 2)
        if spacing == "linear":
            chosen = np.linspace(0, horizon, min(count, horizon + 1))
        else:
            chosen = np.concatenate([[0], np.geomspace(1, horizon, min(count - 1, horizon))])
        return np.unique(np.round(chosen).astype(np.int64))
    given = [validate.integer("simulate", "checkpoint", step, 0, horizon) for step in checkpoints]  # type: ignore[union-attr]
    return np.unique(np.array([0, *given, horizon], dtype=np.int64))


class Reporter:
    """Adds up finished steps from all threads and shows them, in a bar or to a function of (done, total)."""

    def __init__(self, progress: bool | Progress, total: int) -> None:
        self._done, self._total, self._lock = 0, total, threading.Lock()
        self._show, self._bar = progress if callable(progress) else None, None
        if progress is True:
            from .progress import Bar

            self._bar = Bar(total)
            self._show = self._bar

    def __enter__(self) -> Callable[[int], None]:
        return self._add

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def _add(self, steps: int) -> None:
        if self._show is None:
            return
        with self._lock:
            self._done += steps
            self._show(self._done, self._total)


def run_all(
    one_piece: Callable[[int], None], pieces: int, threads: int, stop: threading.Event, *, may_hang: bool = True
) -> None:
    """Every piece on background threads; on Ctrl-C or a failure `stop` is set, at which the others end.

    may_hang: whether compiled code of a user may never return; the main thread, which receives Ctrl-C, must not run it
    """
    if min(threads, pieces) == 1 and not (may_hang and threading.current_thread() is threading.main_thread()):
        for index in range(pieces):
            one_piece(index)
        return
    for _ in in_background("simulate", one_piece, range(pieces), threads, stop):
        pass
