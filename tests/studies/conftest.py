"""What tests of studies need."""

from __future__ import annotations

import pytest
from small_study import SMALL

import logbarrier as lb
from logbarrier.studies import Store, Study, product


@pytest.fixture
def small_file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def small_study():
    rules = [lb.LogBarrierSGB(learning_rate=0.1, eta=100), lb.NPG(learning_rate=0.1)]
    return Study(name="small", cases=product([lb.GapInstances(n_arms=4)], rules), horizon=100, runs=5, runs_per_cell=2)


@pytest.fixture
def store(tmp_path, small_study):
    return Store(tmp_path / small_study.folder_name, small_study)
