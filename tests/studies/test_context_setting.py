"""Contextual problems in studies: the same files, folders and summary as for bandits."""

from __future__ import annotations

import numpy as np

from logbarrier import contexts
from logbarrier.report.publish import publish
from logbarrier.studies import LocalExecutor, Store, read_study, record_of, run

STUDY = """
horizon = 300
runs = 4
runs_per_cell = 2
checkpoints = [100]

[[problems]]
problem = "LinearContexts"
n_arms = 3
n_features = [2, 4]

[[problems]]
problem = "ClassificationBandit"
X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
y = [0, 1, 1]
delay = 3

[[rules]]
rule = "contextual-barrier"

[[rules]]
rule = "disjoint-lin-ucb"
alpha = 0.3
"""


def test_a_study_file_of_contextual_problems_runs_and_reports(tmp_path):
    file = tmp_path / "contexts.toml"
    file.write_text(STUDY)
    study = read_study(file).study
    store = Store(tmp_path / study.folder_name, study)
    assert run(store, LocalExecutor(threads=1)).computed == 12
    problem = contexts.ClassificationBandit([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1], delay=3)
    whole = contexts.simulate(contexts.LinUCB(alpha=0.3), problem, horizon=300, runs=4, checkpoints=[100])
    stored = record_of(store, study.cases[-1])
    for name in contexts.METRICS:
        assert np.array_equal(stored[name], whole[name])
    assert "regret" in publish(store).read_text()
