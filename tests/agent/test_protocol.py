"""One protocol for agents in memory and in a file: the same attributes, calls and return values."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.agent.protocol import OnlineAgent

RULE = lb.LogBarrierSGB(learning_rate=0.5, eta=20.0)


@pytest.fixture
def pair(tmp_path):
    options = {"rule": RULE, "arms": ["a", "b", "c"], "seed": 3, "floor": 0.1}
    with lb.DurableAgent(tmp_path / "agent.db", **options) as durable:
        yield lb.Agent(**options), durable


def test_both_agents_satisfy_the_protocol(pair):
    assert all(isinstance(agent, OnlineAgent) for agent in pair)


def test_every_call_of_the_protocol_has_the_same_parameters_and_results(pair):
    calls = [name for name, value in vars(OnlineAgent).items() if inspect.isfunction(value) and not name.startswith("_")]
    assert {"ask", "tell", "observe", "forget", "add_arm", "remove_arm", "state_dict"} <= set(calls)
    for name in calls:
        expected = inspect.signature(getattr(OnlineAgent, name))
        for agent in pair:
            parameters = inspect.signature(getattr(type(agent), name)).parameters
            assert list(parameters)[: len(expected.parameters)] == list(expected.parameters)
            assert inspect.signature(getattr(type(agent), name)).return_annotation == expected.return_annotation


def test_the_same_calls_have_the_same_effect_and_return_the_same_values(pair):
    seen = []
    for agent in pair:
        first, second, third = (agent.ask() for _ in range(3))
        results = [agent.tell(first, 1.0), agent.forget(second), agent.observe("b", 0.5, probability=0.4)]
        results += [agent.add_arm("d"), agent.remove_arm("a"), agent.asked, agent.updates, agent.pending, third]
        seen.append((results, agent.rule, agent.arms, agent.n_arms, agent.floor, agent.policy, agent.theta, agent.state_dict()))
    (results, *rest), (durable_results, *durable_rest) = seen
    assert results == durable_results
    assert results[:2] == ["told", "forgotten"]
    for one, other in zip(rest, durable_rest, strict=True):
        assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other
