"""Keeping the journals of served experiments bounded: what was closed long ago is dropped, a little at a time."""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from ..agent.durable.decision_file import DecisionFile
from .committer import Committer

PAUSE = 600.0  # seconds between two compactions


async def compact_for_ever(committer: Committer, keep: float) -> None:
    """Drop what was closed more than `keep` seconds ago, between the requests; cancel it to stop."""
    while True:
        try:
            for name in await committer.do(lambda file: list(file.ledgers)):
                until = await committer.do(partial(_ago, name=name, keep=keep))
                while await committer.do(partial(_drop, name=name, until=until)):
                    pass
        except Exception as error:  # a full disk, or a request in the same batch that failed: the next one may succeed
            logging.getLogger("uvicorn.error").warning("service: the journal was not compacted: %s", error)
        await asyncio.sleep(PAUSE)


def _ago(file: DecisionFile, name: str, keep: float) -> float:
    return file.ledger(name).ago(keep)


def _drop(file: DecisionFile, name: str, until: float) -> int:
    return file.ledger(name).drop(until)
