"""Parameters are checked, named in errors, and survive a round trip through JSON."""

from __future__ import annotations

import json
import math

import pytest

import logbarrier as lb
from logbarrier.bandits.algorithms import make_rule, rule_from_dict
from logbarrier.bandits.schedules import learning_rate_at


def test_every_rule_survives_json(rule):
    assert rule_from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (lb.constant(0.3), [0.3, 0.3, 0.3]),
        (lb.inverse_sqrt(0.3), [0.3, 0.15, 0.1]),
        (lb.power_law(0.3, 1.0), [0.3, 0.075, 0.3 / 9]),
        (lb.exponential_decay(0.3, 0.5), [0.3 * math.exp(-0.5), 0.3 * math.exp(-2), 0.3 * math.exp(-4.5)]),
    ],
)
def test_schedules_are_what_they_say(schedule, expected):
    numbers = (schedule.scale, schedule.power, schedule.rate)
    assert [learning_rate_at(t, numbers) for t in (1, 4, 9)] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lb.LogBarrierSGB(learning_rate=0.1, eta=-0.1), "LogBarrierSGB: eta must be positive and finite, got -0.1"),
        (lambda: lb.LogBarrierSGB(learning_rate=0.1, eta=0), "LogBarrierSGB: eta must be positive and finite, got 0.0"),
        (
            lambda: lb.LogBarrierSGB(learning_rate=0.1, eta=math.nan),
            "LogBarrierSGB: eta must be positive and finite, got nan",
        ),
        (lambda: lb.SGB(learning_rate=float("inf")), "SGB: learning_rate must be positive and finite, got inf"),
        (lambda: lb.SGB(learning_rate=0.0), "SGB: learning_rate must be positive and finite, got 0.0"),
        (lambda: lb.EntropySGB(learning_rate=0.1, tau=-1), "EntropySGB: tau must be zero or positive, got -1.0"),
        (lambda: lb.NPG(learning_rate=-1), "NPG: learning_rate must be positive and finite, got -1.0"),
        (
            lambda: lb.BaselineNPG(learning_rate=0.1, schedule="cosine"),
            "BaselineNPG: schedule must be one of constant, inverse_sqrt, mei, got 'cosine'",
        ),
        (lambda: lb.BaselineNPG(learning_rate=lb.constant(0.1)), "BaselineNPG: with a Schedule as learning_rate"),
        (lambda: lb.BaselineNPG(learning_rate=0.1, r_max=1e200), "BaselineNPG: r_max must be between 1e-100 and 1e\\+100"),
        (lambda: lb.ClippedLogBarrierSGB(c=0), "ClippedLogBarrierSGB: c must be positive and finite, got 0.0"),
        (lambda: lb.inverse_sqrt(-1), "Schedule: scale must be positive and finite, got -1.0"),
        (lambda: make_rule("ucb", {}), "rule: must be one of .* got 'ucb'"),
        (lambda: make_rule("sgb", {"eta": 1}), "sgb: has no parameter eta; it takes learning_rate"),
        (lambda: make_rule("log-barrier-sgb", {"eta": 1}), "log-barrier-sgb: needs learning_rate; it takes learning_rate, eta"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()
