"""Agents in memory and in a file have the same attributes, calls and return values."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import logbarrier as lb

RULE = lb.LogBarrierSGB(learning_rate=0.5, eta=20.0)
CALLS = {
    "ask": ["available"],
    "tell": ["decision", "reward"],
    "observe": ["arm", "reward", "probability"],
    "forget": ["decision"],
    "add_arm": ["arm", "probability"],
    "remove_arm": ["arm"],
    "summary": ["baseline", "difference", "level"],
    "state_dict": [],
}


@pytest.fixture
def pair(tmp_path):
    options = {"rule": RULE, "arms": ["a", "b", "c"], "seed": 3, "floor": 0.1}
    with lb.DurableAgent(tmp_path / "agent.db", **options) as durable:
        yield lb.Agent(**options), durable


def test_both_agents_have_the_same_parameters_and_results_in_every_call(pair):
    for name, parameters in CALLS.items():
        ours, theirs = (inspect.signature(getattr(type(agent), name)) for agent in pair)
        assert list(ours.parameters)[1 : len(parameters) + 1] == parameters
        assert list(theirs.parameters)[1 : len(parameters) + 1] == parameters
        assert ours.return_annotation == theirs.return_annotation


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
