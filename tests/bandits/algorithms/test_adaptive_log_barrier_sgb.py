"""Adaptive LB-SGB: each schedule is its formula, and the barrier weakens as promised."""

from __future__ import annotations

import json

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import logbarrier as lb
from logbarrier import testing
from logbarrier.bandits.algorithms import make_rule, rule_from_dict
from logbarrier.bandits.algorithms.adaptive_log_barrier_sgb import CLOCKS
from logbarrier.studies.tables import rule_of, table_of_rule

rewards_and_probabilities = st.lists(st.tuples(st.floats(-10, 10), st.floats(1e-6, 1.0)), min_size=2, max_size=60)


def adaptive(schedule="evidence", learning_rate=0.1, **parameters):
    return lb.AdaptiveLogBarrierSGB(learning_rate=learning_rate, schedule=schedule, **parameters)


def etas(rule, n_arms, steps):
    """eta of every step, read off the compiled update: lift - drain = -alpha_t K/eta_t."""
    memory, found = rule.new_memory(), []
    for t, (reward, probability) in enumerate(steps, start=1):
        before = rule.memory_at(memory).learned
        claimed = rule.eta_at(t, n_arms, memory)
        lift, drain = rule.lift_and_drain(float(reward), float(probability), t, rule.memory_at(memory), rule.hyper(n_arms))
        eta = n_arms * (rule.memory_at(memory).learned - before) / (drain - lift)
        assert eta == pytest.approx(claimed, rel=1e-9)
        found.append(eta)
    return found


QUIET = [(0.0, 1.0)] * 100  # no reward: lift - drain has no rounding of the reward in it


@pytest.mark.parametrize(
    ("rule", "formula"),
    [
        (adaptive("power", c=7.0, q=0.3), lambda t: 7 * mpmath.mpf(t) ** mpmath.mpf("0.3")),
        (adaptive("power", c=7.0, q=0.0), lambda t: mpmath.mpf(7)),
        (adaptive("sqrt", c=2.0), lambda t: 2 * mpmath.sqrt(5 * t)),
        (adaptive("time", c=3.0), lambda t: 3 * mpmath.sqrt(mpmath.mpf("0.1") * 5 * t)),
        (
            adaptive("time", lb.inverse_sqrt(0.2), c=3.0),
            lambda t: 3 * mpmath.sqrt(5 * sum(mpmath.mpf("0.2") / mpmath.sqrt(s) for s in range(1, t + 1))),
        ),
        (adaptive("doubling", c=3.0), lambda t: 3 * mpmath.sqrt(mpmath.mpf("0.1") * 5 * 2 ** (t.bit_length() - 1))),
        (adaptive("regret", c=4.0), lambda t: 4 * mpmath.mpf(5) ** mpmath.mpf("-0.1") * mpmath.mpf(t) ** mpmath.mpf("0.2")),
        (adaptive("evidence", c=3.0), lambda t: 3 * mpmath.mpf("0.1") * t),
    ],
    ids=lambda value: value.schedule if isinstance(value, lb.Rule) else "",
)
def test_eta_is_the_formula(rule, formula):
    found = etas(rule, 5, QUIET)
    assert found == pytest.approx([float(formula(t)) for t in range(1, len(QUIET) + 1)], rel=1e-12)


def test_evidence_is_counted_as_in_plain_python():
    rng = np.random.default_rng(0)
    steps = list(zip(rng.normal(size=200), rng.uniform(0.01, 1, 200), strict=True))
    alpha, n_arms, evidence, expected = 0.1, 5, 0.0, []
    for t, (reward, probability) in enumerate(steps, start=1):
        expected.append(3.5 * alpha * t / np.sqrt(1 + evidence / n_arms))
        evidence += alpha * abs(reward) * (1 - probability)
    assert etas(adaptive(), n_arms, steps) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("schedule", sorted(set(CLOCKS) - {"evidence"}))
@given(steps=rewards_and_probabilities)
def test_time_schedules_never_strengthen_and_look_at_no_reward(schedule, steps):
    found = etas(adaptive(schedule), 4, steps)
    assert (np.diff(found) >= -1e-9 * np.array(found[1:])).all()
    assert found == pytest.approx(etas(adaptive(schedule), 4, [(0.0, 1.0)] * len(steps)), rel=1e-8)


@given(steps=rewards_and_probabilities)
def test_evidence_only_lowers_eta_below_linear(steps):
    found = np.array(etas(adaptive(), 4, steps))
    assert (found <= 3.5 * 0.1 * np.arange(1, len(steps) + 1) * (1 + 1e-9)).all()
    assert (found > 0).all()


@given(steps=rewards_and_probabilities, unit=st.floats(1e-3, 1e3))
def test_evidence_does_not_depend_on_the_unit_of_reward(steps, unit):
    """Rewards in another unit, with alpha in its inverse, have eta in its inverse, so the policy stays."""
    scaled = [(reward * unit, probability) for reward, probability in steps]
    one, other = adaptive(learning_rate=0.1), adaptive(learning_rate=0.1 / unit)
    assert np.array(etas(other, 4, scaled)) * unit == pytest.approx(etas(one, 4, steps), rel=1e-7)


@pytest.mark.parametrize("schedule", sorted(CLOCKS))
def test_expected_update_is_the_gradient_at_this_steps_eta(schedule):
    testing.check_expected_update(adaptive(schedule))
    testing.check_sum_of_theta(adaptive(schedule))


@pytest.mark.parametrize("engine", ["dense", "lockstep", "lazy"])
def test_a_constant_eta_is_log_barrier_sgb(engine):
    options = {"horizon": 300, "runs": 3, "seed": 1, "engine": engine}
    adaptively = lb.simulate(adaptive("power", c=40.0, q=0.0), lb.GapInstances(n_arms=8), **options)
    fixed = lb.simulate(lb.LogBarrierSGB(learning_rate=0.1, eta=40.0), lb.GapInstances(n_arms=8), **options)
    assert (adaptively["optimal_probability"] == fixed["optimal_probability"]).all()


def test_the_evidence_barrier_frees_what_sgb_leaves_stuck():
    """SGB ends stuck in more than a tenth of the runs, the adaptive barrier nearly never; the seed is fixed."""
    options = {"horizon": 20_000, "runs": 200, "seed": 5, "checkpoints": 2}
    family = lb.GapInstances(n_arms=10, gap=0.3)
    ours = lb.simulate(adaptive(learning_rate=0.3), family, **options)
    plain = lb.simulate(lb.SGB(learning_rate=0.3), family, **options)
    assert ours.stuck()[-1] < 0.02 < 0.1 < plain.stuck()[-1]
    assert ours.mean("regret")[-1] < plain.mean("regret")[-1]


@pytest.mark.parametrize("schedule", sorted(CLOCKS))
def test_it_survives_json_and_study_tables(schedule):
    rule = adaptive(schedule, lb.inverse_sqrt(0.2), c=2.0, q=0.25)
    assert rule_from_dict(json.loads(json.dumps(rule.to_dict()))) == rule
    assert rule_of(table_of_rule(rule)) == rule


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"schedule": "cosine"}, "AdaptiveLogBarrierSGB: schedule must be one of evidence, time, .* got 'cosine'"),
        ({"c": 0}, "AdaptiveLogBarrierSGB: c must be positive and finite, got 0.0"),
        ({"schedule": "power", "q": -1}, "AdaptiveLogBarrierSGB: q must be zero or positive, got -1.0"),
        ({"learning_rate": -1}, "AdaptiveLogBarrierSGB: learning_rate must be positive and finite, got -1.0"),
        ({"eta": 3}, "adaptive-log-barrier-sgb: has no parameter eta; it takes learning_rate, schedule, c, q"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_rule("adaptive-log-barrier-sgb", {"learning_rate": 0.1, **parameters})
