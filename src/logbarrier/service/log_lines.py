"""The service's log on stderr: JSON lines, and never many of one kind."""

from __future__ import annotations

import json
import logging
import sys
import time

PERIOD = 60.0  # seconds
MOST_LINES = 10  # in a period, from one place in the code


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, message, and the exception if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": time.time(), "level": record.levelname.lower(), "message": record.getMessage()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


class Throttle(logging.Filter):
    """Pass at most MOST_LINES records per period from one place in the code; the next period says how many were left out.

    A caller without the token can cause log lines. Unthrottled, they would fill the disk.
    """

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[tuple[str, int], tuple[float, int]] = {}  # place -> when its period began, records since then

    def filter(self, record: logging.LogRecord) -> bool:
        place, now = (record.pathname, record.lineno), time.monotonic()
        began, count = self._counts.get(place, (now, 0))
        if now - began >= PERIOD:
            if count > MOST_LINES:
                record.msg, record.args = f"{record.getMessage()} (and {count - MOST_LINES} more before)", None
            began, count = now, 0
        self._counts[place] = began, count + 1
        return count < MOST_LINES


def log_to_stderr() -> None:
    """Have uvicorn and asyncio log as JSON lines to stderr, throttled."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(Throttle())
    for name in ("uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
