"""ContextualAgent: asks, tells, state, wrong input, and agreement with the simulator."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import logbarrier as lb
from logbarrier import contexts
from logbarrier.contexts.loop import gaussian_reward
from logbarrier.engine.compiled import from_python
from logbarrier.engine.random import step_uniforms, stream_key

FEATURES = {"age": "number", "member": "boolean", "country": "category", "device": ["phone", "desktop"]}


def trained(agent, rng, steps, size):
    """Let an agent decide and learn; some decisions stay pending."""
    for step in range(steps):
        x = rng.normal(size=size)
        decision = agent.ask(x)
        if step % 5:
            agent.tell(decision, float(x[0] * decision.arm + rng.normal()))
    return agent


@pytest.mark.parametrize("delay", [0, 7, 100])
def test_an_agent_makes_the_decisions_of_run_0_of_the_simulator(delay):
    problem, key = lb.LinearContexts(4, 6, delay=delay, change_every=400), stream_key(3)
    record = contexts.simulate(contexts.ContextualBarrier(), problem, horizon=800, seed=3)
    agent, regret, queue = lb.ContextualAgent(n_arms=4, features=6, seed=3), 0.0, []
    rows, means = problem.rows(key, 0, 0, 800)
    for t in range(800):
        decision = agent.ask(rows[t])
        regret += means[t].max() - means[t, decision.arm]
        _, u = from_python(step_uniforms)(t, 0, key)
        queue.append((decision, from_python(gaussian_reward)(means[t, decision.arm], u, 0.5)))
        if len(queue) > delay:
            agent.tell(*queue.pop(0))
    assert regret == record["regret"][0, -1]
    assert agent.restarts == record["restarts"][0, -1]


def test_arms_are_drawn_with_their_propensities():
    """Chi-square of the draws of 8,000 decisions against the sum of their probabilities; false alarms: 1 in 1,000."""
    rng = np.random.default_rng(1)
    agent = trained(lb.ContextualAgent(n_arms=5, features=3, seed=5, price=1.0), rng, 64, 3)
    expected, drawn, variance = np.zeros(5), np.zeros(5), np.zeros((5, 5))
    for _ in range(8000):
        x = rng.normal(size=3)
        p = agent.probabilities(x)
        decision = agent.ask(x)
        assert decision.probability == p[decision.arm]
        agent.tell(decision, float(x[decision.arm % 3] + 0.3 * rng.normal()))
        expected, variance = expected + p, variance + np.diag(p) - np.outer(p, p)
        drawn[decision.arm] += 1
    difference = (drawn - expected)[:4]
    chi_square = difference @ np.linalg.solve(variance[:4, :4], difference)
    assert stats.chi2.sf(chi_square, 4) > 1e-3


def test_a_model_shared_by_all_items_restarts_once_for_one_change():
    rng, agent = np.random.default_rng(0), lb.ContextualAgent(actions=6, seed=0)
    for weights in rng.normal(size=(2, 6)):
        for _ in range(4000):
            items = rng.normal(size=(20, 6))
            decision = agent.ask(actions=items)
            agent.tell(decision, float(items[decision.arm] @ weights + rng.normal()))
    assert agent.restarts == 1


@pytest.mark.parametrize("steps", [3, 40, 300])
def test_a_restored_agent_goes_on_with_the_same_bits(steps):
    rng = np.random.default_rng(steps)
    agent = trained(lb.ContextualAgent(n_arms=3, features=4, floor=0.1, seed=2), rng, steps, 4)
    agent.remove_arm(1)
    agent.add_arm("new")
    other = lb.ContextualAgent.from_state_dict(json.loads(json.dumps(agent.state_dict())))
    for identity in agent.pending[:3]:
        agent.tell(identity, 0.5)
        other.tell(identity, 0.5)
    for _ in range(80):
        x = rng.normal(size=4)
        decision = agent.ask(x)
        assert decision == other.ask(x)
        agent.tell(decision, float(x[1]))
        other.tell(decision, float(x[1]))
    assert agent.state_dict() == other.state_dict()


def test_named_features_survive_a_restart_and_unseen_values_do_no_harm():
    agent = lb.ContextualAgent(arms=["a", "b"], features=FEATURES, seed=0)
    for i in range(100):
        context = {"age": 20.0 + i % 50, "country": f"c{i % 30}", "device": "phone", "member": i % 3 == 0}
        agent.tell(agent.ask(context), float(i % 3 == 0))
    other = lb.ContextualAgent.from_state_dict(json.loads(json.dumps(agent.state_dict())))
    for context in ({}, {"age": None, "country": "new"}, {"age": float("nan"), "member": True, "device": "desktop"}):
        assert agent.ask(context) == other.ask(context)


def test_a_shared_model_learns_which_actions_pay():
    rng, agent = np.random.default_rng(0), lb.ContextualAgent(actions=3, features=2, seed=0)
    theta, cross = rng.normal(size=3), rng.normal(size=(3, 2))
    regret = []
    for _ in range(1500):
        x, table = rng.normal(size=2), rng.normal(size=(20, 3))
        values = table @ theta + table @ cross @ x
        decision = agent.ask(x, actions=table)
        regret.append(values.max() - values[decision.arm])
        agent.tell(decision, float(values[decision.arm] + rng.normal()))
    assert np.mean(regret[-300:]) < 0.1 * np.mean(regret[:20])
    estimated, errors = agent.predict(x, actions=table)
    assert (np.abs(estimated - values) < 5 * errors).all()
    named = agent.ask(x, actions={"first": table[0], "second": table[1]})
    assert named.arm in ("first", "second")


def test_decisions_do_not_depend_on_the_units_of_rewards_and_features():
    rng = np.random.default_rng(3)
    plain, other = (lb.ContextualAgent(n_arms=3, features=4, seed=1) for _ in range(2))
    for _ in range(300):
        x = rng.normal(size=4)
        one, two = plain.ask(x), other.ask(1000.0 * x)
        assert one.arm == two.arm
        assert one.probability == pytest.approx(two.probability, rel=1e-6)
        reward = x[one.arm] + rng.normal()
        plain.tell(one, float(reward))
        other.tell(two, float(7.0 * reward))


def test_pending_decisions_narrow_the_standard_error_and_forgotten_ones_do_not():
    rng = np.random.default_rng(0)
    agent, x = trained(lb.ContextualAgent(n_arms=2, features=3, seed=0), rng, 200, 3), np.ones(3)
    before = agent.predict(x)[1]
    decision = agent.ask(x)
    assert agent.predict(x)[1][decision.arm] < 0.99 * before[decision.arm]
    agent.forget(decision)
    np.testing.assert_allclose(agent.predict(x)[1], before, rtol=1e-9)


def test_a_log_is_learnt_from_like_decisions_of_its_own():
    rng = np.random.default_rng(2)
    agent, reader = (lb.ContextualAgent(n_arms=3, features=2, seed=seed) for seed in (0, 1))
    for _ in range(150):
        x = rng.normal(size=2)
        decision = agent.ask(x)
        agent.tell(decision, float(x[0]))
        reader.observe(x, decision.arm, float(x[0]))
    np.testing.assert_array_equal(agent.predict(x)[0], reader.predict(x)[0])


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"age": "old"}, "age must be a number"),
        ({"age": float("inf")}, "age must be finite"),
        ({"member": 1}, "member must be true or false"),
        ({"country": 1.5}, "country must be a word or a whole number"),
        ({"device": "watch"}, "device must be one of phone, desktop"),
        ({"Age": 3}, "context must name only age, member, country, device, got 'Age'; did you mean age"),
        ([1.0], "context must be a dict"),
    ],
)
def test_a_wrong_context_gets_one_sentence_and_changes_nothing(context, message):
    agent = lb.ContextualAgent(arms=["a", "b"], features=FEATURES, seed=0)
    agent.ask({"age": 3, "country": "it"})
    before = agent.state_dict()
    with pytest.raises((ValueError, TypeError), match=message):
        agent.ask({"country": "fr", **context} if isinstance(context, dict) else context)
    assert agent.state_dict() == before


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda agent: agent.ask([1.0, np.nan]), ValueError, "context must be finite"),
        (lambda agent: agent.ask([1.0]), ValueError, "context must have 2 numbers"),
        (lambda agent: agent.ask([1.0, 2.0], available=[]), ValueError, "at least one arm"),
        (lambda agent: agent.ask([1.0, 2.0], available=[7]), ValueError, "arm must be one of 0, 1, 2, got 7"),
        (lambda agent: agent.ask([1.0, 2.0], actions=[[1.0]]), ValueError, "actions must be left out"),
        (lambda agent: agent.tell(0, np.nan), ValueError, "reward must be finite"),
        (lambda agent: agent.tell(5, 1.0), KeyError, "decision 5 was never asked"),
        (lambda agent: agent.tell(1, 1.0), KeyError, "decision 1 has a reward already"),
        (lambda agent: agent.remove_arm("x"), ValueError, "arm must be one of"),
        (lambda agent: agent.add_arm(2), ValueError, "arm 2 exists already"),
    ],
)
def test_a_wrong_call_gets_one_sentence_and_changes_nothing(call, error, message):
    agent = lb.ContextualAgent(n_arms=3, features=2, seed=0)
    agent.ask([0.0, 1.0])
    agent.tell(agent.ask([1.0, 1.0]), 1.0)
    before = agent.state_dict()
    with pytest.raises(error, match=message):
        call(agent)
    assert agent.state_dict() == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": 2}, "give one of arms, n_arms and actions"),
        ({"n_arms": 2, "features": "age"}, "features must be a whole number or a dict"),
        ({"n_arms": 2, "features": 0}, "features must be at least 1"),
        ({"n_arms": 2, "features": {"age": "numbers"}}, "the kind of age must be one of number, boolean, category"),
        ({"n_arms": 2, "features": 3, "price": -1.0}, "price must be positive"),
        ({"actions": 964_829}, "actions must be between 1 and 10000"),
        ({"actions": 9000}, "K d\\^2 must be at most 67,108,864"),
        ({"n_arms": 20, "features": 2000}, "K d\\^2 must be at most 67,108,864"),
        ({"actions": 2, "features": {"age": "number"}}, "features must be a whole number where actions are given"),
    ],
)
def test_wrong_options_get_one_sentence(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        lb.ContextualAgent(**options)


def test_a_damaged_state_is_refused():
    agent = lb.ContextualAgent(n_arms=2, features=2)
    agent.ask([1.0, 2.0])
    state = agent.state_dict()
    for damaged in ({}, {**state, "contextual": 9}, {**state, "asked": "x"}, {**state, "scaling": ["", "", ""]}):
        with pytest.raises((ValueError, TypeError), match="from_state_dict"):
            lb.ContextualAgent.from_state_dict(damaged)
