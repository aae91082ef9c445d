"""logbarrier experiment: on a file, and on the service that has it open."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("starlette", reason="needs the extra 'serve'")

from typer.testing import CliRunner

from logbarrier.cli import app


def run(*words, exit_code=0, token=None):
    result = CliRunner().invoke(app, ["experiment", *words], env={"LOGBARRIER_TOKEN": token})
    assert result.exit_code == exit_code, result.output
    return result.stdout if exit_code == 0 else result.stderr


def test_an_experiment_is_created_changed_and_ended_in_a_file(tmp_path):
    file = str(tmp_path / "decisions.db")
    assert run("create", file, "checkout", "--arms", "a, b,c", "--ttl", "60", "--rule", "sgb", "--learning-rate", "0.1") == (
        "created checkout: 3 arms, rule sgb\n"
    )
    (listed,) = json.loads(run("list", file, "--json"))
    assert (listed["arms"], listed["ttl"], listed["rule"]["learning_rate"]) == (["a", "b", "c"], 60.0, 0.1)
    assert run("pause", file, "checkout") == "checkout: paused\n"
    assert run("start", file, "checkout") == "checkout: on\n"
    assert run("change", file, "checkout", "--baseline", "b") == "checkout: on\n"
    assert "Undecided: there are no rewards yet." in run("summary", file, "checkout")
    assert run("end", file, "checkout", "--winner", "b") == "checkout: ended, winner b\n"
    assert "ended: b" in run("list", file)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["summary", "{file}", "nothing"], "there is no file"),
        (["create", "{file}", "a/b", "--arms", "a,b"], "name must be 1 to 100 letters"),
        (["create", "{file}", "e", "--arms", "a,b", "--rule", "nothing"], "nothing"),
        (["list", "http://127.0.0.1:9"], "does not answer"),
    ],
)
def test_a_wrong_command_ends_with_one_sentence(tmp_path, words, message):
    file = str(tmp_path / "decisions.db")
    error = run(*(word.format(file=file) for word in words), exit_code=2)
    assert message in error
    assert error.count("\n") == 1


def test_a_running_service_is_named_by_its_address(running, client):
    client.post("/experiments", json={"name": "e", "arms": ["a", "b"]})
    assert "default" in run("list", running.address, token=running.token)
    assert run("pause", running.address, "e", token=running.token) == "e: paused\n"
    assert "there is no experiment 'x'" in run("pause", running.address, "x", token=running.token, exit_code=2)
    assert "Authorization" in run("list", running.address, exit_code=2)
