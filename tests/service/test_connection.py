"""Clients that are slow, many, or send too much: they are refused, and the others are answered."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
import subprocess
import sys
import time
from functools import partial

import httpx
import pytest

from logbarrier.service import connection
from logbarrier.service.connection import LARGEST_HEAD, connection_limits

START = b"GET /health HTTP/1.1\r\nHost: agent\r\n"


def connected(running):
    return socket.create_connection(("127.0.0.1", int(running.address.rpartition(":")[2])), timeout=10)


def answer(client):
    """What comes until the service hangs up: the status and the body."""
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := client.recv(65536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def eventually(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def head_of(size):
    return START + b"X: " + b"x" * (size - len(START) - 7) + b"\r\n\r\n"


def test_a_head_at_the_limit_is_read_and_one_above_it_is_refused(running):
    with connected(running) as client:
        client.sendall(head_of(LARGEST_HEAD))
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        client.sendall(head_of(LARGEST_HEAD + 1))
        assert answer(client) == (431, {"error": "service: the head of a request must have at most 16384 bytes"})


@pytest.mark.parametrize("piece", [b"x" * 1000, b"X: x\r\n" * 100], ids=["one header", "many headers"])
def test_a_head_without_end_is_refused(running, piece):
    with connected(running) as client:
        client.sendall(START + (b"X: " if b":" not in piece else b""))
        with contextlib.suppress(ConnectionError):
            for _ in range(10_000):
                client.sendall(piece)
                if running.server.server_state.connections and next(iter(running.server.server_state.connections))._refused:
                    break
        assert answer(client)[0] == 431


@pytest.mark.parametrize("cut", [0, 1, 20_000])
def test_a_body_below_the_limit_is_read_however_it_arrives(running, cut):
    body = b" " * 60_000 + b"{}"
    head = b"POST /decide HTTP/1.1\r\nAuthorization: Bearer secret\r\nContent-Length: %d\r\n\r\n" % len(body)
    with connected(running) as client:
        eventually(lambda: running.server.server_state.connections)
        (served,) = running.server.server_state.connections
        for _ in range(2):
            before, received = served.cycle, b""
            client.sendall(head + body[:cut])
            eventually(lambda before=before: served.cycle is not before)  # the head has been read
            client.sendall(body[cut:])
            while not received.endswith(b"}"):
                received += client.recv(65536)
            assert received.startswith(b"HTTP/1.1 200")


def test_a_body_far_above_the_limit_is_not_read_to_its_end(running):
    with connected(running) as client:
        client.sendall(b"POST /decide HTTP/1.1\r\nHost: agent\r\nContent-Length: 1000000000\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 401")
        with pytest.raises(ConnectionError):
            client.sendall(bytes(1_000_000_000))


@pytest.mark.parametrize(
    "part",
    [b"", b"GET /hea", START, b"POST /decide HTTP/1.1\r\nAuthorization: Bearer secret\r\nContent-Length: 2\r\n\r\n{"],
    ids=["nothing", "line", "head", "body"],
)
def test_a_request_that_does_not_end_in_time_is_refused(running, monkeypatch, part):
    monkeypatch.setattr(connection, "DEADLINE", 0.1)
    with connected(running) as client:
        client.sendall(part)
        assert answer(client) == (408, {"error": "service: a request must arrive within 0.1 seconds"})


def test_a_client_that_does_not_read_is_closed(running, monkeypatch):
    monkeypatch.setattr(connection, "DEADLINE", 0.1)
    monkeypatch.setattr(connection, "LINGER", 0.1)
    running.listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # accepted sockets inherit it
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(running.listener.getsockname())
        client.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: agent\r\n\r\n" * 30)
        eventually(lambda: running.server.server_state.total_requests)
        client.sendall(b"GET /health HTTP/1.1\r\nHost: agent\r\n\r\n")  # one more request is no sign of reading
        eventually(lambda: not running.server.server_state.connections)


def test_requests_that_do_not_await_answers_are_bounded(running):
    with connected(running) as client, contextlib.suppress(ConnectionError):
        client.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: agent\r\n\r\n" * 20_000)
        while client.recv(1_000_000):
            pass
    eventually(lambda: not running.server.server_state.connections)
    assert 0 < running.server.server_state.total_requests < 1000


def test_what_is_not_http_is_refused_in_json(running):
    with connected(running) as client:
        client.sendall(b"\x16\x03\x01 not HTTP\r\n\r\n")
        assert answer(client) == (400, {"error": "service: the request must be HTTP/1.1"})


def test_idle_clients_without_the_token_make_room_for_the_next(running, client, monkeypatch):
    monkeypatch.setattr(connection, "MOST_CONNECTIONS", 4)
    assert client.post("/decide").json()["id"] == 0
    with contextlib.ExitStack() as stack:
        half_open = [stack.enter_context(connected(running)) for _ in range(12)]
        for each in half_open:
            with contextlib.suppress(ConnectionError):
                each.sendall(START)
        kept = {c.client for c in running.server.server_state.connections}
        assert client.post("/decide").json()["id"] == 1  # on the connection of before
        assert {c.client for c in running.server.server_state.connections} & kept
        fresh = httpx.post(f"{running.address}/decide", headers=client.headers, trust_env=False)
        assert fresh.json()["id"] == 2
        eventually(lambda: len(running.server.server_state.connections) <= 4)


@pytest.mark.parametrize("files", [64, 256, 1024, 2**20])
def test_the_limits_leave_files_for_the_rest(monkeypatch, files):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    most, at_once = connection_limits()
    assert most >= 32
    assert at_once >= 4
    assert most + 4 * at_once <= files * 3 / 4


def test_half_open_connections_above_the_file_limit_stop_nothing_and_log_little(tmp_path):
    command = [sys.executable, "-m", "logbarrier", "serve", str(tmp_path / "agent.db"), "--port", "0"]
    words = ["--arms", "a,b", "--rule", "sgb", "--learning-rate", "0.1"]
    limit = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (256, 256))
    environment = {**os.environ, "LOGBARRIER_TOKEN": "word"}
    with (tmp_path / "stderr").open("w") as errors, contextlib.ExitStack() as stack:
        process = subprocess.Popen(
            command + words, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True, preexec_fn=limit
        )
        try:
            address = json.loads(process.stdout.readline())["address"]
            assert httpx.get(f"{address}/health", trust_env=False).status_code == 200
            for _ in range(300):
                half_open = stack.enter_context(socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))))
                with contextlib.suppress(ConnectionError):
                    half_open.sendall(START)
            for number in range(3):
                answered = httpx.post(f"{address}/decide", headers={"Authorization": "Bearer word"}, trust_env=False)
                assert answered.json()["id"] == number
        finally:
            process.kill()
            process.communicate()
    lines = (tmp_path / "stderr").read_text().splitlines()
    assert len(lines) < 30
    assert all({"time", "level", "message"} <= set(json.loads(line)) for line in lines)


def test_an_idle_connection_is_closed_without_a_word(running, monkeypatch):
    monkeypatch.setattr(connection, "KEEP_ALIVE", 0.1)
    with connected(running) as client:
        client.sendall(START + b"\r\n")
        received = b""
        while piece := client.recv(65536):
            received += piece
        assert received.count(b"HTTP/1.1 ") == 1
        assert received.endswith(b'{"status":"ok"}')


def test_a_request_begun_on_a_kept_connection_has_the_whole_deadline(running, monkeypatch):
    monkeypatch.setattr(connection, "KEEP_ALIVE", 0.2)
    monkeypatch.setattr(connection, "DEADLINE", 0.5)
    with connected(running) as client:
        client.sendall(START + b"\r\n")
        assert client.recv(65536).endswith(b'{"status":"ok"}')
        client.sendall(START)
        assert answer(client) == (408, {"error": "service: a request must arrive within 0.5 seconds"})


def test_head_and_body_of_an_answer_are_sent_together(running, monkeypatch):
    sent = []
    write = connection.JoinedWrites.__init__

    def noting(self, transport):
        write(self, transport)
        self._write = lambda data: (sent.append(data), transport.write(data))

    monkeypatch.setattr(connection.JoinedWrites, "__init__", noting)
    with connected(running) as client:
        client.sendall(START + b"\r\n")
        assert client.recv(65536).endswith(b'\r\n\r\n{"status":"ok"}')
    assert len(sent) == 1


def test_a_head_without_a_body_is_sent_at_once(running):
    with connected(running) as client:
        client.sendall(b"HEAD /health HTTP/1.1\r\nHost: agent\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        client.sendall(
            b"POST /decide HTTP/1.1\r\nAuthorization: Bearer secret\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        )
        assert client.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"{}")
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        client.sendall(b"HEAD /health HTTP/1.1\r\nHost: agent\r\nConnection: close\r\n\r\n")
        received = b""
        while piece := client.recv(65536):
            received += piece
        assert received.startswith(b"HTTP/1.1 200")
