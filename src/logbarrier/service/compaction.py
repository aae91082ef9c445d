"""Keeping the journal of a served agent bounded: what was closed long ago is dropped, a little at a time."""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from ..agent.durable.ledger import Ledger
from .committer import Committer

PAUSE = 600.0  # seconds between one look for what has become too old and the next


async def compact_for_ever(committer: Committer, keep: float) -> None:
    """Drop what was closed more than `keep` seconds ago, between the requests; cancel it to stop."""
    while True:
        try:
            until = await committer.do(partial(Ledger.ago, seconds=keep))
            while await committer.do(partial(Ledger.drop, until=until)):
                pass
        except Exception as error:  # a full disk, or a request in the same batch that failed: the next look may do better
            logging.getLogger("uvicorn.error").warning("service: the journal was not compacted: %s", error)
        await asyncio.sleep(PAUSE)
