"""The calls of coroutines, performed by the group commit of the file in one thread."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..agent.durable.decision_file import DecisionFile
from ..agent.durable.group_commit import Ticket

MOST_QUEUED = 10_000
TICK = 1.0  # seconds between two closings of decisions past their ttl, when no call comes
PATIENCE = 0.4  # of the time of a write: how long the next one may wait for more callers
POLL = 0.001  # seconds; a shorter sleep takes as long

Call = Callable[[DecisionFile], Any]
Loop = asyncio.AbstractEventLoop


class Committer:
    """Queues calls of any number of coroutines and has them written together, one batch after the other."""

    def __init__(self, file: DecisionFile) -> None:
        self._commits = file.commits
        self._queued: deque[tuple[Ticket[DecisionFile], asyncio.Future[Any]]] = deque()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="committer")
        self._is_writing = False  # or is about to
        self.batches, self.calls, self.seconds = 0, 0, 0.0

    async def do(self, call: Call) -> Any:
        """Return what the call returns, once it is on disk."""
        if len(self._queued) >= MOST_QUEUED:
            raise OSError(f"service: {MOST_QUEUED} requests are queued already; try again later")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._queued.append((self._commits.add(call), future))
        if not self._is_writing:
            self._start(loop)
        outcome = await future
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def tick(self) -> None:
        """Close decisions past their ttl, also while no call comes; cancel it to stop."""
        while True:
            await asyncio.sleep(TICK)
            if not self._is_writing:
                self._start(asyncio.get_running_loop())

    def _start(self, loop: Loop) -> None:
        self._is_writing = True
        self._thread.submit(self._write, loop)

    def _write(self, loop: Loop) -> None:
        """Write one batch, in the thread: the calls that are queued when it starts."""
        started = time.perf_counter()
        try:
            self._commits.flush()
        finally:
            loop.call_soon_threadsafe(self._answer, loop, time.perf_counter() - started)

    def _answer(self, loop: Loop, seconds: float) -> None:
        """Answer the calls of a batch that took so many seconds, and start the next one."""
        answered = 0
        while self._queued and self._queued[0][0].done:
            ticket, future = self._queued.popleft()
            answered += 1
            if not future.done():
                future.set_result(ticket.outcome)
        if answered:
            self.batches += 1
            self.calls += answered
            self.seconds += seconds
        self._is_writing = bool(self._queued)
        if self._queued:
            loop.call_soon(self._gather, loop, answered + len(self._queued), time.perf_counter() + PATIENCE * seconds)

    def _gather(self, loop: Loop, callers: int, until: float) -> None:
        """Wait for callers that have just been answered, so that they share a write with those who came meanwhile.

        Without it callers fall into two groups, each of which waits for the other's write.
        """
        if len(self._queued) < callers and time.perf_counter() + POLL < until:
            loop.call_later(POLL, self._gather, loop, callers, until)
        else:
            self._start(loop)
