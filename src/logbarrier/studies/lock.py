"""One writer a folder: an advisory lock that names its holder and that the kernel drops when the holder dies."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Hold the lock file while the block runs; refuse in one sentence, with who holds it, where another process does."""
    with open(path, "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(
                f"{path.parent} is being written by {_named(_content(path))}; wait for it to end, or stop it, and run again"
            ) from None
        file.truncate(0)
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        file.write(json.dumps({"pid": os.getpid(), "host": platform.node(), "since": since}))
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)


def holder(path: Path) -> str | None:
    """Who holds the lock, or None."""
    try:
        with open(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return _named(_content(path))
    return None


def _content(path: Path) -> dict[str, Any]:
    try:
        plain = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return plain if isinstance(plain, dict) else {}


def _named(who: dict[str, Any]) -> str:
    return f"process {who.get('pid', '?')} on {who.get('host', '?')} since {who.get('since', '?')}"
