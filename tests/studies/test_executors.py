"""Executors: threads, a local Dask cluster and a running one give the same bytes; a killed worker loses nothing."""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest
from command import Command, logbarrier
from small_study import SMALL, cell_bytes

from logbarrier.studies import LocalExecutor, run
from logbarrier.studies.cluster import DaskExecutor

LONGER = """
horizon = 20_000
runs = 150
runs_per_cell = 1
metrics = ["optimal_probability", "regret"]

[[problems]]
problem = "GapInstances"
n_arms = 40

[[rules]]
rule = "baseline-npg"  # needs every arm at every step, so that no engine is too fast for what follows
learning_rate = 0.1
"""
KILLS = 10


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The small study on two threads."""
    folder = tmp_path_factory.mktemp("reference")
    (folder / "small.toml").write_text(SMALL)
    done = logbarrier("run", folder / "small.toml", "--out", folder, "--threads", 2)
    assert done.returncode == 0, done.stderr
    assert len(cell_bytes(folder)) == 18
    return cell_bytes(folder)


@pytest.mark.parametrize("options", [["--threads", 1], ["--threads", 50], ["--executor", "dask", "--workers", 2]], ids=str)
def test_every_executor_gives_the_same_bytes(small_file, tmp_path, options, reference):
    done = logbarrier("run", small_file, "--out", tmp_path / "out", *options)
    assert done.returncode == 0, done.stderr
    assert cell_bytes(tmp_path / "out") == reference


@pytest.fixture
def cluster(tmp_path):
    """A Dask scheduler and two workers in processes of their own: its address and the scheduler's process."""
    address = f"tcp://127.0.0.1:{free_port()}"
    scheduler = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", address[16:], "--no-dashboard"]
    worker = [sys.executable, "-m", "dask", "worker", address, "--nthreads", "1", "--no-dashboard", "--nworkers", "2",
              "--local-directory", str(tmp_path)]  # fmt: skip
    processes = [subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=tmp_path) for command in (scheduler, worker)]
    try:
        yield address, processes
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(30)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_a_running_cluster_is_joined_shared_and_left_alone_and_its_death_is_one_sentence(
    small_file, tmp_path, reference, cluster
):
    """First by one. Then two compute equal cells; Ctrl-C in one leaves the other's; the scheduler dies under the other."""
    address, (scheduler, workers) = cluster
    done = logbarrier("run", small_file, "--out", tmp_path / "out", "--scheduler", address)
    assert done.returncode == 0, done.stderr
    assert "18 cells computed" in done.stdout
    assert cell_bytes(tmp_path / "out") == reference
    assert (scheduler.poll(), workers.poll()) == (None, None)
    study = tmp_path / "longer.toml"
    study.write_text(LONGER.replace("runs = 150", "runs = 2000").replace("horizon = 20_000", "horizon = 5_000"))
    clients = [Command("run", study, "--out", tmp_path / name, "--scheduler", address) for name in ("one", "other")]
    wait_for_cells(tmp_path / "one", 1)
    wait_for_cells(tmp_path / "other", 1)
    clients[0].send_signal(signal.SIGINT)
    clients[0].communicate(timeout=60)
    assert clients[0].returncode == 130
    wait_for_cells(tmp_path / "other", len(cell_bytes(tmp_path / "other")) + 5)
    assert clients[1].poll() is None
    scheduler.kill()
    _, printed = clients[1].communicate(timeout=60)
    assert clients[1].returncode == 2
    assert printed.startswith(f"logbarrier: DaskExecutor: the scheduler at {address} is gone")
    assert len(printed.splitlines()) == 1


def wait_for_cells(out, number):
    deadline = time.monotonic() + 90
    while len(cell_bytes(out)) < number:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_ten_killed_workers_lose_nothing(tmp_path):
    """kill -9 of a random Dask worker at ten random moments; the cells are those of an undisturbed local run.

    The first two kills leave no worker, and come while workers start: the executor takes seconds to notice that.
    """
    study, moments = tmp_path / "longer.toml", random.Random(2)
    study.write_text(LONGER)
    out = tmp_path / "dask"
    killed = 0
    command = [sys.executable, "-m", "logbarrier", "run", study, "--out", out, "--executor", "dask", "--workers", "2"]
    while killed < KILLS:  # a run may end before all ten are dead; the next one starts afresh
        process = subprocess.Popen([*command, "--force"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and killed < KILLS:
            time.sleep(moments.uniform(0.05, 0.4))
            workers = [worker for worker in _workers(process.pid) if killed < 2 or _has_begun(worker)]
            if workers:
                workers[moments.randrange(len(workers))].kill()
                killed += 1
        _, stderr = process.communicate(timeout=100)
        assert process.returncode == 0, stderr
        assert "Traceback" not in stderr
    assert logbarrier("run", study, "--out", tmp_path / "local").returncode == 0
    assert cell_bytes(out) == cell_bytes(tmp_path / "local")
    assert len(cell_bytes(out)) == 150


def test_a_cell_that_many_workers_died_on_is_computed_all_the_same(tmp_path):
    """Dask itself gives a task up at the fourth death; here one worker after another dies on the only cell."""
    study = tmp_path / "one.toml"
    study.write_text(LONGER.replace("horizon = 20_000", "horizon = 10_000_000").replace("runs = 150", "runs = 1"))
    process = Command("run", study, "--out", tmp_path, "--executor", "dask", "--workers", 1)
    dead = set()
    while len(dead) < 4:
        assert process.poll() is None, "the cell was finished before enough workers died"
        for worker in _workers(process.pid):
            if worker.pid not in dead and _has_begun(worker):
                worker.kill()
                dead.add(worker.pid)
        time.sleep(0.02)
    stdout, stderr = process.communicate(timeout=100)
    assert process.returncode == 0, stderr
    assert "1 cells computed" in stdout


def _has_begun(worker):
    """Whether it has loaded the compiler, as it does for its first cell."""
    try:
        return any("llvmlite" in mapped.path for mapped in worker.memory_maps())
    except psutil.Error:
        return False


def _workers(pid):
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        try:
            if any("spawn_main" in word for word in child.cmdline()):
                found.append(child)
        except psutil.Error:
            continue
    return found


def test_no_scheduler_is_one_sentence(small_file, tmp_path):
    done = logbarrier("run", small_file, "--out", tmp_path / "out", "--scheduler", "tcp://127.0.0.1:1")
    assert done.returncode == 2
    assert "logbarrier: DaskExecutor: no scheduler answers at tcp://127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr


def test_workers_and_scheduler_exclude_one_another():
    with pytest.raises(ValueError, match="DaskExecutor: give either workers or scheduler"):
        DaskExecutor(workers=2, scheduler="tcp://127.0.0.1:8786")


def test_closing_early_stops_the_rest(store):
    executor = LocalExecutor(1)
    results = executor.compute(store.study.cells(), lambda steps: None)
    next(results)
    results.close()
    assert run(store, executor).computed == 6


def test_progress_adds_up_to_all_steps(store):
    shown = []
    run(store, LocalExecutor(2), progress=lambda done, total: shown.append((done, total)))
    assert shown[-1] == (1000, 1000)
    assert sorted(shown) == shown
