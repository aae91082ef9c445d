"""A stored study in Python: one frame of all results, its status, and slow rules first."""

from __future__ import annotations

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.studies import LocalExecutor, Store, run
from logbarrier.studies.run import _slow_first
from logbarrier.studies.status import case_statuses

pytest.importorskip("pandas", reason="pandas is not installed")


def study(**changes):
    rules = [lb.SGB(learning_rate=0.1), lb.LogBarrierSGB(learning_rate=0.1, eta=100.0)]
    asked = {"horizon": 40, "runs": 4, "runs_per_cell": 2, "checkpoints": 3, "metrics": ["regret"], **changes}
    return lb.Study(name="two", problems=[lb.GapInstances(n_arms=n) for n in (3, 5)], rules=rules, **asked)


def test_a_loaded_study_is_one_frame_of_every_run_and_checkpoint(tmp_path):
    done = lb.run_study(study(), out=tmp_path, threads=1)
    loaded = lb.load_study(done.folder)
    frame = loaded.to_frame()
    assert len(frame) == 4 * 4 * 3
    assert list(frame.columns[-3:]) == ["run", "step", "regret"]
    chosen = frame[(frame["rule"] == "log-barrier-sgb") & (frame["n_arms"] == 5) & (frame["step"] == 40)]
    record = next(r for case, r in loaded.records() if case.rule["rule"] == "log-barrier-sgb" and case.sizes == {"n_arms": 5})
    assert np.array_equal(chosen["regret"], record["regret"][:, -1])
    assert set(chosen["rule.eta"]) == {100.0}
    assert (loaded.outcome.stored, loaded.outcome.computed, loaded.status().cells["done"]) == (8, 0, 8)
    assert loaded.status().seconds_left == 0.0


def test_a_study_without_results_has_no_frame(tmp_path):
    asked = study()
    store = Store(tmp_path / asked.folder_name, asked)
    with store.writing():
        pass
    with pytest.raises(ValueError, match="has no finished cell; run the study first"):
        lb.load_study(store.folder).to_frame()
    with pytest.raises(FileNotFoundError, match="no study folder at"):
        lb.load_study(tmp_path / "nowhere")


def test_slow_rules_come_first_and_those_never_timed_before_them(tmp_path):
    asked = study()
    store = Store(tmp_path / asked.folder_name, asked)
    run(store, LocalExecutor(threads=1), asked.cases[:2], up_to=2)
    for case, seconds in zip(asked.cases[:2], (1.0, 30.0), strict=True):
        cell = asked.cells_of(case)[0]
        store.write(cell, (store.folder / "cells" / f"{cell.id}.npz").read_bytes(), {"seconds": seconds})
    left = [cell for cell in asked.cells() if store.state(cell) == "missing"]
    order = [asked.cases.index(cell.case) for cell in _slow_first(store, left)]
    assert order == [2, 3, 2, 3, 1, 0]
    statuses = case_statuses(store)
    assert [one.seconds_left for one in statuses[:2]] == [1.0, 30.0]
    assert [one.seconds_left for one in statuses[2:]] == [2.0, 60.0]  # the same rule on another problem tells


def test_labels_and_layout_change_no_cell_and_survive_the_folder(tmp_path):
    named = study(labels={"log-barrier-sgb": "LB-SGB", "sgb": "plain PG"}, figure={"columns": "n_arms"})
    assert named.hash == study().hash
    assert [named.rule_label(case) for case in named.cases[:2]] == ["plain PG", "LB-SGB"]
    folder = lb.run_study(named, out=tmp_path, threads=1).folder
    assert lb.load_study(folder).study.labels == {"log-barrier-sgb": "LB-SGB", "sgb": "plain PG"}
    with pytest.raises(ValueError, match="Study: figure key must be one of rows, columns, metric, got 'row'"):
        study(figure={"row": "n_arms"})
