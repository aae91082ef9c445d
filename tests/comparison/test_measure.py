"""measure: exact on a record whose truth is known, and silent where runs are missing."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.comparison import INSTANCES, Budget, complexity, measure, systems_named

BUDGET = Budget(runs=4, horizon=10_000)
STEPS = np.unique(np.concatenate([[0], np.geomspace(1, 10_000, 240).round()]))


@pytest.fixture
def measured(monkeypatch):
    """Measurements of SGB where every run is suboptimal by t^-1, and at the very end by 0.03; regret is 2 sqrt(t)."""

    def from_record(record):
        monkeypatch.setattr(complexity, "record_of", lambda store, case: record)
        stores = {instance.name: SimpleNamespace(study=SimpleNamespace(runs=4)) for instance in INSTANCES}
        return list(measure(stores, systems_named(["sgb"]), BUDGET))

    return from_record


def record_of(runs):
    suboptimality = 1.0 / np.maximum(STEPS, 1.0)
    suboptimality[-1] = 0.03
    values = {"suboptimality": np.tile(suboptimality, (runs, 1)), "regret": np.tile(2.0 * np.sqrt(STEPS), (runs, 1))}
    return lb.Record(STEPS, values, {}, {})


def test_pulls_and_slopes_of_both_iterates_are_exact(measured):
    last, average = measured(record_of(4))[:2]
    assert last.pulls == pytest.approx(1.0 / np.array(BUDGET.epsilons), rel=2e-3)
    assert last.slope == pytest.approx(1.0, abs=2e-3)
    assert average.pulls[:3] == pytest.approx(4.0 / np.array(BUDGET.epsilons[:3]) ** 2, rel=2e-3)
    assert average.slope == pytest.approx(2.0, abs=2e-3)
    assert average.pulls[4:] == (None, None)  # 4/0.01^2 is beyond the horizon; 4/0.02^2 is the horizon itself
    assert average.to_dict()["censored"] == 2


def test_a_mean_that_is_above_epsilon_again_at_the_end_is_noted(measured):
    last, average = measured(record_of(4))[:2]
    assert last.returns == (False, False, False, True, True, True)
    assert not any(average.returns)


def test_there_is_no_measurement_where_runs_are_missing(measured):
    assert measured(record_of(3)) == []
    assert measured(None) == []
