"""One writer per folder: an advisory lock that names its holder and that the kernel drops when the holder dies."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ..base.files import read_table

PATIENCE = 2.0  # seconds: who only looks (`holder`) holds the lock for a moment, and several may look at once


@contextlib.contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Hold the lock file while the block runs; refuse in one sentence, with who holds it, where another process does."""
    with _opened(path) as file:
        _take(file, path)
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
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _named(read_table(path))
    except OSError:
        return None
    return None


def _opened(path: Path) -> IO[str]:
    """The lock file, made if need be: a file of its own, never what a link points to."""
    try:
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_APPEND | os.O_NONBLOCK, 0o644)
    except OSError as error:
        why = "it is a link" if path.is_symlink() else error.strerror
        raise OSError(f"{path} cannot be opened as a lock file: {why}; remove it and run again") from None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(f"{path} cannot be opened as a lock file: it is not a regular file; remove it and run again")
    return open(number, "a+")


def _take(file: IO[str], path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
