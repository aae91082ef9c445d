"""One writer per folder: an advisory lock that names its holder and that the kernel drops when the holder dies."""

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

from ..base.file_lock import FileLock
from ..base.files import read_table

PATIENCE = 2.0  # seconds: who only looks (`holder`) holds the lock for a moment, and several may look at once


@contextlib.contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold the lock file while the block runs; refuse in one sentence, with who holds it, where another process does."""
    lock = _opened(path)
    try:
        _take(lock, path)
        yield
    finally:
        lock.release()


def holder(path: Path) -> str | None:
    """Who holds the lock, or None."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _named(read_table(path))
    except OSError:
        return None
    return None


def _opened(path: Path) -> FileLock:
    """The lock file, made if need be: a file of its own, never what a link points to."""
    try:
        return FileLock(path, 0o644)
    except OSError as error:
        why = "it is a link" if path.is_symlink() else error.strerror
        raise OSError(f"{path} cannot be opened as a lock file: {why}; remove it and run again") from None


def _take(lock: FileLock, path: Path) -> None:
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    mine = json.dumps({"pid": os.getpid(), "host": platform.node(), "since": since})
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            lock.take(mine)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                writer = _named(read_table(path))
                raise BlockingIOError(
                    f"{path.parent} is being written by {writer}; wait for it to end, or stop it, and run again"
                ) from None
            time.sleep(0.01)


def _named(who: dict[str, Any]) -> str:
    return f"process {who.get('pid', '?')} on {who.get('host', '?')} since {who.get('since', '?')}"
