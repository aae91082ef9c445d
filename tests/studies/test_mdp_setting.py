"""MDPs in studies: the same folders, resume and summary as for bandits."""

from __future__ import annotations

import numpy as np
import pytest

from logbarrier import mdps
from logbarrier.studies import LocalExecutor, Store, Study, read_study, record_of, run
from logbarrier.studies.settings import settings

STUDY = """
horizon = 600
runs = 4
runs_per_cell = 2
checkpoints = [100]
metrics = ["score", "regret"]

[[problems]]
problem = "RiverSwim"
n = [4, 5]

[[rules]]
rule = "spectral-pg"

[[rules]]
rule = "pg"
learning_rate = 0.5
"""


def test_a_study_file_of_mdps_runs_stops_and_goes_on(tmp_path):
    file = tmp_path / "rivers.toml"
    file.write_text(STUDY)
    study = read_study(file).study
    store = Store(tmp_path / study.folder_name, study)
    assert run(store, LocalExecutor(threads=1), study.cases[:3]).computed == 6
    again = run(store, LocalExecutor(threads=2))
    assert (again.computed, again.stored) == (2, 6)
    whole = mdps.simulate(
        mdps.PG(learning_rate=0.5), mdps.RiverSwim(5), horizon=600, runs=4, checkpoints=[100], metrics=["score", "regret"]
    )
    stored = record_of(store, study.cases[-1])
    for name in ("score", "regret"):
        assert np.array_equal(stored[name], whole[name])
        assert np.array_equal(stored.interval(name), whole.interval(name))


def test_every_environment_goes_into_a_study_and_comes_back():
    problems = [
        mdps.RiverSwim(4), mdps.Lock(4, 3, seed=2), mdps.Distractor(4), mdps.DeepSea(4), mdps.RandomLocks(4, 3),
        mdps.RandomDeepSeas(4), mdps.RandomMDPs(4, 2),
        mdps.FiniteMDP(P=np.zeros((1, 2, 1)), R=[[0.0, 1.0]], rho=[1.0], gamma=0.9),
    ]  # fmt: skip
    study = Study(name="all", problems=problems, rules=[mdps.SpectralPG()], horizon=10, runs=1)
    assert [case.sizes["n_states"] for case in study.cases] == [4, 4, 4, 10, 4, 10, 4, 1]


def test_a_bad_start_is_refused_for_mdps():
    with pytest.raises(ValueError, match="Study: bad_start is for bandits"):
        Study(name="x", problems=[mdps.RiverSwim(4)], rules=[mdps.SpectralPG()], horizon=10, bad_start=0.1)


def test_no_two_settings_share_a_name():
    names = [name for setting in settings() for name in (*setting.rules, *setting.problems)]
    assert len(names) == len(set(names))
