"""logbarrier complexity: end to end on a tiny budget, resumed, and refused in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from logbarrier.cli import app

TINY = ["--system", "sgb", "--system", "ucb1", "--runs", "8", "--horizon", "3e4", "--threads", "1", "--quiet"]


def complexity(*arguments):
    return CliRunner().invoke(app, ["complexity", *map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two systems, computed once."""
    out = tmp_path_factory.mktemp("complexity")
    done = complexity(*TINY, "--out", out, "--plot", out / "a.svg")
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(scope="module")
def measured(folder):
    """What --json prints."""
    return json.loads(complexity(*TINY, "--out", folder, "--json").stdout)


def cells(folder):
    return {path: path.stat().st_mtime_ns for path in folder.glob("*/cells/*.npz")}


def test_a_rule_that_serves_every_accuracy_is_simulated_once(folder):
    studies = {path.parts[-3].rpartition("-")[0]: 0 for path in cells(folder)}
    for path in cells(folder):
        studies[path.parts[-3].rpartition("-")[0]] += 1
    assert studies == {
        "complexity-easy": 2,
        "complexity-bad-start-1e-3": 1,  # ucb1 has no start to set
        "complexity-bad-start-1e-5": 1,
        "complexity-near-tie": 2,
    }


def test_resuming_computes_nothing_twice_and_says_the_same_in_100_columns(folder):
    before = cells(folder)
    first, second = (complexity(*TINY, "--out", folder) for _ in range(2))
    assert first.output == second.output
    assert cells(folder) == before
    for manifest in folder.glob("*/manifest.json"):
        assert json.loads(manifest.read_text())["latest_run"]["computed"] == 0
    printed = first.stdout
    assert max(map(len, printed.splitlines())) <= 100
    for words in ("easy", "bad start 1e-3", "bad start 1e-5", "near tie", "sgb", "ucb1*", "8 runs of 30,000 pulls"):
        assert words in printed


def test_json_has_pulls_that_grow_as_epsilon_falls(measured):
    assert len(measured) == 2 * 4 * 2
    by_name = {(one["system"], one["instance"], one["iterate"]): one for one in measured}
    easy = by_name["sgb", "easy", "last"]
    assert easy["pulls"] == sorted(easy["pulls"])
    assert easy["low"] <= easy["slope"] <= easy["high"]
    assert easy["censored"] == 0
    hopeless = by_name["sgb", "bad start 1e-5", "last"]
    assert (hopeless["slope"], hopeless["censored"]) == (None, 6)


def test_a_system_without_preferences_does_the_same_from_a_bad_start(measured):
    ucb = {(one["instance"], one["iterate"]): one for one in measured if one["system"] == "ucb1"}
    assert ucb["bad start 1e-5", "last"]["pulls"] == ucb["easy", "last"]["pulls"]
    assert ucb["bad start 1e-5", "last"]["own_start"]
    assert not ucb["near tie", "last"]["own_start"]


def test_markdown_has_a_row_for_each_system(folder):
    printed = complexity(*TINY, "--out", folder, "--markdown").stdout.splitlines()
    assert [line.split("`")[1] for line in printed[2:]] == ["sgb", "ucb1"]
    assert len({line.count(" | ") for line in (printed[0], *printed[2:])}) == 1
    assert "own start" in printed[3]


def test_the_picture_has_a_row_for_each_family_and_a_column_for_each_instance(folder):
    picture = (folder / "a.svg").read_text()
    for words in ("no regulariser", "outside the paper", "easy", "bad start 1e-3", "bad start 1e-5", "near tie"):
        assert f"<!-- {words} -->" in picture
    assert "<!-- log barrier -->" not in picture
    assert picture.count("<!-- from their own start -->") == 2


def test_a_dry_run_lists_each_study_with_its_own_cases(folder):
    printed = complexity(*TINY, "--system", "npg", "--out", folder, "--dry-run").stdout.splitlines()
    assert [line.split()[0] for line in printed if "cells to compute" in line] == ["1", "1", "1", "1"]
    assert [line.split()[2] for line in printed if "cells to compute" in line] == ["3", "2", "2", "3"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--system", "warp"], "complexity: system must be one of sgb, theory-sgb,"),
        (["--epsilons", "0.1,x"], "complexity: epsilons must be numbers separated by commas, got '0.1,x'"),
        (["--epsilons", "0.1,-1"], "complexity: epsilons must be positive and finite, got -1.0"),
        (["--epsilons", "0.4"], "complexity: epsilons must be below 0.367, where the instance 'near tie' starts, got 0.4"),
        (["--epsilons", "1e-200"], "complexity: epsilons must be at least 1e-09, got 1e-200"),
        (["--horizon", "1.5"], "complexity: horizon must be a whole number, got 1.5"),
        (["--long"], "complexity: give either --long or --horizon"),
        (["--runs", "1"], "complexity: runs must be at least 2, got 1"),
        (["--plot", "a.gif"], "plot: the file must end in .png, .pdf or .svg, got 'a.gif'"),
        (["--plot", "nowhere/a.png"], "nowhere/a.png: the folder nowhere does not exist"),
        (["--json", "--markdown"], "complexity: give either --markdown or --json"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(changes, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = complexity(*TINY, *changes)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_help_does_not_wait_for_the_compiler():
    asked = [sys.executable, "-X", "importtime", "-m", "logbarrier", "complexity", "--help"]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=60)
    assert "numba" not in done.stderr
    assert "--epsilons" in done.stdout
