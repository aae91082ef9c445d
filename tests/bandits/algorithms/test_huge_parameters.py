"""Parameters as large as their checks allow: the policy stays one."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

import logbarrier as lb


def test_a_huge_learning_rate_leaves_a_policy(rule):
    if "learning_rate" not in [field.name for field in fields(rule)]:
        huge = rule
    elif isinstance(rule, lb.EntropyNPG):
        huge = replace(rule, learning_rate=1e300, tau=1e-300)
    else:
        huge = replace(rule, learning_rate=1e300, **({"schedule": "mei"} if isinstance(rule, lb.BaselineNPG) else {}))
    agent = lb.Agent(huge, n_arms=5, seed=0, means=np.linspace(-1e100, 1e100, 5) if rule.knows_means else None)
    for t in range(40):
        agent.tell(agent.ask(), np.sin(t))
        assert np.isfinite(agent.policy).all()
        assert agent.policy.sum() == pytest.approx(1.0, abs=1e-12)


def test_a_batch_beyond_all_step_numbers_is_refused():
    message = "MiniBatchLogBarrierSGB: batch must be between 1 and 9007199254740992"
    with pytest.raises(ValueError, match=message):
        lb.MiniBatchLogBarrierSGB(learning_rate=0.1, weight=0.1, batch=1e300)
    agent = lb.Agent(lb.MiniBatchLogBarrierSGB(learning_rate=0.1, weight=0.1, batch=2.0**53), n_arms=3)
    agent.tell(agent.ask(), 1.0)
    assert agent.updates == 1


@pytest.mark.parametrize("make", [lb.GaussianBandit, lb.BernoulliBandit])
def test_a_number_too_large_for_a_float_is_refused_in_a_problem(make):
    with pytest.raises(ValueError, match=f"{make.__name__}: means must be"):
        make([0.5, 10**400])
