"""OptimisticBarrier online: late rewards, arms that come and go, and exact propensities."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import chisquare

import logbarrier as lb

RATES = {"a": 0.1, "b": 0.3, "c": 0.2}


def taught(decisions: int = 60, **options: object) -> lb.Agent:
    agent, rng = lb.Agent(lb.OptimisticBarrier(), arms=list(RATES), seed=1, **options), np.random.default_rng(0)
    for _ in range(decisions):
        decision = agent.ask()
        agent.tell(decision, reward=float(rng.random() < RATES[decision.arm]))
    return agent


def test_agent_decides_as_run_0_of_a_simulation() -> None:
    problem = lb.GaussianBandit([0.0, 0.4, 0.2], scale=1e-9)  # rewards are the means, up to 1e-9
    record = lb.simulate(lb.OptimisticBarrier(), problem, horizon=300, runs=1, seed=4, checkpoints=[0, 300])
    agent, lost = lb.Agent(lb.OptimisticBarrier(), n_arms=3, seed=4), 0.0
    for _ in range(300):
        decision = agent.ask()
        lost += 0.4 - [0.0, 0.4, 0.2][decision.arm]
        agent.tell(decision, reward=[0.0, 0.4, 0.2][decision.arm])
    assert lost == pytest.approx(record["regret"][0, -1], abs=0.41)


def test_pending_decisions_lower_the_uncertainty_of_their_arm_until_they_end() -> None:
    agent = taught(30)
    before = agent.policy
    decisions = [agent.ask() for _ in range(40)]
    assert not np.allclose(agent.policy, before)
    for decision in decisions:
        agent.forget(decision)
    np.testing.assert_array_equal(agent.policy, before)


def test_order_of_late_rewards_changes_no_mean() -> None:
    forwards, backwards = taught(20), taught(20)
    pending = [(forwards.ask(), backwards.ask()) for _ in range(10)]
    for place in range(10):
        forwards.tell(pending[place][0], reward=float(place % 2))
    for place in reversed(range(10)):
        backwards.tell(pending[place][1], reward=float(place % 2))
    np.testing.assert_allclose(forwards.policy, backwards.policy, rtol=0.05)
    assert forwards.state_dict()["vectors"][1] == backwards.state_dict()["vectors"][1]  # counts


def test_restored_agent_goes_on_to_the_bit() -> None:
    agent = taught()
    agent.ask()
    agent.add_arm("d")
    agent.remove_arm("a")
    restored = lb.Agent.from_state_dict(json.loads(json.dumps(agent.state_dict())))
    for _ in range(50):
        ours, theirs = agent.ask(), restored.ask()
        assert ours == theirs
        agent.tell(ours, reward=1.0)
        restored.tell(theirs, reward=1.0)


def test_a_new_arm_is_tried_soon_and_a_removed_one_never() -> None:
    agent = taught(2000)
    agent.add_arm("new")
    agent.remove_arm("c")
    arms = []
    for _ in range(200):
        decision = agent.ask()
        arms.append(decision.arm)
        agent.tell(decision, reward=1.0 if decision.arm == "new" else 0.0)
    assert arms.index("new") < 20
    assert "c" not in arms
    assert agent.policy[agent.arms.index("new")] > 0.9


def test_removed_arms_take_their_pending_decisions_along() -> None:
    agent = taught()
    decisions = [agent.ask(available=["a"]) for _ in range(5)]
    agent.remove_arm("a")
    for decision in decisions:
        agent.tell(decision, reward=1.0)
    assert agent.rule.memory_at(np.array(agent.state_dict()["memory"])).pending == 0


@pytest.mark.parametrize("available", [None, ["a", "c"]])
@pytest.mark.parametrize("floor", [0.0, 0.2])
def test_propensities_are_frequencies(available: list[str] | None, floor: float) -> None:
    """Chi-square at a false-alarm rate of 1e-3 each; the state is frozen: every decision is forgotten again."""
    agent = taught(floor=floor)
    arms, counts, propensities = available or list(RATES), dict.fromkeys(RATES, 0), {}
    for _ in range(20_000):
        decision = agent.ask(available=available)
        counts[decision.arm] += 1
        propensities[decision.arm] = decision.probability
        agent.forget(decision)
    expected = np.array([propensities[arm] for arm in arms])
    assert expected.sum() == pytest.approx(1.0, abs=1e-12)
    assert chisquare([counts[arm] for arm in arms], 20_000 * expected).pvalue > 1e-3


def observed(n_arms: int, *pulls: tuple[int, int, float]) -> lb.Agent:
    """An agent that was given so many rewards of an arm, with this mean and a noise of 0.1, in turn."""
    agent, rng = lb.Agent(lb.OptimisticBarrier(), n_arms=n_arms, seed=0), np.random.default_rng(6)
    for arm, count, mean in pulls:
        for _ in range(count):
            agent.observe(arm, mean + rng.normal() / 10)
    return agent


def raised(agent: lb.Agent) -> float:
    return float(agent.rule.memory_at(np.array(agent.state_dict()["memory"])).raised)


def test_pulls_of_removed_arms_are_none_of_the_leader() -> None:
    agent = observed(5, (4, 200, 0.9), (1, 1, 0.95), (2, 2, 0.2), (3, 2, 0.1), (0, 35, 1.0))
    agent.remove_arm(4)  # which had more than half of the pulls
    agent.observe(0, 1.0)
    assert raised(agent) == 0.0


def test_the_leader_is_raised_above_available_arms_alone() -> None:
    agent = observed(4, (1, 1, 0.9), (2, 2, 0.2), (3, 12, 1.05), (0, 35, 1.0))
    assert raised(agent) == 0.0  # arm 1 is tried, arm 0 has most pulls
    assert agent.policy[0] > 0.5
    decision = agent.ask(available=[0, 2, 3])
    assert decision.arm == 3  # of a greater mean than the leader
    assert decision.probability > 0.9
