"""The service's log: JSON lines, few of one kind."""

from __future__ import annotations

import io
import json
import logging

from logbarrier.service import log_lines
from logbarrier.service.log_lines import JsonLines, Throttle


def test_lines_from_one_place_are_few_and_what_was_left_out_is_counted(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(log_lines.time, "monotonic", lambda: now[0])
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonLines())
    handler.addFilter(Throttle())
    logger = logging.Logger("test")
    logger.addHandler(handler)

    def flood(count):
        for number in range(count):
            logger.warning("number %d", number)

    flood(1000)
    logger.error("another %s", "place")
    now[0] = log_lines.PERIOD
    flood(2)
    messages = [json.loads(line)["message"] for line in out.getvalue().splitlines()]
    assert messages == [
        *(f"number {number}" for number in range(log_lines.MOST_LINES)),
        "another place",
        f"number 0 (and {1000 - log_lines.MOST_LINES} more before)",
        "number 1",
    ]
