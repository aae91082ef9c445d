"""run and status on the command line: what they print, what wins, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import logbarrier, logbarrier_from_nothing
from small_study import SMALL, cell_bytes

# Every rule runs in test_cli and every environment in test_environments; that a whole file can be read is seen here.
FEW = {"all-systems": ["--only", "rule=ucb1"], "exploration": ["--only", "problem=RiverSwim"]}
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


def test_run_says_where_and_status_how_far(small_file, tmp_path):
    done = logbarrier_from_nothing("run", small_file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    folder = done.stdout.partition(":")[0]
    assert f"{folder}: 18 cells computed in" in done.stdout
    assert f"next: logbarrier report {folder}" in done.stdout
    table = logbarrier_from_nothing("status", cwd=tmp_path)
    assert table.stdout.splitlines()[1].split() == [folder, "18", "0", "0", "0", "0", "s"]
    whole = logbarrier("status", folder, cwd=tmp_path)
    assert whole.stdout.splitlines()[-1].split() == ["all", "18", "0", "0", "0", "0", "s"]
    assert max(map(len, whole.stdout.splitlines())) <= 100
    assert json.loads(logbarrier("status", small_file, "--json", cwd=tmp_path).stdout)[0]["done"] == 18


def test_dry_run_lists_and_does_nothing(small_file, tmp_path):
    done = logbarrier("run", small_file, "--dry-run", "--only", "n_arms=3", "--out", tmp_path / "out")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 3 + 1  # a line per curve
    assert all("6 runs in 3 cells (missing)" in line for line in done.stdout.splitlines()[:3])
    assert "9 of 9 cells to compute" in done.stdout
    assert not (tmp_path / "out").exists()


def test_only_runs_a_part_and_the_rest_follows(small_file, tmp_path):
    assert "9 cells computed" in logbarrier("run", small_file, "--only", "n_arms=3", "--out", tmp_path / "out").stdout
    assert "9 cells computed" in logbarrier("run", small_file, "--out", tmp_path / "out").stdout
    assert len(cell_bytes(tmp_path / "out")) == 18


@pytest.mark.parametrize(
    ("flag", "environment", "file", "expected"),
    [(2, "4", "runs = 6", 2), (None, "4", "runs = 6", 4), (None, None, "runs = 6", 6), (None, None, "", 100)],
    ids=["flag", "environment", "file", "default"],
)
def test_flags_beat_environment_beats_file_beats_default(tmp_path, flag, environment, file, expected):
    path = tmp_path / "study.toml"
    path.write_text(SMALL.replace("runs = 6", file, 1))
    options = [] if flag is None else ["--runs", flag]
    env = {} if environment is None else {"LOGBARRIER_RUNS": environment}
    done = logbarrier("run", path, "--dry-run", "--json", "--out", tmp_path / "out", *options, env=env)
    assert max(cell["runs"][1] for cell in json.loads(done.stdout)[0]["cells"]) == expected - 1


@pytest.mark.parametrize(
    ("flag", "environment", "file", "expected"),
    [("a", "b", "c", "a"), (None, "b", "c", "b"), (None, None, "c", "c"), (None, None, None, "runs")],
    ids=["flag", "environment", "file", "default"],
)
def test_so_does_the_place_of_execution(tmp_path, flag, environment, file, expected):
    (tmp_path / "study.toml").write_text(SMALL + ("" if file is None else f'\n[execution]\nout = "{file}"\n'))
    options = [] if flag is None else ["--out", flag]
    env = {} if environment is None else {"LOGBARRIER_OUT": environment}
    done = logbarrier("run", "study.toml", "--dry-run", "--json", *options, env=env, cwd=tmp_path)
    assert Path(json.loads(done.stdout)[0]["folder"]).parent == Path(expected)


def test_the_resolved_study_is_saved(small_file, tmp_path):
    logbarrier("run", small_file, "--runs", 2, "--out", tmp_path / "out")
    saved = next((tmp_path / "out").glob("*/study.toml"))
    again = logbarrier("run", saved, "--out", tmp_path / "out")
    assert "0 cells computed" in again.stdout
    assert "6 were stored" in again.stdout


def test_failed_cells_end_with_1_and_status_says_why(tmp_path):
    path = tmp_path / "greedy.toml"
    path.write_text(SMALL.replace("n_arms = [3, 5]", "n_arms = [3, 1_000_000_000_000_000]"))
    done = logbarrier("run", path, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "9 cells failed; 'logbarrier status' says why, the same command with --retry tries them again" in done.stderr
    assert "Traceback" not in done.stderr
    folder = next((tmp_path / "out").iterdir())
    status = logbarrier("status", folder)
    assert status.stdout.count("MemoryError") == 9
    assert logbarrier("run", path, "--out", tmp_path / "out").returncode == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nowhere.toml"], "nowhere.toml: there is no such study file"),
        (["run", "small.toml", "--only", "speed=1"], "only: must be KEY=VALUE with a key from"),
        (["run", "small.toml", "--executor", "slurm"], "executor: must be local or dask, got 'slurm'"),
        (["run", "small.toml", "--executor", "local", "--workers", "2"], "workers and scheduler need the dask executor"),
        (["run", "small.toml", "--threads", "0"], "LocalExecutor: threads must be between 1 and 1024, got 0"),
        (["run", "small.toml", "--runs", "0"], "small.toml: Study: runs must be between 1 and"),
        (["status"], "status: no study in runs; 'logbarrier run STUDY.toml' makes one"),
        (["status", "small"], "small: there is no such study file"),
        (["report", "small"], "no study folder at small"),
        (["reproduce", "figure-9"], "reproduce: must be one of figure-1, baselines, eta, got 'figure-9'"),
        (["reproduce", "--horizon", "short"], "reproduce: horizon must be one of printed, long, got 'short'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_sentence_and_exit_code_2(small_file, tmp_path, arguments, message):
    done = logbarrier(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path, tmp_path):
    done = logbarrier("run", path, "--horizon", 50, "--runs", 2, "--out", tmp_path, *FEW.get(path.stem, []))
    assert done.returncode == 0, done.stderr
    report = logbarrier("report", next(tmp_path.iterdir()))
    assert report.returncode == 0, report.stderr
