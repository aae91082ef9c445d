"""The store: resume, damaged cells moved, failures noted and retried, one writer, statistics of what is stored."""

from __future__ import annotations

import csv
import random
from dataclasses import replace

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.studies import LocalExecutor, Store, Study, case_of, product, record_of, run, write_summary
from logbarrier.studies.cell import Cell
from logbarrier.studies.status import case_statuses, study_status

ONE = LocalExecutor(1)


def test_a_second_run_computes_nothing(store):
    first, second = run(store, ONE), run(store, ONE)
    assert (first.computed, first.stored) == (6, 0)
    assert (second.computed, second.stored) == (0, 6)


def test_records_are_those_of_simulate(store):
    run(store, LocalExecutor(3))
    for case, rule in zip(
        store.study.cases, (lb.LogBarrierSGB(learning_rate=0.1, eta=100), lb.NPG(learning_rate=0.1)), strict=True
    ):
        expected = lb.simulate(rule, lb.GapInstances(n_arms=4), horizon=100, runs=5, seed=0)
        assert record_of(store, case).digest() == expected.digest()


def test_a_folder_tells_its_study(store):
    run(store, ONE)
    assert Store.open(store.folder).study == store.study
    with pytest.raises(FileNotFoundError, match="no study folder at"):
        Store.open(store.folder / "cells")


@pytest.mark.parametrize("kind", ["truncated", "flipped"])
def test_damage_anywhere_is_set_aside_and_redone(store, kind):
    """200 random places are each noticed. After every tenth the file is moved, and the cell comes back with the same bytes."""
    run(store, ONE)
    cell = store.study.cells()[0]
    path = store.folder / "cells" / f"{cell.id}.npz"
    intact, places = path.read_bytes(), random.Random(1)
    for number in range(200):
        damaged = bytearray(intact[: places.randrange(len(intact))] if kind == "truncated" else intact)
        if kind == "flipped":
            damaged[places.randrange(len(intact))] ^= 1 << places.randrange(8)
        path.write_bytes(damaged)
        assert store.state(cell) == "damaged"
        if number % 10:
            continue
        said: list[str] = []
        outcome = run(store, ONE, warn=said.append)
        assert (outcome.computed, outcome.stored, outcome.damaged) == (1, 5, [cell.id])
        assert f"cell {cell.id} was damaged; it is moved to {store.folder / 'damaged'}" in said[0]
        assert path.read_bytes() == intact
    assert len(list((store.folder / "damaged").iterdir())) == 20


def test_a_larger_study_takes_over_what_a_smaller_one_finished(store, small_study):
    run(store, ONE)
    larger = replace(small_study, runs=6)  # cells of runs 0-1 and 2-3 are the same, 4-5 is not 4
    neighbour = Store(store.folder.parent / larger.folder_name, larger)
    first = small_study.cells()[0]
    (store.folder / "cells" / f"{first.id}.npz").write_bytes(b"damaged, so not taken over")
    outcome = run(neighbour, ONE)
    assert (outcome.stored, outcome.computed) == (3, 3)
    other = small_study.cells()[1]
    assert neighbour.provenance(other) == store.provenance(other)
    assert record_of(neighbour, larger.cases[0]).runs == 6


def test_damage_is_never_used(store):
    run(store, ONE)
    case = store.study.cases[0]
    cell = store.study.cells_of(case)[0]
    (store.folder / "cells" / f"{cell.id}.npz").write_bytes(b"nonsense")
    assert record_of(store, case).runs == 3


def test_force_computes_again_and_only_narrows(store):
    run(store, ONE)
    chosen = store.study.only(["rule=npg"])
    assert run(store, ONE, chosen, force=True).computed == 3
    assert run(store, ONE).stored == 6


def test_a_failure_is_noted_and_retried_on_request(tmp_path, monkeypatch):
    """The cell that fails asks for more memory than there is; the others are computed all the same."""
    good, greedy = lb.GapInstances(n_arms=4), lb.GapInstances(n_arms=10**15)
    study = Study(name="greedy", cases=product([good, greedy], [lb.SGB(learning_rate=0.1)]), horizon=10, runs=2)
    store, said = Store(tmp_path / "greedy", study), []
    outcome = run(store, ONE, warn=said.append)
    bad = study.cells_of(study.cases[1])[0]
    assert (outcome.computed, outcome.failed) == (1, [bad.id])
    assert "MemoryError" in said[0]
    assert "MemoryError" in store.failure(bad)["error"]
    assert store.state(bad) == "failed"
    noted = (store.folder / "failed" / f"{bad.id}.json").stat().st_mtime_ns
    assert run(store, ONE, warn=said.append).failed == [bad.id]
    assert len(said) == 1
    assert (store.folder / "failed" / f"{bad.id}.json").stat().st_mtime_ns == noted
    monkeypatch.setattr(Cell, "simulate", lambda self, threads, progress=None: _small(self))
    again = run(store, ONE, retry=True)
    assert (again.computed, again.stored, again.failed) == (1, 1, [])
    assert store.failure(bad) == {}


def _small(cell):
    return lb.simulate(lb.SGB(learning_rate=0.1), lb.GapInstances(n_arms=4), horizon=cell.horizon, runs=cell.runs)


def test_half_written_files_are_cleared_away(store):
    run(store, ONE)
    leftover = store.folder / "cells" / ".x.npz.123-abc.part"
    leftover.write_bytes(b"half")
    run(store, ONE)
    assert not leftover.exists()


def test_provenance_stands_beside_the_cell(store):
    run(store, ONE)
    made = store.provenance(store.study.cells()[0])
    assert {"engine", "seconds", "threads", "logbarrier", "numpy", "python", "cpu", "host"} <= set(made)
    assert store.manifest()["hash"] == store.study.hash


def test_the_second_writer_hears_who_is_first(store):
    import os

    with store.writing():
        assert f"process {os.getpid()} on" in str(store.holder())
        with pytest.raises(BlockingIOError, match=f"is being written by process {os.getpid()} on .* since 20"):
            run(store, ONE)
    assert store.holder() is None
    assert run(store, ONE).computed == 6


def test_status_counts_states_and_knows_the_time_left(store):
    run(store, ONE, store.study.only(["rule=npg"]))
    cells = store.study.cells_of(store.study.cases[1])
    (store.folder / "cells" / f"{cells[0].id}.npz").write_bytes(b"")
    first, second = case_statuses(store)
    assert first.cells == {"done": 0, "missing": 3, "failed": 0, "damaged": 0}
    assert second.cells == {"done": 2, "missing": 0, "failed": 0, "damaged": 1}
    paces = [store.provenance(cell)["seconds"] / cell.steps for cell in cells[1:]]
    assert first.seconds_left == pytest.approx(max(paces) * 500)  # never timed itself: the slowest of the others
    total = study_status([first, second], cores=2)
    assert total.cells == {"done": 2, "missing": 3, "failed": 0, "damaged": 1}
    assert total.seconds_left == pytest.approx((max(paces) * 500 + np.mean(paces) * 200) / 2)


def test_nothing_finished_means_time_unknown(store):
    assert study_status(case_statuses(store), cores=1).seconds_left is None


def test_the_summary_is_what_the_record_says(store):
    import pyarrow.parquet

    run(store, ONE)
    paths = write_summary(store)
    rows = list(csv.DictReader(paths[0].read_text().splitlines()))
    record = record_of(store, store.study.cases[1])
    low, high = record.interval("regret")
    mine = [row for row in rows if row["rule"] == "npg" and row["metric"] == "regret"]
    assert [float(row["mean"]) for row in mine] == record.mean("regret").tolist()
    assert [(float(row["low"]), float(row["high"])) for row in mine] == list(zip(low.tolist(), high.tolist(), strict=True))
    assert [float(row["q50"]) for row in mine] == record.quantiles("regret", 0.5).tolist()
    stuck = [float(row["mean"]) for row in rows if row["rule"] == "npg" and row["metric"] == "stuck"]
    assert stuck == record.stuck().tolist()
    assert (mine[0]["rule.learning_rate"], mine[0]["rule.eta"], mine[0]["problem.gap"]) == ("0.1", "", "0.1")
    table = pyarrow.parquet.read_table(paths[1]).to_pylist()
    assert [row["mean"] for row in table] == [float(row["mean"]) for row in rows]


def test_every_parameter_has_a_column_and_every_run_a_row(tmp_path):
    """Two problems that differ in gap alone, a schedule, and a scale that is a number here and a list there."""
    import pyarrow.parquet

    problems = [lb.GapInstances(n_arms=3, gap=0.1), lb.GapInstances(n_arms=3, gap=0.2), lb.GaussianBandit([0.0, 1.0], 2.0)]
    rules = [lb.SGB(learning_rate=lb.inverse_sqrt(0.5)), lb.LogBarrierSGB(learning_rate=0.1, eta=9)]
    store = lb.run_study(Study(name="x", problems=problems, rules=rules, horizon=20, runs=3), out=tmp_path).store
    paths = {path.name: path for path in write_summary(store)}
    assert set(paths) == {"summary.csv", "summary.parquet", "runs.csv", "runs.parquet"}
    rows = list(csv.DictReader(paths["runs.csv"].read_text().splitlines()))
    assert len(rows) == 3 * 2 * 3
    assert {row["problem.gap"] for row in rows} == {"0.1", "0.2", ""}
    first = rows[0]
    assert (first["rule.learning_rate.scale"], first["rule.learning_rate.power"], first["rule.learning_rate"]) == (
        "0.5",
        "0.5",
        "",
    )
    assert [row["run"] for row in rows[:3]] == ["0", "1", "2"]
    record = record_of(store, store.study.cases[0])
    assert [float(row["regret"]) for row in rows[:3]] == record["regret"][:, -1].tolist()
    assert [int(row["stuck"]) for row in rows[:3]] == (record["wrong_probability"][:, -1] > 0.5).astype(int).tolist()
    table = pyarrow.parquet.read_table(paths["runs.parquet"]).to_pylist()
    assert {row["problem.scale"] for row in table} == {"1.0", "[2.0, 2.0]"}
    assert {row["rule.eta"] for row in table} == {None, 9.0}


def test_a_case_knows_its_arms():
    assert case_of(lb.BernoulliBandit([0.1, 0.2, 0.3]), lb.SGB(learning_rate=0.1)).n_arms == 3
