"""The model of the page: states, their text in the address bar, presets, and what they say as Python and TOML."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import logbarrier as lb
from logbarrier.lab_page.gallery import state_of
from logbarrier.lab_page.jobs import Curves, ResultCache, curves_job
from logbarrier.lab_page.laws import LAWS, problem_of
from logbarrier.lab_page.presets import PRESETS
from logbarrier.lab_page.rules import CHOICES, curves_of
from logbarrier.lab_page.source import as_python, as_toml
from logbarrier.lab_page.state import State
from logbarrier.paper import baselines, eta, figure_1
from logbarrier.studies.study_file import read_study
from logbarrier.studies.tables import problem_of as problem_of_table
from logbarrier.studies.tables import rule_of

STATES = st.builds(
    State,
    arms=st.integers(2, 100_000),
    gap=st.floats(1e-3, 0.8),
    noise=st.floats(1e-2, 10),
    law=st.sampled_from(list(LAWS)),
    alpha=st.floats(1e-4, 10),
    etas=st.lists(st.floats(1, 1e8), min_size=1, max_size=4, unique=True).map(tuple),
    horizon=st.integers(10, 50_000),
    runs=st.integers(2, 1000),
    seed=st.integers(0, 2**32 - 1),
    start=st.none() | st.floats(1e-6, 0.5),
    rules=st.lists(st.sampled_from(list(CHOICES)), min_size=1, unique=True).map(tuple),
    spacing=st.sampled_from(["linear", "log"]),
    view=st.sampled_from(["learning", "regret", "distribution"]),
    features=st.sampled_from(["none", "cosines", "cells"]),
    at=st.floats(0, 1),
)
SMALL = {"horizon": 60, "runs": 9}


@given(STATES)
def test_an_address_gives_its_state_back_to_the_bit(state):
    assert State.of_query(state.query()) == state


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_survives_the_address_bar(name):
    assert State.of_query(PRESETS[name].query()) == PRESETS[name]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("arms=1", "lab: arms must be between 2 and 100000, got 1"),
        ("arms=ten", "lab: arms in the address cannot be read, got 'ten'"),
        ("alpha=nan", "lab: alpha must be finite, got nan"),
        ("alpha=1e99", "lab: alpha must be between 0.0001 and 10, got 1e+99"),
        ("etas=5,5", "lab: eta must have 1 to 4 different values, got 5.0, 5.0"),
        ("etas=1,2,3,4,5", "lab: eta must have 1 to 4 different values"),
        ("rules=os.system", "lab: rule must be one of lb,"),
        ("rules=", "lab: rule must be one of lb,"),
        ("color=red", "lab: the address has no setting 'color'"),
        ("law=cauchy", "lab: law must be one of gaussian,"),
        ("horizon=9999999", "lab: horizon must be between 10 and 2500000"),
        ("horizon=2500000&runs=1000", "lab: curves x runs x horizon must be at most 1e+09 steps, got 5.0e+09"),
        ("environment=mars", "lab: environment must be one of rooms,"),
        ("features=pixels", "lab: features must be one of none, cosines, cells, got 'pixels'"),
        ("view=environment&features=cells&horizon=2500000&runs=90", "lab: curves x runs x horizon must be at most 1e+09 steps"),
        ("view=simplex", "lab: the simplex view needs arms = 3, got 10"),
        ("view=policy&arms=100000&horizon=1000000&runs=10", "lab: the policy view needs arms x horizon of at most 5e+09"),
        ("seed=" + "1" * 3000, "lab: the address must have at most 2000 characters"),
    ],
)
def test_an_address_that_describes_no_state_is_refused_with_a_sentence(query, words):
    with pytest.raises(ValueError, match=r"^lab: ") as caught:
        State.of_query(query)
    assert words in str(caught.value)


@given(st.dictionaries(st.sampled_from([*State.__dataclass_fields__]), st.text(max_size=12), max_size=5))
def test_no_address_breaks_the_page(pairs):
    state, problem = state_of(urlencode(pairs))
    assert state == State() if problem else isinstance(state, State)
    assert problem == "" or problem.startswith("lab: ")


def test_choosing_the_simplex_sets_three_arms():
    assert State(arms=100).changed(view="simplex").arms == 3


PANELS = [
    *((panel, f"Figure 1: K = {panel.n_arms}, alpha = {rate:g}")
      for row, rate in zip(figure_1.EXPERIMENT.rows, (0.01, 0.1), strict=True) for panel in row),
    *((panel, f"Appendix E, baselines: K = {panel.n_arms}") for panel in baselines.EXPERIMENT.panels),
    *((row[0], f"Appendix E, eta: alpha = {rate:g}") for row, rate in zip(eta.EXPERIMENT.rows, (0.1, 0.01), strict=True)),
]  # fmt: skip


@pytest.mark.parametrize(("panel", "name"), PANELS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_preset_has_the_rules_of_the_papers_panel(panel, name):
    assert PRESETS[name].arms == panel.n_arms
    assert {curve.rule for curve in curves_of(PRESETS[name])} == {curve.rule for curve in panel.curves}


@pytest.mark.parametrize(
    "state",
    [
        State(rules=("lb", "sgb"), etas=(50.0, 1234.5), **SMALL),
        State(law="bernoulli", arms=4, spacing="log", **SMALL),
        State(law="uniform", noise=0.3, arms=5, rules=("lb",), **SMALL),
        State(law="beta", arms=5, start=0.01, rules=("sgb", "thompson"), **SMALL),
    ],
    ids=lambda state: state.law,
)
def test_the_python_of_a_state_gives_the_numbers_on_the_page(state, capsys):
    names: dict = {}
    exec(compile(as_python(state), "lab", "exec"), names)
    *_, shown = curves_job(state, ResultCache(), lambda done, total: None)
    assert isinstance(shown, Curves)
    assert shown.complete
    assert list(names["records"]) == list(shown.records)
    for label, record in shown.records.items():
        assert record.digest() == names["records"][label].digest()
    assert "p(a*)" in capsys.readouterr().out


@pytest.mark.parametrize("law", LAWS)
def test_the_study_file_of_a_state_has_its_problem_and_rules(law, tmp_path):
    state = State(law=law, arms=6, start=0.01, spacing="log", seed=3, **SMALL)
    (tmp_path / "study.toml").write_text(as_toml(state))
    study = read_study(tmp_path / "study.toml").study
    assert {rule_of(case.rule) for case in study.cases} == {curve.rule for curve in curves_of(state)}
    assert (study.horizon, study.runs, study.seed, study.bad_start, study.spacing) == (60, 9, 3, 0.01, "log")
    problem, expected = problem_of_table(study.cases[0].problem), problem_of(state)
    key = np.array([1, 2], dtype=np.uint32)
    assert type(problem) is type(expected)
    assert np.array_equal(problem.instance(key, 5), expected.instance(key, 5))


def test_a_study_file_that_cannot_be_written_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="at most 2000 arms, got 5000"):
        as_toml(State(law="uniform", arms=5000))
    with pytest.raises(ValueError, match="none of these rules can be given a bad start"):
        as_toml(State(start=0.01, rules=("ucb1",)))
    with pytest.raises(ValueError, match="the environment view has no study file"):
        as_toml(State(view="environment"))


def test_each_curve_has_a_label_of_its_own():
    everything = State(rules=tuple(CHOICES), etas=(1.0, 2.0, 3.0, 4.0), **SMALL)
    labels = [curve.label for curve in curves_of(everything)]
    assert len(set(labels)) == len(labels) == everything.n_curves
    assert isinstance(curves_of(replace(everything, rules=("thompson",)))[0].rule, lb.ThompsonSampling)


def test_addresses_of_earlier_versions_open():
    assert State.of_query("view=world&world=deep-sea") == State(view="environment", environment="deep-sea")
