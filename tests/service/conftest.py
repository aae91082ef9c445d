"""A service in this process, on a free port of this machine."""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass

import pytest

pytest.importorskip("uvicorn", reason="needs the extra 'serve'")

import httpx
import uvicorn

import logbarrier as lb
from logbarrier.agent.durable import sqlite_file
from logbarrier.service import compaction, connection
from logbarrier.service.app import make_app
from logbarrier.service.server import bound, server_of

TOKEN = "secret"
RULE = lb.LogBarrierSGB(learning_rate=0.5, eta=20.0)


@pytest.fixture
def agent(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "SYNCHRONOUS", "OFF")
    with lb.DurableAgent(tmp_path / "agent.db", rule=RULE, arms=["a", "b", "<i>c"], seed=0) as opened:
        yield opened


@dataclass
class Running:
    """Where the service listens, and its application."""

    address: str
    app: object
    server: uvicorn.Server
    listener: socket.socket
    token: str = TOKEN


@pytest.fixture
def keep():
    """Seconds for which closed decisions are kept; None: for ever."""
    return


@pytest.fixture
def running(agent, keep, monkeypatch):
    monkeypatch.setattr(compaction, "PAUSE", 0.01)
    monkeypatch.setattr(connection, "LINGER", 0.1)
    listener, app = bound("127.0.0.1", 0), make_app(agent.file, TOKEN, keep)
    server = server_of(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield Running(f"http://127.0.0.1:{listener.getsockname()[1]}", app, server, listener)
    server.should_exit = True
    thread.join()
    listener.close()


@pytest.fixture
def client(running):
    with httpx.Client(base_url=running.address, headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False) as opened:
        yield opened
