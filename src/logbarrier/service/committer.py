"""Group commit: the requests that arrive while the disk is busy share its next write."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..agent.durable.durable_agent import DurableAgent
from ..agent.durable.ledger import Ledger

MOST_WAITING = 10_000
TICK = 1.0  # seconds; how often decisions past their ttl are looked for when nobody asks
PATIENCE = 0.4  # of the time of a write: how long the next one may wait for more callers
POLL = 0.001  # seconds; a shorter sleep takes as long

Call = Callable[[Ledger], Any]


class Committer:
    """Takes calls from any number of coroutines and performs them in batches, in one thread, each batch with one write."""

    def __init__(self, agent: DurableAgent) -> None:
        self._agent = agent
        self._waiting: list[tuple[Call, asyncio.Future[Any]]] = []
        self._wake = asyncio.Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="committer")
        self.batches, self.calls, self.seconds = 0, 0, 0.0
        self._last = 0.0  # seconds that the last batch took

    async def do(self, call: Call) -> Any:
        """What the call returned, once it is on disk; or its exception, raised."""
        if len(self._waiting) >= MOST_WAITING:
            raise OSError(f"service: {MOST_WAITING} requests are waiting for the disk already; try again later")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((call, future))
        self._wake.set()
        outcome = await future
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def run(self) -> None:
        """For ever; cancel it to stop, when no request is under way any more."""
        ticking = asyncio.create_task(self._tick())
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                batch, self._waiting = self._waiting, []
                outcomes = await self._perform([call for call, _ in batch])
                for (_, future), outcome in zip(batch, outcomes, strict=True):
                    if not future.done():
                        future.set_result(outcome)
                if self._waiting:
                    await self._gather(len(batch) + len(self._waiting))
        finally:
            ticking.cancel()

    async def _gather(self, callers: int) -> None:
        """Let those who have just been answered come back, to share a write with those who came meanwhile.

        Without it callers fall into two groups, each of which waits for the other's write.
        """
        end = time.perf_counter() + PATIENCE * self._last
        await asyncio.sleep(0)
        while len(self._waiting) < callers and time.perf_counter() + POLL < end:
            await asyncio.sleep(POLL)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            self._wake.set()

    async def _perform(self, calls: list[Call]) -> list[Any]:
        started = time.perf_counter()
        try:
            outcomes = await asyncio.get_running_loop().run_in_executor(self._thread, self._agent.perform, calls)
        except Exception as error:  # the disk is full, say: everyone in the batch is told so
            outcomes = [error] * len(calls)
        self._last = time.perf_counter() - started
        if calls:
            self.batches += 1
            self.calls += len(calls)
            self.seconds += self._last
        return outcomes
