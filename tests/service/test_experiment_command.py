"""logbarrier experiment: on a file, and on the service that has it open."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra 'serve'")

from typer.testing import CliRunner

import logbarrier as lb
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


def logged(path):
    """40 decisions; of the first ten, c had not come yet."""
    with lb.Experiments(path) as experiments:
        experiment = experiments.create("e", arms=["a", "b"], floor=0.5)
        for t in range(40):
            if t == 10:
                experiment.add_arm("c")
            decision = experiment.ask()
            experiment.tell(decision, float(decision.arm == "c"))
        return lb.Log.from_rows(experiment.log())


@pytest.mark.filterwarnings("ignore::logbarrier.agent.off_policy.OffPolicyWarning")
def test_the_value_of_another_policy_counts_the_decisions_at_which_it_could_act(tmp_path):
    file = tmp_path / "decisions.db"
    log = logged(file)
    found = json.loads(run("value", str(file), "e", "--always", "c", "--json"))
    after = log.only(np.arange(40) >= 10)
    truth = lb.doubly_robust(after, "c")
    assert (found["decisions"], found["rewarded"]) == (30, 40)
    assert [found[key] for key in ("mean", "low", "high")] == [truth.mean, truth.low, truth.high]
    assert "at 10 all were missing" in found["doubt"]
    assert "from 30 of 40 decisions with a reward" in run("value", str(file), "e", "--always", "c")
    table = tmp_path / "policy.csv"
    table.write_text("id,arm,probability\n" + "".join(f"{i},a,0.5\n{i},b,0.5\n" for i in range(40)))
    found = json.loads(run("value", str(file), "e", "--policy", str(table), "--json"))
    assert found["mean"] == lb.doubly_robust(log, {"a": 0.5, "b": 0.5}).mean
    with lb.Experiments(file) as experiments:
        assert experiments["e"].value("c").mean == truth.mean


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["summary", "{file}", "nothing"], "there is no file"),
        (["create", "{file}", "a/b", "--arms", "a,b"], "name must be 1 to 100 letters"),
        (["create", "{file}", "e", "--arms", "a,b", "--rule", "nothing"], "nothing"),
        (["list", "http://127.0.0.1:9"], "does not answer"),
        (["value", "{file}", "e"], "value takes one of --always and --policy"),
        (["value", "http://127.0.0.1:9", "e", "--policy", "p.csv"], "reads the file of decisions"),
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
    assert "set LOGBARRIER_TOKEN" in run("list", running.address, exit_code=2)


@pytest.mark.parametrize("words", [("pause", "e"), ("end", "e", "--winner", "a"), ("value", "e", "--always", "a")])
def test_only_creating_an_experiment_makes_a_file(tmp_path, words):
    file = tmp_path / "nowhere.db"
    assert run(words[0], str(file), *words[1:], exit_code=2) == f"logbarrier: experiment: there is no file {file}\n"
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_a_service_has_open_is_refused_with_what_to_name_in_its_place(tmp_path):
    file = tmp_path / "decisions.db"
    with lb.Experiments(file):
        error = run("value", str(file), "e", "--always", "a", exit_code=2)
    assert "name the address that 'logbarrier serve' printed in place of the file" in error
    assert f"Set LOGBARRIER_TOKEN to what is in {file}.token" in error
    assert error.count("\n") == 1


def test_a_running_service_estimates_the_value_of_another_policy(running, client):
    for _ in range(20):
        decision = client.post("/decide", json={}).json()
        client.post("/reward", json={"id": decision["id"], "reward": float(decision["arm"] == "a")})
    log = lb.Log.from_rows(json.loads(line) for line in client.get("/log").text.splitlines())
    answer = client.post("/value", json={"policy": {"a": 0.5, "b": 0.5}}).json()
    assert answer["mean"] == lb.doubly_robust(log, {"a": 0.5, "b": 0.5}, warn=False).mean
    assert "20 of 20 decisions with a reward" in run("value", running.address, "default", "--always", "a", token=running.token)
    for body, message in (
        ({}, "exactly one of the fields always and policy"),
        ({"always": "x"}, "the log has no arm 'x'"),
        ({"policy": {"a": 0.5}}, "must be probabilities that sum to 1"),
    ):
        refused = client.post("/value", json=body)
        assert (refused.status_code, message in refused.json()["error"]) == (400, True)
    client.post("/experiments", json={"name": "new", "arms": ["a", "b"]})
    assert "at least 2 decisions with a reward" in client.post("/experiments/new/value", json={"always": "a"}).json()["error"]
