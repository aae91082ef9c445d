"""plan: repeatable, honest about what it compared, never dominated."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from command import logbarrier
from rich.console import Console
from scipy import stats

import logbarrier as lb
import logbarrier.theory as theory
from logbarrier import planning
from logbarrier.bandits.engines import LazyRun, Stops
from logbarrier.bandits.loops.lazy.layout import SLOW_STEPS
from logbarrier.bandits.metrics import METRICS
from logbarrier.bandits.starts import Uniform
from logbarrier.cli.plan import _print_report
from logbarrier.engine.random import stream_key
from logbarrier.planning.contenders import code_of, contenders, cost, log_barrier_pairs, rebuilds

race = sys.modules["logbarrier.planning.plan"]  # planning.plan is the function
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
    for family in (lb.GapInstances(7, 0.1, scale=0.2), lb.BernoulliGapInstances(7, 0.1), lb.NeedleInstances(4)):
        for rule in [*contenders(family), *log_barrier_pairs(family, 1000)]:
            assert eval(code_of(rule)) == rule


@pytest.mark.parametrize(
    ("objective", "family", "horizon", "expected"),
    [
        ("regret", lb.GapInstances(20, 0.5), 1000, False),
        ("regret", lb.GapInstances(2, 0.01), 200, True),
        ("final", lb.GapInstances(2, 0.1), 400, True),  # although the regret differs
        ("final", lb.BernoulliGapInstances(20, 0.5), 400, False),  # although p(a*) does not differ
    ],
)
def test_a_plan_is_undecided_where_the_interval_against_the_runner_up_contains_0(objective, family, horizon, expected):
    """Against SciPy's paired interval on the same runs. With `final`, p(a*) decides unless it differs by 0.005 or less."""
    rewards = "gaussian" if isinstance(family, lb.GapInstances) else "bernoulli"
    plan = planning.plan(family.n_arms, family.gap, horizon, objective=objective, rewards=rewards, budget=0.3, threads=1)
    options = {"horizon": horizon, "runs": plan.rows[1].runs, "seed": 0, "checkpoints": 2, "threads": 1}
    ours, theirs = (lb.simulate(eval(row.code), family, **options) for row in plan.rows[:2])
    gained = ours["optimal_probability"][:, -1] - theirs["optimal_probability"][:, -1]
    if objective == "regret" or gained.mean() <= 0.005:
        gained = theirs["regret"][:, -1] - ours["regret"][:, -1]
    low = stats.ttest_1samp(gained, 0.0).confidence_interval(0.95).low
    assert (low <= 0, plan.undecided) == (expected, expected)


def test_the_report_says_undecided_and_shows_no_share_where_none_can_be_stuck(found):
    def printed(plan):
        console = Console(file=io.StringIO(), width=200)
        _print_report(plan, console)
        return console.file.getvalue()

    first, second = (row.code for row in found.rows[:2])
    assert "Undecided" not in printed(replace(found, undecided=False))
    text = printed(replace(found, undecided=True))
    assert f"Undecided between {first} and {second}, raise --budget; the first has the better mean." in text
    (line,) = [line for line in text.splitlines() if line.startswith("UCB1(")]
    assert line.split()[3] == "-"


def test_only_rules_with_preferences_can_be_stuck(found):
    stuck = {row.code: row.stuck for row in found.rows}
    barriers = {code for code in stuck if code.startswith(("lb.AutoLogBarrier", "lb.AdaptiveLogBarrierSGB"))}
    assert {code for code, share in stuck.items() if share is not None} == barriers
    assert any(code.startswith("lb.UCB1") for code in stuck.keys() - barriers)


def test_a_rule_too_slow_for_the_budget_is_left_out_and_named():
    plan = planning.plan(700, 0.5, 100, rewards="bernoulli", budget=0.04, threads=1)
    assert "lb.BetaThompsonSampling()" in plan.left_out
    assert "lb.BetaThompsonSampling()" not in {row.code for row in plan.rows}


@pytest.mark.parametrize("rewards", ["gaussian", "bernoulli"])
@pytest.mark.parametrize("horizon", [1e3, 1e5, 1e6])
def test_the_default_budget_is_within_20_s_by_the_costs_stated(horizon, rewards, monkeypatch):
    """The runs that a plan asks for are counted, not made. The dearest rules win, so that they race to the end."""
    spent = []

    def counted(rule, family, *, runs, **_):
        seconds = cost(rule, family.n_arms, int(horizon))
        spent.append(runs * seconds)
        return lb.Record(np.array([0]), {name: np.full((runs, 1), -seconds) for name in race.METRICS}, {}, {})

    monkeypatch.setattr(race, "simulate", counted)
    planning.plan(1000, 0.1, horizon, rewards=rewards)
    assert 0.1 < sum(spent) <= 20.0


def test_a_plan_for_one_rule_races_its_settings_alone():
    pairs = planning.plan(**SMALL, rule="log-barrier-sgb", threads=1)
    settings = {(eval(row.code).learning_rate, eval(row.code).eta) for row in pairs.rows}
    assert {row.code.partition("(")[0] for row in pairs.rows} == {"lb.LogBarrierSGB"}
    assert len(settings) == len(pairs.rows) == 15  # alpha 0.1, 0.3 and 1 are fast enough for 400 pulls
    adaptive = planning.plan(**SMALL, rule="adaptive-log-barrier-sgb", threads=1)
    assert len(adaptive.rows) == 4


def test_the_eta_that_are_tried_have_the_plateaus_they_are_meant_to_have():
    """1 - p(a*) at the exact maximum is 0.3, 0.1, ... within a tenth: the formula drops terms of that order."""
    family = lb.GapInstances(10, 0.1)
    etas = sorted({rule.eta for rule in log_barrier_pairs(family, 10_000)})
    for eta, miss in zip(etas, (0.3, 0.1, 0.03, 0.01, 0.001), strict=True):
        plateaus = [theory.maximiser(family.problem(0, run).means, eta).plateau for run in range(50)]
        assert 1 - np.mean(plateaus) == pytest.approx(miss, rel=0.4 if miss == 0.3 else 0.1)


def test_the_planned_pair_beats_both_too_strong_and_too_weak_barriers_on_other_seeds():
    """Ten arms, 2.5e4 pulls: too strong a barrier ends at p(a*) = 0.3; with none, runs at this alpha are stuck.

    The choice must be ahead of both by more than 3 standard errors of 100 paired runs; seed fixed.
    """
    found = planning.plan(10, 0.1, 25_000, rule="log-barrier-sgb", objective="final", budget=0.5, threads=1)
    choice = eval(found.choice.code)

    def final(rule):
        record = lb.simulate(rule, lb.GapInstances(10), horizon=25_000, runs=100, seed=99, checkpoints=2, threads=1)
        return record["optimal_probability"][:, -1]

    ours = final(choice)
    for other in (replace(choice, eta=30.0), lb.LogBarrierSGB(learning_rate=0.1, eta=1e9)):
        ahead = ours - final(other)
        assert ahead.mean() > 3 * ahead.std(ddof=1) / 10


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
        ({"rewards": "cauchy"}, "plan: rewards must be one of gaussian, bernoulli, counts, revenue, got 'cauchy'"),
        ({"rule": "exp4"}, "plan: rule must be one of adaptive-log-barrier-sgb, .*, got 'exp4'"),
        ({"budget": 1e-9}, "plan: budget must be at least .* s for this horizon, got 1e-09"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(changes, message):
    with pytest.raises(ValueError, match=message):
        planning.plan(**SMALL | changes)


def test_the_command_finds_alpha_and_eta_and_prints_what_the_function_returns():
    words = ["--arms", 5, "--gap", 0.5, "--horizon", 400, "--budget", 0.2, "--rule", "log-barrier-sgb", "--threads", 1]
    done = logbarrier("plan", *words, "--json")
    assert done.returncode == 0, done.stderr
    expected = planning.plan(**SMALL, rule="log-barrier-sgb", threads=1)
    assert json.loads(done.stdout) == json.loads(json.dumps(expected.to_dict()))


def test_the_former_command_tune_points_to_plan():
    done = logbarrier("tune", "--arms", 10, "--gap", 0.1, "--horizon", 2000)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "logbarrier: tune: is now a part of plan; run 'logbarrier plan --rule log-barrier-sgb --objective final' instead\n"
    )


@pytest.mark.parametrize("horizon", [60, 1500])
@pytest.mark.parametrize(
    "rule", [lb.AutoLogBarrier(), *(lb.AdaptiveLogBarrierSGB(learning_rate=a) for a in (0.03, 1.0))], ids=str
)
def test_the_steps_that_visit_every_arm_are_those_that_the_cost_counts(rule, horizon):
    family, ends, n_arms = lb.GapInstances(n_arms=20_000), np.array([horizon]), 20_000
    run = LazyRun(rule, family, Uniform(), stream_key(0), range(1), Stops(ends, np.array([0])), np.empty((1, 1, len(METRICS))))
    run.advance(0, 1)
    counted = run._state[0][2][SLOW_STEPS]
    assert counted / 1.3 <= rebuilds(rule, n_arms, horizon) <= 1.3 * counted


def test_rules_that_visit_every_arm_too_often_for_the_budget_are_left_out():
    """The lazy rules, at 0.4 s a run, and Thompson sampling; an estimate that ignores the visits keeps AutoLogBarrier."""
    found = planning.plan(100_000, 0.1, 200, budget=2.0, threads=1)
    assert "lb.AutoLogBarrier()" in found.left_out
    assert len(found.left_out) == 7


def test_a_plan_for_contexts_ranks_by_regret_and_repeats():
    problem = lb.LinearContexts(3, 4)
    found = planning.plan(problem=problem, horizon=300, budget=0.2)
    assert found == planning.plan(problem=problem, horizon=300, budget=0.2, threads=1)
    ranked = [row.regret for row in found.rows[:2]]
    assert ranked == sorted(ranked)
    assert all(row.code.startswith("lb.contexts.") and row.stuck is None for row in found.rows)
    greedy = next(row for row in found.rows if "EpsilonGreedy" in row.code)
    assert greedy.ahead == pytest.approx(greedy.regret - _regret_of(found.choice.code, problem, greedy.runs), rel=1e-9)
    with pytest.raises(ValueError, match="objective must be regret where the problem has contexts"):
        planning.plan(problem=problem, horizon=300, objective="final")


def _regret_of(code, problem, runs):
    rule = eval(code, {"lb": lb})
    return lb.contexts.simulate(rule, problem, horizon=300, runs=runs, seed=0).mean("regret")[-1]
