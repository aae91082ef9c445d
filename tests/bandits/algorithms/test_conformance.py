"""Every rule passes the public conformance suite, and the suite catches rules that are wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import logbarrier as lb
from logbarrier import testing
from logbarrier.base.failure import RuleError
from logbarrier.engine.compiled import compiled


def test_rule_conforms(rule):
    assert testing.check_rule(rule).passed


@compiled
def drains_twice(reward, probability, t, memory, hyper):
    return 0.1 * reward, 0.2 * reward


@compiled
def lifts_by_probability(reward, probability, t, memory, hyper):
    return 0.1 * reward * probability, 0.1 * reward


@compiled
def divides_by_zero(reward, probability, t, memory, hyper):
    return (reward - reward) / (reward - reward), 0.0


@dataclass(frozen=True, kw_only=True)
class Broken(lb.SGB):
    name = "broken"
    lift_and_drain = staticmethod(drains_twice)


class LiftsByProbability(Broken):
    lift_and_drain = staticmethod(lifts_by_probability)


class DividesByZero(Broken):
    lift_and_drain = staticmethod(divides_by_zero)


@pytest.mark.parametrize("wrong", [Broken, LiftsByProbability])
def test_a_wrong_gradient_is_caught(wrong):
    with pytest.raises(AssertionError, match=r"broken: E\[update\] differs"):
        testing.check_expected_update(wrong(learning_rate=0.1))


def test_a_moving_sum_is_caught():
    with pytest.raises(AssertionError, match="sum of theta moves"):
        testing.check_sum_of_theta(Broken(learning_rate=0.1))


class SaysItNeverDrains(Broken):
    drains = False


def test_a_drain_that_was_denied_is_caught():
    with pytest.raises(AssertionError, match="says drains = False, but drains"):
        testing.check_drain(SaysItNeverDrains(learning_rate=0.1))


def test_every_failure_is_told_and_every_check_shown(monkeypatch):
    """Of the checks that need no loop compiled: a right one among two wrong ones."""
    checks = [testing.check_expected_update, testing.check_extremes, testing.check_sum_of_theta]
    assert testing._checks_of(Broken(learning_rate=0.1))[0] is checks[0]
    monkeypatch.setattr(testing, "_checks_of", lambda rule: checks)
    shown = []
    result = testing.check_rule(Broken(learning_rate=0.1), show=shown.append, raises=False)
    assert [bool(check.failure) for check in result.checks] == [True, False, True]
    assert "FAILED: broken: E[update] differs" in shown[0]
    assert ": ok (" in shown[1]
    assert str(result).splitlines()[1:] == shown
    with pytest.raises(AssertionError, match=r"E\[update\] differs .*; broken: the sum of theta moves"):
        testing.check_rule(Broken(learning_rate=0.1))


@dataclass(frozen=True, kw_only=True)
class SaysNothing(lb.Rule):
    name = "says-nothing"
    place = "nowhere"

    def hyper(self, n_arms):
        return ()


@pytest.mark.parametrize(
    "use",
    [
        lambda rule: lb.simulate(rule, lb.GapInstances(n_arms=3), horizon=5),
        lambda rule: lb.Agent(rule, n_arms=3),
        testing.check_rule,
        lambda rule: lb.Study(name="x", problems=[lb.GapInstances(n_arms=3)], rules=[rule], horizon=5),
    ],
    ids=["simulate", "Agent", "check_rule", "Study"],
)
def test_a_direct_subclass_of_rule_is_told_what_to_inherit(use):
    with pytest.raises(TypeError, match="SaysNothing: must inherit from TwoScalarRule or VectorRule"):
        use(SaysNothing())


def test_nan_is_caught():
    with pytest.raises(AssertionError, match="differs from the claimed one by nan"):
        testing.check_expected_update(DividesByZero(learning_rate=0.1))


def test_a_rule_of_ones_own_runs_in_simulator_and_agent():
    @compiled
    def reward_squared(reward, probability, t, memory, hyper):
        return 0.1 * reward * abs(reward), 0.1 * reward * abs(reward)

    class UserDefined(Broken):
        lift_and_drain = staticmethod(reward_squared)

    own = UserDefined(learning_rate=0.1)
    testing.check_agent_matches_simulator(own)
    testing.check_state_round_trip(own)
    testing.check_draws(own)


def test_sum_of_theta_is_invariant_under_log_barrier_sgb():
    """In the paper's own form, with (1/eta) added to every arm (erratum 5)."""
    alpha, eta, n_arms = 0.1, 30.0, 5
    agent = lb.Agent(lb.LogBarrierSGB(learning_rate=alpha, eta=eta), n_arms=n_arms, seed=0)
    theta = np.zeros(n_arms)
    for t in range(200):
        p, decision = agent.policy, agent.ask()
        reward = np.sin(t)
        theta += alpha * (reward * (np.eye(n_arms)[decision.arm] - p) + (1 - n_arms * p) / eta)
        agent.tell(decision, reward)
    assert abs(theta.sum()) < 1e-12
    assert agent.theta == pytest.approx(theta, abs=1e-12)


@compiled
def reads_what_it_did_not_declare(reward, probability, t, memory, hyper):
    memory.pulls += 1.0
    return hyper[0] * (reward - memory.basline), 0.0


@dataclass(frozen=True, kw_only=True)
class Misspelt(lb.BaselineSGB):
    name = "misspelt"
    lift_and_drain = staticmethod(reads_what_it_did_not_declare)


@pytest.mark.parametrize(
    "use",
    [
        lambda rule: lb.simulate(rule, lb.GapInstances(n_arms=3), horizon=2, runs=1, engine="dense"),
        lambda rule: lb.simulate(rule, lb.GapInstances(n_arms=3), horizon=2, runs=1, engine="lockstep"),
        testing.check_rule,
    ],
    ids=["dense", "lockstep", "check_rule"],
)
def test_a_field_that_a_rule_did_not_declare_is_named_in_one_sentence(use):
    with pytest.raises((RuleError, AssertionError)) as caught:
        use(Misspelt(learning_rate=0.1))
    place, _, reason = str(caught.value).partition(": ")
    assert place.endswith(f"test_conformance.py:{reads_what_it_did_not_declare.py_func.__code__.co_firstlineno + 3}")
    assert reason == "memory.basline must be declared among the fields in `memory` of the class, which has baseline, pulls"


@pytest.mark.parametrize(
    ("declared", "error", "sentence"),
    [
        ({"memory": "baseline"}, TypeError, "memory must be a tuple of names"),
        ({"memory": (0, 1)}, TypeError, "memory must be a tuple of names"),
        ({"memory": ("of_arm",), "remembers_arms": True}, ValueError, "the names in memory must differ, got of_arm, of_arm"),
        ({"memory_size": 2}, TypeError, r'memory_size must be replaced by names, such as memory = \("baseline", "pulls"\)'),
    ],
)
def test_a_memory_without_proper_names_is_refused(declared, error, sentence):
    rule_type = type("UserDefined", (lb.SGB,), declared)
    with pytest.raises(error, match=f"UserDefined: {sentence}"):
        rule_type(learning_rate=0.1)
