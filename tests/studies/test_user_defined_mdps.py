"""A user-defined MDP in a study: as a function, a class, a file of arrays, or an object in Python."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from logbarrier import mdps
from logbarrier.studies import Study, read_study
from logbarrier.studies.results import record_of
from logbarrier.studies.run_study import run_study
from logbarrier.studies.study_file import study_as_toml
from logbarrier.studies.user_defined import load

EXAMPLES = Path(__file__).parents[2] / "examples"
AS_CLASS = """
from logbarrier import mdps
from inventory import inventory

class Inventory(mdps.FiniteMDP):
    def __init__(self, capacity: int = 20):
        made = inventory(capacity)
        super().__init__(P=made.P, R=made.R, rho=made.rho, gamma=made.gamma, name="inventory")
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("inventory.py", "inventory.toml"):
        (tmp_path / name).write_text((EXAMPLES / name).read_text())
    (tmp_path / "as_class.py").write_text(AS_CLASS)
    return tmp_path


def study_with(folder, problem, capacity="capacity = 20"):
    content = (EXAMPLES / "inventory.toml").read_text().replace("inventory.py:inventory", problem)
    file = folder / "inventory.toml"
    file.write_text(content.replace("capacity = 20", capacity))
    return read_study(file).study


def test_function_class_file_and_object_have_the_same_cells(folder):
    inventory = load("inventory.py:inventory", folder)
    mdp = inventory(capacity=20)
    mdp.save(folder / "inventory.npz")
    rules = [mdps.SpectralPG(), mdps.EntropyPG(learning_rate=0.1, tau=0.01), mdps.OptimisticQ(learning_rate=0.1, initial=100.0)]
    in_python = Study(name="inventory", problems=[mdp], rules=rules, horizon=20_000, runs=50)
    names = [cell.id for cell in in_python.cells()]
    for problem, capacity in (
        ("inventory.py:inventory", "capacity = 20"),
        ("as_class.py:Inventory", "capacity = 20"),
        ("inventory.npz", ""),
    ):
        assert [cell.id for cell in study_with(folder, problem, capacity).cells()] == names
    other = study_with(folder, "inventory.py:inventory", "capacity = 19")
    assert not {cell.id for cell in other.cells()} & set(names)


def test_tables_show_its_name_and_a_hash_and_its_arrays_are_stored_once(folder):
    study = study_with(folder, "inventory.py:inventory", "capacity = [8, 10]")
    study = Study(name="two", cases=study.cases, horizon=50, runs=2, checkpoints=3)
    first, second = (study.problem_label(study.cases[i]) for i in (0, 3))
    assert first.startswith("inventory@")
    assert first.partition(" ")[2] == "S=9 K=9"
    assert first.partition(" ")[0] != second.partition(" ")[0]
    done = run_study(study, out=folder / "runs", threads=1)
    stored = sorted(path.name for path in (done.folder / "arrays").iterdir())
    assert len(stored) == len(set(stored)) <= 8  # at most offsets, successors, probabilities and R of two MDPs
    assert record_of(done.store, study.cases[0]).runs == 2


def test_a_file_of_arrays_may_hold_dense_transitions(tmp_path):
    river = mdps.RiverSwim(5)
    np.savez(tmp_path / "river.npz", P=river.P, R=river.R, rho=river.rho, gamma=river.gamma)
    read = mdps.FiniteMDP.load(tmp_path / "river.npz")
    assert read.name == "river"
    assert (read.P == river.P).all()
    river.save(tmp_path / "sparse.npz")
    assert mdps.FiniteMDP.load(tmp_path / "sparse.npz").to_dict() == mdps.FiniteMDP.to_dict(river)


def test_files_that_hold_no_mdp_are_refused_in_one_sentence(tmp_path):
    np.savez(tmp_path / "half.npz", R=[[1.0]])
    with pytest.raises(ValueError, match="must hold P, R, rho and gamma, got R"):
        mdps.FiniteMDP.load(tmp_path / "half.npz")
    (tmp_path / "text.npz").write_text("P")
    with pytest.raises(ValueError, match="must be an .npz file of arrays"):
        mdps.FiniteMDP.load(tmp_path / "text.npz")


def test_entry_points_may_be_functions(folder, monkeypatch):
    site = folder / "site"
    info = site / "warehouse-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "warehouse.py").write_text((EXAMPLES / "inventory.py").read_text())
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: warehouse\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[logbarrier.problems]\nwarehouse = warehouse:inventory\n")
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    assert study_with(folder, "warehouse").cases[0].made_problem.n_states == 21


def test_a_word_among_the_parameters_of_a_rule_is_stored(tmp_path):
    (tmp_path / "worded.py").write_text("""
from dataclasses import dataclass
from typing import Annotated

from logbarrier import extend, mdps


@dataclass(frozen=True, kw_only=True)
class Worded(mdps.EntropyPG):
    name = "worded"
    kind: Annotated[str, extend.choice("short", "long")] = "short"
    doubled: bool = False
""")
    rule = load(f"{tmp_path / 'worded.py'}:Worded")(learning_rate=0.1, tau=0.01, kind="long", doubled=True)
    study = Study(name="words", problems=[mdps.RiverSwim(4)], rules=[rule], horizon=100, runs=1)
    (tmp_path / "again.toml").write_text(study_as_toml(study))
    assert [cell.id for cell in read_study(tmp_path / "again.toml").study.cells()] == [cell.id for cell in study.cells()]
