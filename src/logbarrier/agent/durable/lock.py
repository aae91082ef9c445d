"""One process per agent: a lock file next to its file."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from ...base.file_lock import FileLock


def locked(path: Path) -> FileLock:
    """The lock file, locked; a second holder, in this process or another, gets one sentence."""
    try:
        lock = FileLock(path, 0o600)
    except OSError as error:
        why = "it is a symbolic link" if error.errno == errno.ELOOP else error.strerror
        raise OSError(f"DurableAgent: {path} cannot be used as a lock: {why}") from None
    try:
        lock.take(str(os.getpid()))
    except BlockingIOError:
        lock.release()
        holder = path.read_text(errors="replace").strip() or "?"
        raise BlockingIOError(
            f"DurableAgent: {path.with_suffix('')} is in use by process {holder}; one process writes at a time, "
            "others can ask it over HTTP ('logbarrier serve')"
        ) from None
    return lock
