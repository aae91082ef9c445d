"""Long work that can be seen and stopped: in a thread of its own, with a line on the terminal, while Ctrl-C is listened to.

The compiler does not listen to Ctrl-C. So the main thread waits for it, shows what is compiled and for how long, and may leave;
the work then ends by itself, or with the process.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

SHOWN_AFTER = 0.5  # seconds
BETWEEN = 0.1


def interruptible(what: str, work: Callable[[], Any]) -> Any:
    """The result of work(); `what` is shown with the time it takes if stderr is a terminal."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.extend((work(), None))
        except BaseException as error:
            outcome.extend((None, error))

    worker = threading.Thread(target=run, name=what, daemon=True)
    started, shown = time.monotonic(), False
    worker.start()
    try:
        while worker.is_alive():
            worker.join(BETWEEN)
            elapsed = time.monotonic() - started
            if elapsed > SHOWN_AFTER and sys.stderr is not None and sys.stderr.isatty():
                shown = True
                sys.stderr.write(f"\r{what}: {elapsed:.0f} s\x1b[K")
                sys.stderr.flush()
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
    result, error = outcome
    if error is not None:
        raise error
    return result
