"""One process per file: a lock beside it that the kernel drops when its holder dies."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path


class Lock:
    """Held from construction to `release`; a second holder, in this process or another, gets one sentence."""

    def __init__(self, path: Path) -> None:
        self._file = -1
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            why = "it is a symbolic link" if error.errno == errno.ELOOP else error.strerror
            raise OSError(f"DurableAgent: {path} cannot be used as a lock: {why}") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(file, 32, 0).decode(errors="replace").strip() or "?"
            os.close(file)
            raise BlockingIOError(
                f"DurableAgent: {path.with_suffix('')} is in use by process {holder}; one process writes at a time, "
                "others can ask it over HTTP ('logbarrier serve')"
            ) from None
        self._file = file
        os.ftruncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Let the next one in."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
