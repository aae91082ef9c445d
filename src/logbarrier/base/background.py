"""Work on daemon threads that Ctrl-C can leave behind: compiled code that never ends cannot be stopped, only abandoned.

The main thread waits, since it alone receives Ctrl-C. The interpreter does not wait for daemon threads when it exits.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeVar

PATIENCE = 2.0  # seconds that running work has to end by itself once it is asked to stop

Item = TypeVar("Item")
Returned = TypeVar("Returned")


def in_background(
    owner: str, work: Callable[[Item], Returned], items: Sequence[Item], threads: int, stop: threading.Event
) -> Generator[Returned, None, None]:
    """work(item) of every item, in the order they finish, on so many threads.

    When the caller closes the generator, or an exception ends it, `stop` is set: no work begins any more, and what runs has
    PATIENCE seconds to end.
    """
    outcomes: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
    left = iter(items)
    workers = [
        threading.Thread(target=_work_off, args=(work, left, outcomes, stop), daemon=True)
        for _ in range(min(threads, len(items)))
    ]
    try:
        _start(owner, workers)
        for _ in items:
            result, error = outcomes.get()
            if error is not None:
                raise error
            yield result
    finally:
        stop.set()
        end = time.monotonic() + PATIENCE
        for worker in workers:
            if worker.ident is not None:
                worker.join(max(end - time.monotonic(), 0.0))


def _start(owner: str, workers: list[threading.Thread]) -> None:
    try:
        for worker in workers:
            worker.start()
    except RuntimeError:  # the system, not Python, says how many threads there may be
        raise ValueError(f"{owner}: this system cannot start that many threads; set threads to fewer") from None


def _work_off(work: Callable[[Any], Any], left: Iterator[Any], outcomes: Any, stop: threading.Event) -> None:
    for item in left:  # shared: the interpreter gives each item to one thread
        if stop.is_set():
            return
        try:
            outcomes.put((work(item), None))
        except BaseException as error:  # also sys.exit in a user's code: the caller must hear of it
            stop.set()
            outcomes.put((None, error))
