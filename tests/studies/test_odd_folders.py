"""What lies in and around a study's folder does no harm: locks, neighbours, odd names, folders where files should be."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import threading

import numpy as np
import pytest
from command import logbarrier, logbarrier_from_nothing
from small_study import SMALL

import logbarrier as lb
from logbarrier.studies import LocalExecutor, Store, Study, read_study, record_of, run, study_as_toml
from logbarrier.studies.status import case_statuses, seconds_of

ONE = LocalExecutor(1)
RULE = lb.SGB(learning_rate=0.1)


def test_someone_who_only_looks_stops_no_run(store):
    """`status` holds a shared lock for a moment; here one is held for as long as three hundred of them."""
    store.folder.mkdir()
    looked = (store.folder / ".lock").open("w")
    fcntl.flock(looked, fcntl.LOCK_SH)
    threading.Timer(0.3, looked.close).start()
    with store.writing():
        pass


def test_a_lock_that_is_a_link_is_refused_and_its_target_kept(store, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("do not truncate me")
    store.folder.mkdir()
    (store.folder / ".lock").symlink_to(precious)
    with pytest.raises(OSError, match=r"\.lock cannot be opened as a lock file: it is a link; remove it and run again"):
        run(store, ONE)
    assert precious.read_text() == "do not truncate me"


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_lock_that_is_no_file_is_one_sentence(store, kind):
    store.folder.mkdir()
    lock = store.folder / ".lock"
    os.mkfifo(lock) if kind == "pipe" else lock.mkdir()
    with pytest.raises(OSError, match=r"\.lock cannot be opened as a lock file: .*; remove it and run again"):
        run(store, ONE)
    assert store.holder() is None


def test_a_neighbour_that_cannot_be_read_is_passed_by(store):
    cell = store.study.cells()[0]
    (store.folder.parent / "neighbour" / "cells" / f"{cell.id}.npz").mkdir(parents=True)
    assert run(store, ONE).computed == 6


def test_a_folder_in_the_place_of_a_cell_is_damage(store):
    run(store, ONE)
    path = store.folder / "cells" / f"{store.study.cells()[0].id}.npz"
    path.unlink()
    path.mkdir()
    assert case_statuses(store)[0].cells["damaged"] == 1
    outcome = run(store, ONE)
    assert (outcome.computed, len(outcome.damaged)) == (1, 1)
    assert path.is_file()


@pytest.mark.parametrize(
    "odd",
    ['{"seconds": "fast"}', '{"seconds": null}', '{"seconds": [1]}', "[1, 2]", '{"seconds": NaN}', "no JSON", "[" * 100_000],
    ids=lambda text: text[:20],
)
def test_odd_provenance_only_costs_the_time_it_tells(store, odd):
    run(store, ONE)
    for cell in store.study.cells():
        (store.folder / "cells" / f"{cell.id}.json").write_text(odd)
    assert [status.cells["done"] for status in case_statuses(store)] == [3, 3]
    assert record_of(store, store.study.cases[0]).provenance["seconds"] == 0


def test_costs_leave_the_compiler_out():
    assert seconds_of({"seconds": 5.0, "compile_seconds": 4.0}) == 1.0
    assert seconds_of({"seconds": 5.0}) == 5.0
    assert seconds_of({"seconds": 5.0, "compile_seconds": "long"}) is None


@pytest.mark.parametrize("name", ["a\x1b[31m", "a\x7f", "a\nb", "a/b", ".a", "", "a" * 201, "ü" * 101])
def test_a_name_is_fit_for_folders_files_and_terminals(name):
    with pytest.raises(ValueError, match="Study: name must be"):
        Study(name=name, problems=[lb.GapInstances(n_arms=3)], rules=[lb.SGB(learning_rate=0.1)], horizon=10)


def test_the_longest_name_that_is_taken_makes_a_folder(tmp_path):
    study = Study(name="a" * 200, problems=[lb.GapInstances(n_arms=3)], rules=[lb.SGB(learning_rate=0.1)], horizon=10, runs=1)
    assert lb.run_study(study, out=tmp_path).folder.is_dir()


def test_every_study_is_written_as_toml(small_study, tmp_path):
    """U+007F is the one character that JSON leaves bare and TOML forbids; a rule's own words may hold it."""
    from logbarrier.studies.study_file import _toml

    path = tmp_path / "x.toml"
    path.write_text(study_as_toml(small_study).replace('"small"', _toml("sm\x7fall")))
    with pytest.raises(ValueError, match="Study: name must be a valid folder name"):
        read_study(path)


def test_status_names_and_skips_what_it_cannot_read(small_file, tmp_path):
    out = tmp_path / "out"
    good = read_study(small_file).study
    with Store(out / good.folder_name, good).writing():
        pass
    for number, text in enumerate(
        ("name = \x7f", SMALL.replace('"npg"', '"from-the-future"'), SMALL.replace('"npg"', '"gone.py:Rule"'))
    ):
        (out / f"bad\x1b{number}").mkdir()
        (out / f"bad\x1b{number}" / "study.toml").write_text(text)
    (out / "older").mkdir()
    (out / "older" / "study.toml").write_text(SMALL)
    (out / "older" / "manifest.json").write_text(json.dumps({"hash": "0a1b2c3d", "logbarrier": "0.1"}))
    done = logbarrier("status", "--out", out)
    assert done.returncode == 0
    assert good.folder_name in done.stdout
    printed = done.stderr.splitlines()
    assert len(printed) == 4
    assert "\x1b" not in done.stderr
    assert "bad\\x1b0 is left out: is not TOML" in printed[0]
    assert "rule must be one of" in printed[1]
    assert "gone.py: there is no such file" in printed[2]
    assert "made by other code (logbarrier 0.1" in printed[3]
    assert len(json.loads(logbarrier("status", "--out", out, "--json").stdout)) == 5


def test_a_full_stdout_is_one_sentence():
    with open("/dev/full", "w") as full:
        done = logbarrier_from_nothing("--help", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == "logbarrier: cannot write the output: No space left on device\n"


def test_too_many_threads_are_refused_in_one_sentence(small_file, tmp_path):
    done = logbarrier("run", small_file, "--threads", 10**6, "--out", tmp_path)
    assert done.returncode == 2
    assert done.stderr == "logbarrier: LocalExecutor: threads must be between 1 and 1024, got 1000000\n"


@pytest.mark.parametrize(
    ("who", "compute"),
    [
        ("LocalExecutor", lambda store: run(store, LocalExecutor(6))),
        ("simulate", lambda store: lb.simulate(RULE, lb.GaussianBandit([0.1, 0.2]), horizon=10, runs=9, threads=6)),
    ],
)
def test_threads_that_the_system_refuses_are_one_sentence(store, monkeypatch, who, compute):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(ValueError, match=f"{who}: this system cannot start that many threads; set threads to fewer"):
        compute(store)


def test_a_file_in_the_place_of_the_folder_is_one_sentence(small_file, tmp_path):
    (tmp_path / "out").write_text("a file")
    done = logbarrier("run", small_file, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "cannot make the folder" in done.stderr
    assert "make room" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["cells", "failed"])
def test_a_file_in_the_place_of_a_folder_is_named(store, name):
    store.folder.mkdir()
    (store.folder / name).write_text("a file")
    with pytest.raises(OSError, match=f"cannot make the folder {store.folder / name}: File exists"):
        run(store, ONE)


def test_a_folder_given_as_study_file_is_one_sentence(tmp_path):
    done = logbarrier("run", tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"logbarrier: {tmp_path}: cannot be read: Is a directory\n"


@pytest.fixture
def record():
    return lb.Record(np.array([0, 1]), {"regret": np.zeros((2, 2))}, {}, {})


def test_saving_to_a_pipe_writes_into_it(record, tmp_path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    record.save(pipe)
    reader.join(10)
    (tmp_path / "copy.npz").write_bytes(got[0])
    assert lb.Record.load(tmp_path / "copy.npz").digest() == record.digest()
    assert pipe.is_fifo()


def test_saving_to_a_link_writes_what_it_points_to(record, tmp_path):
    link = tmp_path / "link.npz"
    link.symlink_to(tmp_path / "target.npz")
    record.save(link)
    assert link.is_symlink()
    assert lb.Record.load(tmp_path / "target.npz").digest() == record.digest()


def test_the_longest_file_name_can_be_saved(record, tmp_path):
    assert record.save(tmp_path / ("a" * 255)).is_file()
