"""The command verify."""

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
