"""A setting plugs in at one place: another one's rules, problems and metrics go through study, store, summary and report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.report import publish
from logbarrier.studies import Store
from logbarrier.studies import settings as rooms
from logbarrier.studies.bandit_setting import SETTING as BANDITS
from logbarrier.studies.settings import Setting
from logbarrier.studies.study_file import read_study


@dataclass(frozen=True, kw_only=True)
class Walker:
    """A rule of a setting without arms; its name is that of a bandit rule."""

    name = "npg"
    stride: float = 1.0

    def to_dict(self):
        return {"rule": self.name, "stride": self.stride}


@dataclass(frozen=True)
class Corridor:
    length: int

    def arguments(self):
        return {"length": self.length}


class Corridors(Setting):
    name = "corridors"
    rules = {"npg": Walker}  # noqa: RUF012
    problems = {"Corridor": Corridor}  # noqa: RUF012
    rule_base = Walker
    metrics = ("score", "coverage")
    ranked_by = {"score": False}  # noqa: RUF012
    plotted = ("score",)
    symbols = {"n_states": "S"}  # noqa: RUF012

    def is_problem(self, problem):
        return isinstance(problem, Corridor)

    def sizes(self, problem):
        return {"n_states": problem.length}

    def check(self, rule, problem, *, engine, bad_start):
        if bad_start is not None:
            raise ValueError("Study: corridors have no bad_start")

    def same(self, problem, other):
        return problem == other

    def code_roots(self, rule, problem, engine):
        return type(rule), type(problem), Corridors.simulate

    def simulate(self, rule, problem, cell, *, threads, progress):
        runs = np.arange(cell.first_run, cell.first_run + cell.runs)[:, None] / 100
        score = np.hstack([0 * runs, rule.stride / problem.length + runs])
        return lb.Record(np.array([0, cell.horizon]), {"score": score, "coverage": score / 2}, {}, {})


@pytest.fixture(autouse=True)
def plugged_in(monkeypatch):
    corridors = Corridors()
    monkeypatch.setattr(rooms, "settings", lambda: iter([BANDITS, corridors]))
    return corridors


STUDY = """
horizon = 10
runs = 4

[[problems]]
problem = "Corridor"
length = [4, 8]

[[rules]]
rule = "npg"
stride = [1.0, 2.0]
"""


def test_a_file_finds_the_rules_of_its_problems_setting(tmp_path):
    (tmp_path / "corridors.toml").write_text(STUDY)
    study = read_study(tmp_path / "corridors.toml").study
    by_hand = lb.Study(
        name="corridors",
        problems=[Corridor(4), Corridor(8)],
        rules=[Walker(stride=1.0), Walker(stride=2.0)],
        horizon=10,
        runs=4,
    )
    assert study == by_hand
    assert study.metrics == ("score", "coverage")
    assert study.problem_label(study.cases[-1]) == "length=8 S=8"
    assert len(study.only(["n_states=4", "stride=2"])) == 1


def test_the_report_ranks_by_the_settings_own_metric(tmp_path):
    problems, rules = [Corridor(4)], [Walker(stride=1.0), Walker(stride=2.0)]
    done = lb.run_study(lb.Study(name="x", problems=problems, rules=rules, horizon=10, runs=4), out=tmp_path)
    text = publish(done.store).read_text()
    assert "npg stride=2 has the best mean score" in text
    assert "S = 4" in text
    assert "p(a*)" not in text
    header = (done.folder / "summary.csv").read_text().splitlines()[0]
    assert header.startswith("problem,rule,n_states,problem.length,rule.stride,runs,step,metric,mean")


def test_settings_do_not_mix():
    with pytest.raises(ValueError, match="Study: all rules and problems must have the same setting"):
        lb.Study(name="x", problems=[lb.GapInstances(n_arms=3)], rules=[Walker()], horizon=10)


def test_every_setting_that_is_plugged_in_is_whole(monkeypatch):
    monkeypatch.undo()
    for setting in rooms.settings():
        assert set(setting.ranked_by) <= set(setting.metrics)
        assert set(setting.plotted) <= set(setting.metrics)
        assert setting.engines[0] == "auto"
        assert setting.rules
        assert setting.problems


def test_finite_mdps_are_plugged_in(tmp_path, monkeypatch):
    """DeepSea and the MDPs' natural-pg, from a file, through store, summary and report."""
    monkeypatch.undo()
    (tmp_path / "sea.toml").write_text(
        'horizon = 200\nruns = 2\ncheckpoints = 3\n[[problems]]\nproblem = "DeepSea"\nn = 4\n'
        '[[rules]]\nrule = "spectral-pg"\n[[rules]]\nrule = "natural-pg"\nlearning_rate = 0.1\n'
    )
    study = read_study(tmp_path / "sea.toml").study
    assert study.setting.name == "mdps"
    done = lb.run_study(study, out=tmp_path)
    assert Store.open(done.folder).study == study
    assert [record["score"].shape for _, record in done.records()] == [(2, 3), (2, 3)]
    assert "has the best mean regret" in publish(done.store).read_text()
