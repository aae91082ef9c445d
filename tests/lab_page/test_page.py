"""A tab as it opens."""

from __future__ import annotations

import pytest

pytest.importorskip("bokeh")

from bokeh.document import Document

import logbarrier as lb
from logbarrier.lab_page.controls import without_effect
from logbarrier.lab_page.jobs import ResultCache
from logbarrier.lab_page.page import Page


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


@pytest.fixture
def page():
    document = Document()
    opened = Page(document, "arms=50", ResultCache(), document.add_next_tick_callback)
    yield opened
    opened.worker.close(wait=True)


def test_k_returns_to_its_former_value_after_the_simplex_view(page):
    page.change({"view": "simplex"})
    assert page.state.arms == 3
    page.change({"alpha": 0.2})
    page.change({"view": "regret"})
    assert (page.state.arms, page.state.alpha) == (50, 0.2)
    page.change({"arms": 70})
    page.change({"view": "simplex"})
    page.change({"view": "policy", "arms": 20})  # as a preset does
    assert page.state.arms == 20


@pytest.mark.parametrize("view", ["learning", "simplex", "policy", "environment"])
def test_only_controls_that_apply_are_shown(page, view):
    page.change({"view": view})
    shown = {name for name, widget in page.controls._by_name.items() if widget.visible}
    assert shown == set(page.controls._by_name) - without_effect(page.state)
    assert ("environment" in shown) == (view == "environment") != ("law" in shown)
    assert ("arms" in shown) == (view in ("learning", "policy"))


def test_features_are_offered_in_environments_with_rows_and_columns(page):
    page.change({"view": "environment"})
    for environment, offered in (("rooms", True), ("deep-sea", True), ("river", False), ("distractor", False)):
        page.change({"environment": environment, "features": "cosines"})
        assert page.controls.features.visible == offered
        assert page.state.n_curves == 4 + offered
        assert page.controls.features.value == "cosines"
    page.change({"view": "learning"})
    assert not page.controls.features.visible


def test_the_function_lab_stays_a_function_when_its_package_is_imported():
    import logbarrier.lab_page.server

    assert lb.lab is logbarrier.lab_page.server.lab
