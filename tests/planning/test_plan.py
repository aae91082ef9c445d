"""plan: repeatable, honest about what it compared, never dominated."""

from __future__ import annotations

import json

import numpy as np
import pytest

import logbarrier as lb
from logbarrier import planning
from logbarrier.planning.contenders import code_of, contenders, cost

SMALL = {"n_arms": 5, "gap": 0.5, "horizon": 400, "budget": 0.2}


@pytest.fixture(scope="module")
def found():
    return planning.plan(**SMALL, threads=1)


def test_the_same_arguments_give_the_same_plan_whatever_the_threads(found):
    assert planning.plan(**SMALL, threads=2) == found


@pytest.mark.parametrize("objective", ["regret", "final"])
@pytest.mark.parametrize("rewards", ["gaussian", "bernoulli"])
def test_no_row_dominates_the_choice_on_the_runs_they_share(objective, rewards):
    plan = planning.plan(**SMALL, objective=objective, rewards=rewards, threads=1)
    family = lb.GapInstances(5, 0.5) if rewards == "gaussian" else lb.BernoulliGapInstances(5, 0.5)
    choice = eval(plan.choice.code)
    for row in plan.rows[1:]:
        runs = {"horizon": 400, "runs": row.runs, "seed": 0, "checkpoints": 2, "threads": 1}
        ours, theirs = lb.simulate(choice, family, **runs), lb.simulate(eval(row.code), family, **runs)
        saved = theirs["regret"][:, -1] - ours["regret"][:, -1]
        assert row.ahead == pytest.approx(saved.mean())
        better_at_the_end = theirs["optimal_probability"][:, -1].mean() > ours["optimal_probability"][:, -1].mean()
        assert not (better_at_the_end and row.ahead < 0)
        assert row.low <= row.ahead <= row.high


def test_the_last_two_have_the_same_runs_and_no_one_has_more(found):
    assert found.rows[0].runs == found.rows[1].runs == max(row.runs for row in found.rows)
    assert min(row.runs for row in found.rows) >= 4


def test_the_regret_objective_chooses_the_least_regret(found):
    assert all(row.ahead >= 0 for row in found.rows)
    assert found.choice.ahead == found.choice.low == found.choice.high == 0


def test_every_line_of_code_makes_the_rule_it_names():
    for family in (lb.GapInstances(7, 0.1, scale=0.2), lb.BernoulliGapInstances(7, 0.1)):
        for rule in contenders(family):
            assert eval(code_of(rule)) == rule


def test_a_rule_too_slow_for_the_budget_is_left_out_and_named():
    plan = planning.plan(700, 0.5, 100, rewards="bernoulli", budget=0.04, threads=1)
    assert "lb.BetaThompsonSampling()" in plan.left_out
    assert "lb.BetaThompsonSampling()" not in {row.code for row in plan.rows}


def test_the_default_budget_is_within_20_s_by_the_costs_stated():
    """The fewest runs that are always made are what could break it: four of each rule that is not left out."""
    for horizon in (1e3, 1e5, 1e6):
        for family in (lb.GapInstances(1000, 0.1), lb.BernoulliGapInstances(1000, 0.1)):
            costs = [4 * cost(rule, 1000, int(horizon)) for rule in contenders(family)]
            assert max(0.35 * 8.0, sum(each for each in costs if each <= 0.3 * 8.0)) + 0.65 * 8.0 <= 20.0


def test_json_holds_the_whole_plan(found):
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["objective"] == "regret"
    assert [row["code"] for row in plain["rows"]] == [row.code for row in found.rows]
    assert np.isfinite([row["regret"] for row in plain["rows"]]).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gap": 0.0}, "GapInstances: gap must be positive and finite, got 0.0"),
        ({"horizon": 0}, "plan: horizon must be between 1 and"),
        ({"objective": "money"}, "plan: objective must be one of regret, final, got 'money'"),
        ({"rewards": "cauchy"}, "plan: rewards must be one of gaussian, bernoulli, got 'cauchy'"),
        ({"budget": 1e-9}, "plan: budget must be at least .* s for this horizon, got 1e-09"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(changes, message):
    with pytest.raises(ValueError, match=message):
        planning.plan(**SMALL | changes)
