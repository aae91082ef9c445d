"""What the views draw, as columns, against the records and policies it comes from."""

from __future__ import annotations

import numpy as np
import pytest

import logbarrier as lb
from logbarrier import mdps
from logbarrier.lab_page.environments import ENVIRONMENTS
from logbarrier.lab_page.gallery import GALLERY
from logbarrier.lab_page.jobs import ResultCache, curves_job, paths_job
from logbarrier.lab_page.laws import instance_of
from logbarrier.lab_page.learning import learning_job
from logbarrier.lab_page.source import as_python
from logbarrier.lab_page.state import State
from logbarrier.lab_page.views import curves, distribution, policy, simplex
from logbarrier.lab_page.views.environment import SCORE
from logbarrier.lab_page.views.environment import columns_of as columns_of_environment
from logbarrier.lab_page.views.figure import csv_text
from logbarrier.theory.maximiser import maximiser
from logbarrier.theory.objective import objective

STATE = State(arms=3, horizon=200, runs=10, rules=("lb", "sgb"), etas=(60.0,), start=0.05)


@pytest.fixture(scope="module")
def shown():
    *_, result = curves_job(STATE, ResultCache(), lambda done, total: None)
    return result


@pytest.fixture(scope="module")
def paths():
    *_, result = paths_job(STATE.changed(view="simplex"), lambda done, total: None)
    return result


@pytest.fixture(scope="module")
def environment():
    *_, result = learning_job(STATE.changed(view="environment"), lambda done, total: None)
    return result


def test_a_learning_curve_is_the_mean_of_the_record(shown):
    columns = curves.columns_of(shown, curves.LEARNING)
    for ys, label in zip(columns["means"]["ys"], columns["means"]["label"], strict=True):
        assert np.array_equal(ys, shown.records[label].mean("optimal_probability"))
    assert len(columns["runs"]["ys"]) == 20
    assert columns["plateaus"]["ys"][0][0] == shown.plateaus["LB-SGB, eta 60"][0]
    bands = np.concatenate(columns["bands"]["ys"])
    assert bands.min() >= 0
    assert bands.max() <= 1


def test_the_bars_of_a_distribution_are_shares_of_the_runs(shown):
    bars = distribution.columns_of(shown)["bars"]
    assert np.isclose(sum(bars["top"]), 2.0)
    values = shown.records["LB-SGB, eta 60"]["optimal_probability"][:, -1]
    in_last = np.isclose(bars["left"][19], 0.95) * bars["top"][19]
    assert in_last == np.mean(values >= 0.95)


def test_the_sorted_policy_falls_and_marks_the_best_arm(paths):
    columns = policy.columns_of(paths)
    for ys, x, y, curve in zip(columns["lines"]["ys"], columns["best"]["x"], columns["best"]["y"], paths.curves, strict=True):
        assert (np.diff(ys) <= 0).all()
        assert ys[x - 1] == y == paths.policies[curve.label][0, -1, paths.instance.optimal_arm]


def test_the_arrows_point_uphill_in_the_objective():
    means, eta = np.array([1.0, 0.2, 0.6]), 30.0
    rule, corners = lb.LogBarrierSGB(learning_rate=0.1, eta=eta), simplex.places(means)
    arrows = simplex.field(rule, means)
    assert len(arrows["x0"]) == 55
    to_policy = np.linalg.inv(np.column_stack([corners, np.ones(3)]))
    for x0, y0, x1, y1 in zip(*(arrows[name] for name in ("x0", "y0", "x1", "y1")), strict=True):
        begin, end = np.array([x0, y0, 1.0]) @ to_policy, np.array([x1, y1, 1.0]) @ to_policy
        middle, further = (begin + end) / 2, (begin + end) / 2 + 1e-4 * (end - begin)
        assert objective(np.log(further), means, eta) > objective(np.log(middle), means, eta)


def test_level_lines_are_levels_of_the_barrier():
    for xs, ys, level in zip(*simplex.level_lines(), simplex.LEVELS, strict=True):
        top = ys / simplex.CORNERS[2, 1]
        policies = np.array([1 - (xs - top / 2) - top, xs - top / 2, top])
        assert np.allclose(np.log(policies).sum(axis=0), level, atol=1e-6)
        assert policies[1].max() > 0.5 > policies[1].min()


def test_the_best_corner_is_at_the_right(paths):
    means = instance_of(STATE).means
    corners = simplex.places(means)
    assert corners[np.argmax(means)].tolist() == [1.0, 0.0]
    star = maximiser(means, 60.0).policy @ corners
    assert star[0] > 0.8


def test_in_the_rooms_only_the_spectral_barrier_learns_to_leave_the_reward_at_hand():
    """At the page's defaults but for fewer runs: 0.15 is what the corner pays."""
    *_, found = learning_job(State(view="environment", runs=12), lambda done, total: None)
    scores = {label: record.interval("score") for label, record in found.records.items()}
    assert found.complete
    for label in ("no regulariser", "entropy", "action barrier"):
        assert found.records[label].mean("score")[-1] < 0.2
        assert scores[label][1][-1] < scores["spectral barrier"][0][-1]


@pytest.mark.parametrize(("environment", "horizon", "sign"), [("deep-sea", 10_000, 1), ("rooms", 25_000, -1)])
def test_cosines_explore_the_sea_sooner_than_counts_and_the_rooms_later(environment, horizon, sign):
    state = State(view="environment", environment=environment, features="cosines", horizon=horizon, runs=12)
    *_, found = learning_job(state, lambda done, total: None)
    low, high = (found.records[label].interval("score") for label in ("spectral barrier", "36 cosines")[::sign])
    assert low[1][-1] < high[0][-1]


def test_the_curves_of_an_environment_are_those_of_simulate_and_the_map_is_that_of_run_0(environment):
    rule = mdps.SpectralPG()
    record = mdps.simulate(rule, environment.mdp, horizon=200, runs=10, seed=0)
    columns = curves.columns_of(environment, SCORE)
    drawn = dict(zip(columns["means"]["label"], columns["means"]["ys"], strict=True))
    assert np.array_equal(drawn["spectral barrier"], record.mean("score"))
    greedy = np.eye(4)[environment.policies["spectral barrier"].argmax(axis=1)]
    lowest = environment.mdp.performance(environment.mdp.uniform_policy)
    score = (environment.mdp.performance(greedy) - lowest) / (environment.mdp.optimal_performance - lowest)
    assert score == pytest.approx(record["score"][0, -1], abs=1e-9)


def test_cells_show_occupancy_and_arrows_point_where_the_policy_goes(environment):
    policy = environment.policies["no regulariser"]
    columns = columns_of_environment(environment.mdp, policy)
    assert np.allclose(columns["cells"]["level"], np.log10(np.maximum(environment.mdp.occupancy(policy), 1e-6)))
    left, right, up, down = (policy[:, action] for action in range(4))
    arrows = columns["arrows"]
    assert np.allclose((arrows["x1"] - arrows["x0"]) / 0.42, right - left)
    assert np.allclose((arrows["y1"] - arrows["y0"]) / 0.42, up - down)


def test_the_curve_with_features_is_that_of_the_rule_with_products_of_cosines():
    state = State(view="environment", environment="deep-sea", features="cosines", horizon=2000, runs=4)
    *_, found = learning_job(state, lambda done, total: None)
    row, column = np.divmod(found.mdp.states, 14)
    waves = [[np.cos(np.pi * ((cell + 0.5) / 14) * j) for j in range(6)] for cell in (row, column)]
    phi = np.zeros((found.mdp.n_states, 2, 36))
    phi[:, 0] = np.array([down * right for down in waves[0] for right in waves[1]]).T
    record = mdps.simulate(mdps.FeatureSpectralPG(features=phi), found.mdp, horizon=2000, runs=4, seed=0)
    assert list(found.records) == ["no regulariser", "entropy", "action barrier", "spectral barrier", "36 cosines"]
    assert np.array_equal(found.records["36 cosines"]["score"], record["score"])
    view = GALLERY["environment"].build(state)
    view.show(found)
    assert "36 cosines" in view.words(found)


@pytest.mark.parametrize("features", ["none", "cosines", "cells"])
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_python_of_an_environment_gives_its_curves(name, features, capsys):
    state = State(view="environment", environment=name, features=features, etas=(500.0,), horizon=300, runs=2)
    names: dict = {}
    exec(compile(as_python(state), "lab", "exec"), names)
    *_, shown = learning_job(state, lambda done, total: None)
    for label, record in shown.records.items():
        assert np.array_equal(record["score"], names["records"][label]["score"])
    assert len(names["records"]) == state.n_curves
    assert "spectral barrier: score" in capsys.readouterr().out


@pytest.mark.parametrize("name", GALLERY)
def test_every_view_renders_says_and_tabulates_its_result(name, shown, paths, environment):
    state = STATE.changed(view=name)
    view = GALLERY[name].build(state)
    result = {"simplex": paths, "policy": paths, "environment": environment}.get(name, shown)
    view.show(result)
    assert ("spectral barrier" if name == "environment" else "LB-SGB, eta 60") in view.words(result)
    heading, *rows = list(view.table(result))
    assert all(len(row) == len(heading) for row in rows)
    assert len(rows) > 2


def test_numbers_in_a_csv_file_are_complete(shown):
    text = csv_text(curves.CurvesView(curves.LEARNING, "linear").table(shown))
    values = [float(line.rsplit(",", 1)[1]) for line in text.splitlines()[1:] if '"LB' in line]
    assert np.array_equal(np.array(values).reshape(10, -1), shown.records["LB-SGB, eta 60"]["optimal_probability"])
