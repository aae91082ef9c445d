"""What several tests of durable agents need."""

from __future__ import annotations

import pytest

from logbarrier.agent.durable import sqlite_file


@pytest.fixture
def path(tmp_path):
    return tmp_path / "agent.db"


@pytest.fixture
def no_fsync(monkeypatch):
    """For tests in which no process dies."""
    monkeypatch.setattr(sqlite_file, "SYNCHRONOUS", "OFF")
