"""A progress bar on stderr with time left; silent if stderr is not a terminal."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class Bar:
    """Called with (done, total); `close` leaves the finished bar on the screen."""

    def __init__(self, total: int, label: str = "simulating") -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        console = Console(stderr=True)
        self._progress = Progress(*columns, console=console, disable=not sys.stderr.isatty())
        self._progress.start()
        self._task = self._progress.add_task(label, total=total)

    def __call__(self, done: int, total: int) -> None:
        self._progress.update(self._task, completed=done, total=total)

    def close(self) -> None:
        """Stop drawing."""
        self._progress.stop()
