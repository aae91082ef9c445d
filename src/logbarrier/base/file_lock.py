"""An advisory lock on a file that belongs to one process: the kernel drops it when that process ends.

`flock` alone belongs to the open file, which a forked child shares: the child would keep the lock after its parent's end. So a
child closes its copy as soon as it is forked, and `release` unlocks explicitly, whoever else still has the file open.
"""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path
from typing import ClassVar


class FileLock:
    """A lock file, opened or created with `mode`; a link or a pipe in its place raises OSError. It is not locked yet."""

    _open: ClassVar[set[FileLock]] = set()

    def __init__(self, path: Path, mode: int) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)
        self._is_locked = False
        FileLock._open.add(self)
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            self.release()
            raise OSError(0, "it is not a regular file")

    def take(self, holder: str) -> None:
        """Lock the file and write `holder` into it; raise BlockingIOError where another has locked it."""
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._is_locked = True
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, holder.encode(), 0)

    def release(self) -> None:
        """Unlock and close the file, emptied; do nothing in a forked child, and the second time."""
        if self not in FileLock._open:
            return
        FileLock._open.remove(self)
        if self._is_locked:
            os.ftruncate(self._file, 0)
            fcntl.flock(self._file, fcntl.LOCK_UN)
        os.close(self._file)

    @classmethod
    def _close_in_child(cls) -> None:
        for lock in cls._open:
            os.close(lock._file)
        cls._open.clear()


os.register_at_fork(after_in_child=FileLock._close_in_child)
