"""`logbarrier serve` when it is refused: one sentence, and no file left behind."""

from __future__ import annotations

import socket

import pytest
from typer.testing import CliRunner

from logbarrier.cli import app

AGENT = ["--arms", "a,b", "--rule", "sgb", "--learning-rate", "0.1"]


def refused(tmp_path, *words):
    result = CliRunner().invoke(app, ["serve", str(tmp_path / "agent.db"), *words])
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []
    return result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (AGENT[2:], "is new, so it needs arms, and a rule or features"),
        (["--seed", "1"], "is new, so it needs arms, and a rule or features"),
        (["--arms", "a,a", *AGENT[2:]], "arms"),
        ([*AGENT, "--floor", "2"], "floor must be at least 0 and below 1, got 2.0"),
        ([*AGENT, "--seed", "-1"], "seed must be"),
        ([*AGENT, "--ttl", "0"], "ttl must be positive"),
        ([*AGENT, "--host", "192.0.2.1", "--port", "0"], "cannot listen on 192.0.2.1"),
        (["--arms", "a,b", "--rule", "nothing"], "nothing"),
        ([*AGENT, "--eta", "1"], "eta"),
    ],
)
def test_a_refused_start_leaves_no_file(tmp_path, words, message):
    assert message in refused(tmp_path, *words)


def test_a_port_in_use_leaves_no_file(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"cannot listen on 127.0.0.1 port {port}" in refused(tmp_path, *AGENT, "--port", port)
