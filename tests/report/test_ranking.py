"""Rules are ranked by regret, and a place says how sure it is."""

from __future__ import annotations

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.record import Record
from logbarrier.report.ranking import ranking
from logbarrier.studies.study import case_of

FAMILY = lb.GapInstances(n_arms=4)


def found(*regrets):
    """Rules with these final regrets, an array of runs each."""
    rules = [lb.SGB(learning_rate=0.1), lb.UCB1(), lb.NPG(learning_rate=0.1), lb.SGB(learning_rate=0.2)]
    records = [Record(np.array([0, 9]), {"regret": np.stack([0 * r, r], axis=1)}, {}, {}) for r in regrets]
    return [(case_of(FAMILY, rule), record) for rule, record in zip(rules, records, strict=False)]


def test_clear_differences_give_sure_places():
    difficulty = np.random.default_rng(0).normal(0, 50, 40)  # shared by the rules: it must not blur the order
    places = ranking(found(300 + difficulty, 100 + difficulty, 200 + difficulty))
    assert [(p.case.rule["rule"], p.place, p.best, p.worst) for p in places] == [
        ("ucb1", 1, 1, 1),
        ("npg", 2, 2, 2),
        ("sgb", 3, 3, 3),
    ]
    assert [p.follows_preferences for p in places] == [False, True, True]


def test_rules_that_cannot_be_told_apart_share_their_places():
    rng = np.random.default_rng(1)
    places = ranking(found(*(rng.normal(100, 30, 50) for _ in range(3)), rng.normal(1000, 30, 50)))
    assert [p.place for p in places] == [1, 2, 3, 4]
    assert {(p.best, p.worst) for p in places[1:3]} <= {(1, 3), (2, 3), (1, 2)}
    assert (places[3].best, places[3].worst) == (4, 4)
    assert any(p.best < p.place or p.worst > p.place for p in places[:3])


def test_equal_rules_share_all_their_places():
    regret = np.random.default_rng(2).normal(100, 30, 20)
    places = ranking(found(regret, regret, regret + 500))
    assert [(p.best, p.worst) for p in places] == [(1, 2), (1, 2), (3, 3)]


def test_where_more_is_better_the_most_comes_first():
    records = [
        (case, Record(r.steps, {"optimal_probability": r["regret"]}, {}, {}))
        for case, r in found(np.full(9, 0.2), np.full(9, 0.9))
    ]
    assert [p.case.rule["rule"] for p in ranking(records, "optimal_probability")] == ["ucb1", "sgb"]


def test_a_rule_with_fewer_runs_is_compared_on_the_runs_that_all_have():
    slow_late = np.r_[np.full(10, 1.0), np.full(90, 1000.0)]
    places = ranking(found(slow_late, np.full(10, 2.0), np.full(10, 3.0)))
    assert [p.case.rule["rule"] for p in places] == ["sgb", "ucb1", "npg"]
    assert places[0].record["regret"][:10, -1] == pytest.approx(1.0)
