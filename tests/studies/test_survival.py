"""What a study survives: kill -9 at any moment, Ctrl-C, a full disk, a second writer."""

from __future__ import annotations

import json
import random
import resource
import signal
import time

from command import Command, logbarrier, logbarrier_from_nothing
from small_study import cell_bytes

KILLS = 10
STUDY = """
horizon = 40_000
runs = 200
runs_per_cell = 1
metrics = ["optimal_probability", "regret"]

[[problems]]
problem = "GapInstances"
n_arms = 60

[[rules]]
rule = "baseline-npg"  # needs every arm at every step, so that no engine is too fast for what follows
learning_rate = 0.1
"""


def start(study, out, *options):
    return Command("run", study, "--out", out, "--threads", 1, *options)


def number_of_cells(out):
    return sum(1 for _ in out.glob("*/cells/*.npz"))


def wait_until_it_computes(process, out):
    """Until the cells grow in number, so that what follows comes in the middle of the work."""
    before, deadline = number_of_cells(out), time.monotonic() + 60
    while number_of_cells(out) == before:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_ten_kills_change_no_byte_and_lose_no_cell(tmp_path):
    study, out, moments = tmp_path / "study.toml", tmp_path / "killed", random.Random(3)
    study.write_text(STUDY)
    for _ in range(KILLS):
        process = start(study, out)
        wait_until_it_computes(process, out)
        time.sleep(moments.uniform(0.0, 0.05))
        finished = cell_bytes(out)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert finished.items() <= cell_bytes(out).items()
    stored = len(cell_bytes(out))
    assert KILLS <= stored < 200
    resumed = logbarrier("run", study, "--out", out)
    assert f"{200 - stored} cells computed" in resumed.stdout
    assert f"{stored} were stored" in resumed.stdout
    assert resumed.stderr == ""
    assert logbarrier("run", study, "--out", tmp_path / "calm").returncode == 0
    assert cell_bytes(out) == cell_bytes(tmp_path / "calm")
    assert not list(out.rglob("*.part"))
    assert not list(out.rglob("damaged"))


def test_ctrl_c_stops_with_130_and_says_how_to_go_on(tmp_path):
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(STUDY)
    process = start(study, out)
    wait_until_it_computes(process, out)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stderr == f"logbarrier: stopped; finished cells are kept; 'logbarrier run {study}' goes on from there\n"
    stored = len(cell_bytes(out))
    assert json.loads(logbarrier("status", study, "--out", out, "--json").stdout)[0]["done"] == stored


def test_ctrl_c_does_not_wait_for_a_long_cell(tmp_path):
    """The cells would take hours; without a stop in the middle of one the process outlives the 30 seconds it gets."""
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(STUDY.replace("horizon = 40_000", "horizon = 4_000_000_000").replace("runs = 200", "runs = 2"))
    process = start(study, out)
    while not (list(out.glob("*/.lock")) and next(out.glob("*/.lock")).read_text()):
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    try:
        _, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "goes on from there" in stderr


def test_ctrl_c_stops_a_cluster_too(tmp_path):
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(STUDY)
    process = start(study, out, "--executor", "dask", "--workers", "1")
    wait_until_it_computes(process, out)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "goes on from there" in stderr
    assert "Traceback" not in stderr


def test_the_second_run_hears_who_holds_the_lock(tmp_path):
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(STUDY.replace("horizon = 40_000", "horizon = 400_000"))
    first = start(study, out)
    wait_until_it_computes(first, out)
    second = logbarrier("run", study, "--out", out)
    status = logbarrier("status", study, "--out", out)
    first.kill()
    first.communicate()
    assert second.returncode == 2
    assert f"is being written by process {first.pid} on" in second.stderr
    assert len(second.stderr.splitlines()) == 1
    assert f"is being written by process {first.pid} on" in status.stdout


def test_a_full_disk_is_one_sentence_and_earlier_cells_stay(tmp_path):
    """Files may grow to 20 kB: cells of 2 runs fit, the ones of 100 runs do not."""
    small, out = tmp_path / "small.toml", tmp_path / "out"
    small.write_text(
        STUDY.replace("horizon = 40_000", "horizon = 400")
        .replace("runs = 200", "name = 'full'\nruns = 4")
        .replace("runs_per_cell = 1", "runs_per_cell = 2")
    )
    assert logbarrier("run", small, "--out", out).returncode == 0
    before = cell_bytes(out)
    folder = next(out.iterdir())
    small.write_text(small.read_text().replace("runs_per_cell = 2", "runs_per_cell = 100").replace("runs = 4", "runs = 100"))
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))  # noqa: E731
    done = logbarrier_from_nothing("run", small, "--out", out, preexec_fn=limit)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "logbarrier: cannot write" in done.stderr
    assert "File too large; finished cells are kept; fix this and run the same command again" in done.stderr
    assert cell_bytes(folder) == before
    assert cell_bytes(out) == before
    assert not list(out.rglob("*.part"))
    assert logbarrier("run", small, "--out", out).returncode == 0


FAILING = """
import sys
from dataclasses import dataclass
import numpy as np
import logbarrier as lb
from logbarrier.engine.compiled import compiled
@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    while hyper[0] == 2.0 and memory.count >= 0.0:
        memory.count += 1.0
    return 0.1 * reward + (np.nan if hyper[0] == 1.0 and t == 17 else 0.0), 0.1 * reward
@dataclass(frozen=True, kw_only=True)
class UserDefined(lb.TwoScalarRule):
    name, place, lift_and_drain, memory = "user-defined", "here", staticmethod(lift_and_drain), ("count",)
    kind: float
    def hyper(self, n_arms):
        if self.kind == 3.0:
            sys.exit(0)
        return (self.kind,)
"""


def own_study(folder, *kinds):
    (folder / "own_rule.py").write_text(FAILING)
    study = folder / "study.toml"
    study.write_text(
        'horizon = 50\nruns = 2\n[[problems]]\nproblem = "GapInstances"\nn_arms = 5\n'
        f'[[rules]]\nrule = "own_rule.py:UserDefined"\nkind = {list(kinds)}\n'
    )
    return study


def test_cells_of_a_rule_without_a_number_or_with_sys_exit_fail_and_the_others_are_kept(tmp_path):
    out = tmp_path / "out"
    done = logbarrier("run", own_study(tmp_path, 0.0, 1.0, 3.0), "--out", out)
    assert done.returncode == 1
    assert "failed: simulate: user-defined returned a lift or drain that is not finite at step 17" in done.stderr
    assert "failed: SystemExit: user-defined code called sys.exit(0)" in done.stderr
    assert "2 cells failed" in done.stderr
    assert number_of_cells(out) == 1


def test_sys_exit_in_a_file_of_rules_is_a_failure(tmp_path):
    study = own_study(tmp_path, 0.0)
    (tmp_path / "own_rule.py").write_text("import sys\nsys.exit(0)\n")
    done = logbarrier("run", study, "--out", tmp_path / "out")
    assert done.returncode != 0
    assert "sys.exit" in done.stderr or "SystemExit" in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_a_study_whose_rule_never_returns_and_keeps_what_is_done(tmp_path):
    out = tmp_path / "out"
    process = start(own_study(tmp_path, 0.0, 2.0), out)
    while number_of_cells(out) == 0:
        assert process.poll() is None
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "finished cells are kept" in stderr
    assert number_of_cells(out) == 1
