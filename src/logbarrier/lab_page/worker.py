"""A thread that does the latest task and drops what is stale: nothing ever waits in a queue.

A task is a function of a check and yields results. The check is called often, with (done, total), and raises `Stale` once
another task was asked for or the worker was stopped. So a turn of a control ends the work for the control's last position.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

Check = Callable[[int, int], None]
Task = Callable[[Check], Iterator[Any]]
Deliver = Callable[[int, Any], None]


class Stale(Exception):  # noqa: N818  (a signal, not an error)
    """This work is no longer wanted."""


class Worker:
    """Does one task at a time in a thread of its own.

    deliver   called in that thread with (ticket, result) for everything a task yields, and (ticket, exception) if it fails
    progress  called in that thread with (ticket, (done, total))
    ticket    what `ask` returned; a result with another ticket than the latest is stale
    """

    def __init__(self, deliver: Deliver, progress: Deliver) -> None:
        self._deliver, self._progress = deliver, progress
        self._changed = threading.Condition()
        self._waiting: Task | None = None
        self._closed = False
        self.ticket = 0
        self._thread = threading.Thread(target=self._work, name="logbarrier-lab", daemon=True)
        self._thread.start()

    def ask(self, task: Task) -> int:
        """Do this task now; what was under way ends at its next check. Returns the task's ticket."""
        with self._changed:
            self.ticket += 1
            self._waiting = task
            self._changed.notify()
            return self.ticket

    def stop(self) -> None:
        """End what is under way."""
        with self._changed:
            self.ticket += 1
            self._waiting = None

    def close(self, *, wait: bool = False) -> None:
        """End the thread, after the work's next check."""
        with self._changed:
            self._closed = True
            self.ticket += 1
            self._waiting = None
            self._changed.notify()
        if wait:
            self._thread.join()

    def _next(self) -> tuple[int, Task] | None:
        with self._changed:
            while self._waiting is None and not self._closed:
                self._changed.wait()
            if self._waiting is None:
                return None
            task, self._waiting = self._waiting, None
            return self.ticket, task

    def _work(self) -> None:
        while (found := self._next()) is not None:
            ticket, task = found

            def check(done: int, total: int, ticket: int = ticket) -> None:
                if self.ticket != ticket:
                    raise Stale
                self._progress(ticket, (done, total))

            try:
                for result in task(check):
                    if self.ticket != ticket:
                        break
                    self._deliver(ticket, result)
            except Stale:
                pass
            except Exception as error:  # whatever a task raises is shown on the page, and the worker lives on
                self._deliver(ticket, error)
