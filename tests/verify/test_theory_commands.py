"""The commands verify and tune."""

from __future__ import annotations

import json

import pytest
from command import logbarrier, logbarrier_from_nothing


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_verify_prints_a_row_for_each_statement_within_100_columns():
    from logbarrier.verify import STATEMENTS

    done = logbarrier_from_nothing("verify", "--instances", 20, "--optimised", 1, "--runs", 0)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for statement in STATEMENTS:
        assert any(line.startswith(statement.name) for line in done.stdout.splitlines()), statement.name
    assert "…" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "holds after correction (6)" in done.stdout


def test_verify_prints_json_with_a_witness_and_the_simulated_theorems():
    done = logbarrier("verify", "--instances", 50, "--optimised", 0, "--runs", 1, "--threads", 1, "--seed", 4, "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert {row["verdict"] for row in printed["statements"]} == {"holds", "holds after correction"}
    assert all(row["printed"]["seed"] == 4 and row["printed"]["point"]["theta"] for row in printed["statements"])
    assert {row["statement"] for row in printed["theorems"]} >= {"worst-case complexity", "local convergence", "regret"}
    assert all(row["measured"] < row["bound"] for row in printed["theorems"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["verify", "--instances", "0"], "logbarrier: verify: instances must be at least 1, got 0"),
        (["verify", "--runs", "-1"], "logbarrier: verify: runs must be at least 0, got -1"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(arguments, message):
    done = logbarrier(*arguments)
    assert done.returncode == 2
    assert done.stderr == message + "\n"
    assert done.stdout == ""


OPTIONS = {"arms": 10, "gap": 0.1, "horizon": "2e3", "budget": "2e5", "learning-rate": 0.1, "threads": 1}
TUNE = ["tune", *(word for name, value in OPTIONS.items() for word in (f"--{name}", str(value)))]


def test_tune_prints_a_report_within_100_columns():
    done = logbarrier_from_nothing(*TUNE)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "LogBarrierSGB(learning_rate=0.1, eta=" in done.stdout
    assert "Out of reach" in done.stdout
    assert "<- chosen" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_tune_prints_json_and_draws(tmp_path):
    from logbarrier import planning

    done = logbarrier(*TUNE, "--json", "--plot", tmp_path / "a.png")
    assert done.returncode == 0, done.stderr
    found = planning.tune(10, 0.1, 2000, budget=2e5, learning_rate=0.1, threads=1)
    assert json.loads(done.stdout) == json.loads(json.dumps(found.to_dict()))
    assert (tmp_path / "a.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--gap", "0"], "GapInstances: gap must be positive and finite, got 0.0"),
        (["--arms", "1"], "GapInstances: n_arms must be at least 2, got 1"),
        (["--epsilon", "-1"], "tune: epsilon must be positive and finite, got -1.0"),
        (["--horizon", "1.5"], "tune: horizon must be a whole number, got 1.5"),
        (["--plot", "nowhere/a.png"], "nowhere/a.png: the folder nowhere does not exist"),
        (["--plot", "a.gif"], "plot: the file must end in .png, .pdf or .svg, got 'a.gif'"),
    ],
)
def test_a_mistake_in_tune_is_one_sentence_and_exit_code_2(changes, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = logbarrier(*TUNE, *changes)
    assert done.returncode == 2
    assert done.stderr == f"logbarrier: {message}\n"
    assert done.stdout == ""
