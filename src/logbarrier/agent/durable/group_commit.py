"""Group commit: the calls that arrive while the disk is busy share its next write."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Generic, TypeVar

Owner = TypeVar("Owner")


class Ticket(Generic[Owner]):
    """A queued call, and its outcome once it is done: what it returned, or its exception."""

    __slots__ = ("call", "done", "outcome")

    def __init__(self, call: Callable[[Owner], Any]) -> None:
        self.call, self.done = call, False
        self.outcome: Any = None


class GroupCommit(Generic[Owner]):
    """A queue of calls from any number of threads, performed in batches by one thread at a time.

    perform: takes the calls of a batch and returns their outcomes once all are on disk; an exception concerns all of them
    """

    def __init__(self, perform: Callable[[Sequence[Callable[[Owner], Any]]], list[Any]]) -> None:
        self._perform, self._queue, self.turn = perform, deque[Ticket[Owner]](), Lock()

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, call: Callable[[Owner], Any]) -> Ticket[Owner]:
        """Queue a call for the next batch."""
        ticket = Ticket(call)
        self._queue.append(ticket)
        return ticket

    def flush(self) -> int:
        """Perform all queued calls as one batch; return how many."""
        with self.turn:
            return self._flush()

    def _flush(self) -> int:
        batch = [self._queue.popleft() for _ in range(len(self._queue))]
        outcomes: list[Any] = [OSError("DurableAgent: interrupted; nothing was done")] * len(batch)
        try:
            outcomes = self._perform([ticket.call for ticket in batch])
        except Exception as error:
            outcomes = [error] * len(batch)
        finally:
            for ticket, outcome in zip(batch, outcomes, strict=True):
                ticket.outcome, ticket.done = outcome, True
        return len(batch)

    def do(self, call: Callable[[Owner], Any]) -> Any:
        """Return what the call returns, once it is on disk; written together with the calls that other threads have queued."""
        ticket = self.add(call)
        with self.turn:
            if not ticket.done:
                self._flush()
        if isinstance(ticket.outcome, Exception):
            raise ticket.outcome
        return ticket.outcome

    def perform(self, calls: Sequence[Callable[[Owner], Any]]) -> list[Any]:
        """Perform several calls with one write; per call what it returned, or its exception."""
        with self.turn:
            return self._perform(calls)
