"""Features in studies: written in a file, killed, resumed and reported, with the numbers of `simulate`."""

from __future__ import annotations

import time

import numpy as np
import pytest
from command import Command, logbarrier

import logbarrier as lb
from logbarrier import mdps
from logbarrier.studies import Store, Study, read_study, record_of, study_as_toml

ARMS = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]]
PHI = np.random.default_rng(0).normal(size=(4, 2, 3)).round(2)
HEAD = "horizon = 20_000\nruns = 30\nruns_per_cell = 1\ncheckpoints = [5000, 20000]\n"
BANDIT = f"""
[[problems]]
problem = "LinearBandit"
features = {ARMS}
weights = [0.2, 0.5]

[[rules]]
rule = "log-linear-sgb"
learning_rate = 0.1

[[rules]]
rule = "log-det-sgb"
learning_rate = 0.1
eta = 50
"""
MDP = f"""
[[problems]]
problem = "RiverSwim"
n = 4

[[rules]]
rule = "feature-spectral-pg"
features = {PHI.tolist()}

[[rules]]
rule = "feature-spectral-pg"
"""
PROBLEM = lb.LinearBandit(features=ARMS, weights=[0.2, 0.5])
OPTIONS = {"horizon": 20_000, "runs": 30, "checkpoints": [5000, 20000]}
STUDIES = {
    "bandit": (BANDIT, lambda rule: lb.simulate(rule, PROBLEM, **OPTIONS), "regret",
               [lb.LogLinearSGB(learning_rate=0.1), lb.LogDetSGB(learning_rate=0.1, eta=50.0)]),
    "mdp": (MDP, lambda rule: mdps.simulate(rule, mdps.RiverSwim(4), **OPTIONS), "score",
            [mdps.FeatureSpectralPG(features=PHI), mdps.FeatureSpectralPG()]),
}  # fmt: skip


@pytest.mark.parametrize("name", STUDIES)
def test_a_killed_study_with_features_goes_on_to_the_numbers_of_simulate_and_is_reported(name, tmp_path):
    text, simulate, metric, rules = STUDIES[name]
    file = tmp_path / "features.toml"
    file.write_text(HEAD + text)
    process = Command("run", file, "--out", tmp_path / "out", "--threads", 1)
    while not list(tmp_path.glob("out/*/cells/*.npz")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)
    process.kill()
    process.communicate()
    stored = len(list(tmp_path.glob("out/*/cells/*.npz")))
    assert 0 < stored < 60
    resumed = logbarrier("run", file, "--out", tmp_path / "out")
    assert f"{60 - stored} cells computed" in resumed.stdout, resumed.stderr
    study = read_study(file).study
    (folder,) = (tmp_path / "out").iterdir()
    for case, rule in zip(study.cases, rules, strict=True):
        assert np.array_equal(record_of(Store(folder, study), case)[metric], simulate(rule)[metric])
    assert logbarrier("report", folder).returncode == 0
    assert all(rule.name in (folder / "report.html").read_text() for rule in rules)


@pytest.mark.parametrize("n", [4, 40])  # lists, and an array of 240 numbers
def test_features_of_a_rule_survive_the_study_file(n, tmp_path):
    phi = np.random.default_rng(1).normal(size=(n, 2, 3))
    study = Study(name="x", problems=[mdps.RiverSwim(n)], rules=[mdps.FeatureSpectralPG(features=phi)], horizon=10, runs=1)
    (tmp_path / "x.toml").write_text(study_as_toml(study))
    assert read_study(tmp_path / "x.toml").study == study


def test_features_in_brackets_once_more_are_a_grid(tmp_path):
    (tmp_path / "x.toml").write_text(HEAD + BANDIT.replace(str(ARMS), str([ARMS, ARMS[::-1]])))
    assert len(read_study(tmp_path / "x.toml").study.cases) == 4


def test_a_file_that_holds_features_of_another_mdp_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "x.toml").write_text(HEAD + MDP.replace("n = 4", "n = 5"))
    refused = logbarrier("run", tmp_path / "x.toml", "--out", tmp_path / "out")
    assert refused.returncode != 0
    assert "FeatureSpectralPG: features must have shape (5, 2, m) for RiverSwim(5), got (4, 2, 3)" in refused.stderr
    assert "Traceback" not in refused.stderr
