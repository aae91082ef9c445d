"""The calls of coroutines, performed by the group commit of the file in one thread."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from typing import Any

from ..agent.durable.decision_file import DecisionFile
from ..agent.durable.group_commit import Ticket

MOST_QUEUED = 10_000
TICK = 1.0  # seconds between two closings of decisions past their ttl, when no call comes
PATIENCE = 0.4  # of the time of a write: how long the next one may wait for more callers
POLL = 0.001  # seconds; a shorter sleep takes as long

Call = Callable[[DecisionFile], Any]


class Committer:
    """Queues calls of any number of coroutines and has them written together, one batch after the other."""

    def __init__(self, file: DecisionFile) -> None:
        self._commits = file.commits
        self._queued: list[tuple[Ticket[DecisionFile], asyncio.Future[Any]]] = []
        self._wake = asyncio.Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="committer")
        self.batches, self.calls, self.seconds = 0, 0, 0.0
        self._last = 0.0  # seconds that the last batch took

    async def do(self, call: Call) -> Any:
        """Return what the call returns, once it is on disk."""
        if len(self._queued) >= MOST_QUEUED:
            raise OSError(f"service: {MOST_QUEUED} requests are queued already; try again later")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queued.append((self._commits.add(call), future))
        self._wake.set()
        outcome = await future
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def run(self) -> None:
        """Write until cancelled; cancel it when no request is under way any more."""
        ticking = asyncio.create_task(self._tick())
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                answered = await self._flush()
                if self._queued:
                    self._wake.set()
                    await self._gather(answered + len(self._queued))
        finally:
            ticking.cancel()

    async def _gather(self, callers: int) -> None:
        """Wait for callers that have just been answered, so that they share a write with those who came meanwhile.

        Without it callers fall into two groups, each of which waits for the other's write.
        """
        end = time.perf_counter() + PATIENCE * self._last
        await asyncio.sleep(0)
        while len(self._queued) < callers and time.perf_counter() + POLL < end:
            await asyncio.sleep(POLL)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            self._wake.set()

    async def _flush(self) -> int:
        """Write one batch and answer its calls; return how many."""
        started = time.perf_counter()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._commits.flush)
        self._last = time.perf_counter() - started
        done = list(takewhile(lambda queued: queued[0].done, self._queued))
        del self._queued[: len(done)]
        for ticket, future in done:
            if not future.done():
                future.set_result(ticket.outcome)
        if done:
            self.batches += 1
            self.calls += len(done)
            self.seconds += self._last
        return len(done)
