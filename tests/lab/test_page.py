"""A tab as it opens."""

from __future__ import annotations

import pytest

pytest.importorskip("bokeh")

from bokeh.document import Document

from logbarrier.lab.jobs import ResultCache
from logbarrier.lab.page import Page


def test_no_work_is_asked_for_before_the_session_is_there():
    """A worker that delivers while the server still makes the session adds a callback to a half-made one: status 500."""
    document = Document()
    page = Page(document, "view=learning", ResultCache(), document.add_next_tick_callback)
    try:
        assert page.worker.ticket == 0
        pending = document.session_callbacks
        assert len(pending) == 1
        pending[0].callback()  # what the session's loop does next
        assert page.worker.ticket == 1
    finally:
        page.worker.close(wait=True)
