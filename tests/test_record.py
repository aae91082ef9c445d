"""Record: statistics against scipy, files that are whole or not there."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import logbarrier as lb


@pytest.fixture(scope="module")
def record():
    return lb.simulate(lb.SGB(learning_rate=0.1), lb.GapInstances(n_arms=5), horizon=200, runs=12, seed=0, checkpoints=5)


def test_interval_is_students_t(record):
    values = record["regret"][:, -1]
    expected = stats.t.interval(0.9, len(values) - 1, values.mean(), stats.sem(values))
    low, high = record.interval("regret", level=0.9)
    assert (low[-1], high[-1]) == pytest.approx(expected)


def test_interval_of_one_run_is_infinite():
    single = lb.simulate(lb.SGB(learning_rate=0.1), lb.GapInstances(n_arms=5), horizon=5, runs=1)
    low, high = single.interval("regret")
    assert (low == -np.inf).all()
    assert (high == np.inf).all()
    json.loads(json.dumps(single.to_dict(), allow_nan=False))


def test_one_run_is_printed_without_intervals():
    text = repr(lb.simulate(lb.SGB(learning_rate=0.1), lb.GapInstances(n_arms=5), horizon=5, runs=1))
    assert "1 run (which has no interval), horizon 5" in text
    assert "[" not in text
    assert "inf" not in text


def test_a_loaded_record_cuts_its_intervals_like_the_one_that_was_saved(tmp_path):
    share = np.array([[1.0], [0.0], [0.0], [0.0]])
    for ranges, least in (({"share": (0.0, 1.0)}, 0.0), ({"share": (-0.1, np.inf)}, -0.1), ({}, -0.545)):
        record = lb.Record(np.array([0]), {"share": share}, {}, {}, ranges)
        loaded = lb.Record.load(record.save(tmp_path / "a.npz"))
        assert record.interval("share")[0] == loaded.interval("share")[0] == pytest.approx([least], abs=1e-3)


def test_quantiles_and_stuck_fraction(record):
    assert record.quantiles("entropy", 0.5) == pytest.approx(np.median(record["entropy"], axis=0))
    assert record.quantiles("entropy", [0.1, 0.9]).shape == (2, len(record.steps))
    assert record.stuck_fraction() == (record["wrong_probability"][:, -1] > 0.5).mean()
    assert record.stuck_fraction(threshold=0.0) == 1.0


def test_save_and_load_give_the_same_record(record, tmp_path):
    path = record.save(tmp_path / "a.npz")
    loaded = lb.Record.load(path)
    assert loaded.digest() == record.digest()
    assert loaded.settings == record.settings
    assert loaded.provenance == record.provenance
    assert list(tmp_path.iterdir()) == [path]


def test_a_frame_has_a_row_per_run_and_checkpoint(record, tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = record.to_frame()
    assert list(frame.columns) == ["run", "step", *record.metrics]
    assert len(frame) == record.runs * len(record.steps)
    by_step = frame.groupby("step")["regret"].mean()
    assert by_step.to_numpy() == pytest.approx(record.mean("regret"))
    assert frame[frame["run"] == 3]["entropy"].to_numpy() == pytest.approx(record["entropy"][3])
    again = pandas.read_csv(record.to_csv(tmp_path / "a.csv"))
    assert (again == frame).all(axis=None)


def test_without_pandas_a_frame_is_refused_in_one_sentence(record, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="Record.to_frame: needs pandas; install it with pip install pandas, or use"):
        record.to_frame()


def test_a_failed_save_leaves_the_old_file(record, tmp_path, monkeypatch):
    path = record.save(tmp_path / "a.npz")
    before = path.read_bytes()

    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="Record.save: cannot write .*a.npz: No space left on device"):
        record.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_damaged_file_is_refused_in_one_sentence(record, tmp_path):
    path = record.save(tmp_path / "a.npz")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ValueError, match="Record.load: .*a.npz is not a record, or is damaged"):
        lb.Record.load(path)
    with pytest.raises(FileNotFoundError, match="Record.load: there is no file"):
        lb.Record.load(tmp_path / "b.npz")


def test_an_unknown_metric_is_refused(record):
    with pytest.raises(KeyError, match="no metric 'speed'; it has optimal_probability"):
        record.mean("speed")


def test_repr_reads_as_a_summary(record):
    text = repr(record)
    assert "Record of sgb(learning_rate=0.1)" in text
    assert "5 arms, 12 runs, horizon 200, seed 0" in text
    assert "optimal_probability" in text


@pytest.mark.parametrize("level", [0, 1, -1, float("nan")])
def test_a_bad_level_is_refused(record, level):
    with pytest.raises(ValueError, match="Record.interval: level must be"):
        record.interval("regret", level=level)
