"""Long lists of numbers in studies: stored once, counted in ids, sent to workers, checked when read."""

from __future__ import annotations

import csv
import hashlib
import json

import numpy as np
import pytest
from command import logbarrier
from small_study import SMALL, cell_bytes

import logbarrier as lb
from logbarrier import mdps
from logbarrier.studies import LocalExecutor, Store, Study, arrays, read_study, run, study_as_toml, write_summary
from logbarrier.studies.tables import described, problem_of, table_of_problem

N_STATES = 30


def mdp(first_reward=0.5):
    generator = np.random.default_rng(0)
    P = generator.dirichlet(np.ones(N_STATES), size=(N_STATES, 2))
    R = generator.uniform(size=(N_STATES, 2))
    R[0, 0] = first_reward
    return mdps.FiniteMDP(P=P, R=R, rho=np.full(N_STATES, 1 / N_STATES), gamma=0.9)


def study_of(problem):
    return Study(name="large", problems=[problem], rules=[mdps.PG(learning_rate=0.1)], horizon=200, runs=4, runs_per_cell=2,
                 checkpoints=5)  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    study = study_of(mdp())
    store = Store(tmp_path_factory.mktemp("large") / study.folder_name, study)
    assert run(store, LocalExecutor(1)).computed == 2
    write_summary(store)
    return store


@pytest.fixture
def another_process(monkeypatch):
    """Nothing is in memory yet."""
    monkeypatch.setattr(arrays, "_known", {})


def test_a_long_list_is_in_one_file_whose_name_is_its_sha256_and_nowhere_else(finished):
    files = sorted((finished.folder / "arrays").iterdir())
    assert [path.stem for path in files] == sorted(hashlib.sha256(path.read_bytes()).hexdigest() for path in files)
    stored = {np.load(path).tobytes() for path in files}
    assert mdp().probabilities.tobytes() in stored
    digits = repr(mdp().probabilities[7])
    others = [path for path in finished.folder.rglob("*") if path.is_file() and path not in files]
    assert len(others) > 6
    for path in others:
        content = path.read_bytes()
        assert digits.encode() not in content, path
        assert digits.encode("utf-32-le") not in content, path  # as NumPy stores words


def test_the_summary_shows_shape_and_hash(finished):
    with (finished.folder / "summary.csv").open() as file:
        shape, _, digest = next(csv.DictReader(file))["problem.P.probabilities"].partition("@")
    assert shape == "1800"
    assert len(list((finished.folder / "arrays").glob(f"{digest}*.npy"))) == 1


def test_another_process_reads_the_same_study_and_records(finished, another_process):
    found = Store.open(finished.folder)
    assert found.study.hash == finished.study.hash
    direct = mdps.simulate(mdps.PG(learning_rate=0.1), mdp(), horizon=200, runs=2, checkpoints=5)
    assert found.read(found.study.cells()[0]).digest() == direct.digest()


def test_one_other_number_is_another_cell():
    ids = [[cell.id for cell in study_of(mdp(reward)).cells()] for reward in (0.5, 0.5, np.nextafter(0.5, 1))]
    assert ids[0] == ids[1]
    assert not set(ids[0]) & set(ids[2])


def test_a_long_grid_of_means_comes_back_from_its_table():
    means = np.random.default_rng(1).uniform(size=150).tolist()
    table = table_of_problem(lb.GaussianBandit(means=means))
    assert len(json.dumps(table)) < 300
    assert problem_of(table).means.tolist() == means


@pytest.mark.parametrize("n_states", [2, N_STATES])
def test_a_case_of_an_mdp_fits_on_a_line(n_states):
    small = mdps.FiniteMDP(P=np.zeros((2, 2, 2)), R=np.ones((2, 2)), rho=[1.0, 0.0], gamma=0.9)
    line = described(table_of_problem(small if n_states == 2 else mdp()))
    assert line.startswith("FiniteMDP@")
    assert len(line) < 200


def test_a_study_as_toml_needs_no_other_file(tmp_path, another_process):
    study = study_of(mdp())
    (tmp_path / "large.toml").write_text(study_as_toml(study))
    arrays._known.clear()
    assert read_study(tmp_path / "large.toml").study.hash == study.hash


def test_a_damaged_array_is_one_sentence_and_is_written_again(tmp_path):
    study = study_of(mdp())
    store = Store(tmp_path / study.folder_name, study)
    with store.writing():
        pass
    path = max((store.folder / "arrays").iterdir(), key=lambda path: path.stat().st_size)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ValueError, match=rf"{path.name}: is damaged, its checksum must be its name; restore it, or run"):
        Store.open(store.folder)
    path.unlink()
    with pytest.raises(ValueError, match=rf"{path.name}: cannot be read: No such file or directory; restore it, or run"):
        Store.open(store.folder)
    path.write_bytes(b"")
    with store.writing():
        assert path.read_bytes() == whole


def test_one_bad_folder_hides_no_other_in_status(finished, tmp_path):
    """A large MDP, a folder whose arrays are gone, one whose study.toml is nested too deeply for Python, and a good one."""
    (tmp_path / "small.toml").write_text(SMALL)
    assert logbarrier("run", tmp_path / "small.toml", "--out", tmp_path, "--only", "rule=npg").returncode == 0
    (tmp_path / "large").symlink_to(finished.folder)
    for name, toml in (("lost", (finished.folder / "study.toml").read_text()), ("deep", f"name = {'[' * 10_000}")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "study.toml").write_text(toml)
    done = logbarrier("status", "--out", ".", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {row["folder"].partition("-")[0]: row for row in json.loads(done.stdout)}
    assert (rows["large"]["done"], rows["small"]["done"]) == (2, 6)
    assert "cannot be read: No such file" in rows["lost"]["skipped"]
    assert "nested" in rows["deep"]["skipped"]
    assert "lost is left out: " in done.stderr


def test_dask_workers_receive_the_arrays(finished, tmp_path):
    (tmp_path / "large.toml").write_text(study_as_toml(study_of(mdp())))
    done = logbarrier("run", tmp_path / "large.toml", "--out", tmp_path, "--executor", "dask", "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert cell_bytes(tmp_path) == cell_bytes(finished.folder)
