"""The agent: late rewards, names, errors that change nothing, state."""

from __future__ import annotations

import json

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.bandits.softmax import softmax

RULE = lb.LogBarrierSGB(learning_rate=0.5, eta=20.0)


def test_a_late_reward_is_credited_to_the_policy_that_drew_it():
    alpha, barrier = 0.5, 3 / 20.0
    agent = lb.Agent(RULE, n_arms=3, seed=1)
    early = agent.ask()
    theta, first_policy = np.zeros(3), agent.policy
    for reward in (1.0, -2.0):
        p, decision = agent.policy, agent.ask()
        agent.tell(decision, reward)
        theta = theta + alpha * reward * np.eye(3)[decision.arm] - alpha * (reward + barrier) * p
    agent.tell(early, 3.0)
    theta = theta + alpha * 3.0 * np.eye(3)[early.arm] - alpha * (3.0 + barrier) * first_policy
    assert agent.policy == pytest.approx(softmax(theta), rel=1e-13)


def test_a_late_natural_gradient_divides_by_the_probability_of_the_decision():
    agent = lb.Agent(lb.NPG(learning_rate=0.1), n_arms=3, seed=0)
    early = agent.ask()
    agent.observe(early.arm, 5.0)
    before = agent.theta
    agent.tell(early, 1.0)
    moved = agent.theta - before
    assert moved[early.arm] - moved[(early.arm + 1) % 3] == pytest.approx(0.1 / early.probability)


def test_policies_are_kept_only_while_someone_waits():
    agent = lb.Agent(RULE, n_arms=3, seed=0)
    first, second = agent.ask(), agent.ask()
    assert agent.pending == (0, 1)
    agent.tell(second, 1.0)
    third = agent.ask()
    agent.observe(0, 0.5)
    assert len(agent.state_dict()["moments"]) == 2
    agent.tell(first, 1.0)
    assert len(agent.state_dict()["moments"]) == 1
    agent.forget(third)
    assert agent.state_dict()["moments"] == []
    assert agent.pending == ()
    assert agent._pending._kept == 0


def test_order_of_late_rewards_moves_only_rounding_for_a_memoryless_rule():
    def learnt(order):
        agent = lb.Agent(lb.SGB(learning_rate=0.3), n_arms=4, seed=2)
        decisions = [agent.ask() for _ in range(4)]
        for i in order:
            agent.tell(decisions[i], reward=float(i))
        return agent.policy

    assert learnt([0, 1, 2, 3]) == pytest.approx(learnt([3, 1, 0, 2]), rel=1e-13)


def test_arms_have_names():
    agent = lb.Agent(RULE, arms=["a", "b", "c"], seed=0)
    decision = agent.ask()
    assert decision.arm in ("a", "b", "c")
    agent.tell(decision.id, 1.0)
    agent.observe("b", 2.0)
    assert agent.updates == 2
    assert "3 arms, 2 updates, 0 pending" in repr(agent)


def test_the_best_arm_is_found_online():
    agent = lb.Agent(lb.LogBarrierSGB(learning_rate=0.2, eta=500), n_arms=5, seed=0)
    for _ in range(3000):
        decision = agent.ask()
        agent.tell(decision, reward=1.0 if decision.arm == 3 else 0.2)
    assert np.argmax(agent.policy) == 3
    assert agent.policy[3] > 0.9


@pytest.mark.parametrize(
    ("act", "kind", "message"),
    [
        (lambda a, d: a.tell(d, float("nan")), ValueError, "Agent.tell: reward must be finite, got nan"),
        (lambda a, d: a.tell(d, float("inf")), ValueError, "Agent.tell: reward must be finite, got inf"),
        (lambda a, d: a.tell(d, "much"), TypeError, "Agent.tell: reward must be a number, got 'much'"),
        (lambda a, d: a.tell(d, 1e200), ValueError, "Agent.tell: reward must be at most 1e\\+100 in size"),
        (lambda a, d: a.tell(99, 1.0), KeyError, "Agent.tell: decision 99 was never asked"),
        (lambda a, d: a.tell(0, 1.0), KeyError, "Agent.tell: decision 0 has been told or forgotten already"),
        (lambda a, d: a.forget(0), KeyError, "Agent.forget: decision 0 has been told or forgotten already"),
        (lambda a, d: a.observe(3, 1.0), ValueError, "Agent.observe: arm must be one of 0 to 2, got 3"),
        (lambda a, d: a.observe(-1, 1.0), ValueError, "Agent.observe: arm must be one of 0 to 2, got -1"),
        (lambda a, d: a.observe(0, None), TypeError, "Agent.observe: reward must be a number, got None"),
    ],
)
def test_a_mistake_is_named_and_changes_nothing(act, kind, message):
    agent = lb.Agent(RULE, n_arms=3, seed=0)
    agent.tell(agent.ask(), 1.0)
    decision = agent.ask()
    before = json.dumps(agent.state_dict())
    with pytest.raises(kind, match=message):
        act(agent, decision)
    assert json.dumps(agent.state_dict()) == before


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lb.Agent(RULE, n_arms=1), "Agent: n_arms must be at least 2, got 1"),
        (lambda: lb.Agent(RULE, arms=["a"]), "Agent: needs at least 2 arms, got 1"),
        (lambda: lb.Agent(RULE, arms=["a", "b", "a"]), "Agent: arms must all differ, got 'a' twice"),
        (lambda: lb.Agent(RULE), "Agent: give either n_arms or arms"),
        (lambda: lb.Agent.from_state_dict({}), "Agent.from_state_dict: not an agent's state"),
        (lambda: lb.Agent.from_state_dict({"format": 99}), "Agent.from_state_dict: format must be 2, got 99"),
        (lambda: lb.Agent.from_state_dict({"format": 2}), "Agent.from_state_dict: the state lacks 'rule'"),
    ],
)
def test_bad_agents_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_state_restores_in_another_process_with_the_same_bits(run_python):
    agent = lb.Agent(lb.BaselineNPG(learning_rate=0.2), arms=["x", "y", "z"], seed=3)
    pending = agent.ask()
    for t in range(30):
        agent.tell(agent.ask(), np.sin(t))
    code = f"""
import json
import logbarrier as lb
agent = lb.Agent.from_state_dict(json.loads({json.dumps(json.dumps(agent.state_dict()))}))
agent.tell({pending.id}, 0.5)
print(json.dumps([agent.ask().arm, agent.policy.tolist()]))
"""
    agent.tell(pending, 0.5)
    assert json.loads(run_python(code)) == [agent.ask().arm, agent.policy.tolist()]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"theta": [0.0, 1.0]}, "theta must be 3 finite numbers"),
        ({"theta": [0.0, 1.0, float("nan")]}, "theta must be 3 finite numbers"),
        ({"shift": 1e6}, "shift must fit theta"),
        ({"memory": [5.0]}, "memory must be 2 finite numbers"),
        ({"arm_counts": [-1.0, 0.0, 0.0]}, "arm_counts must be zero or positive"),
        ({"asked": -5}, "asked must be between 0 and"),
        ({"updates": None}, "updates must be a whole number, got None"),
        ({"updates": 2**63}, "updates must be between 0 and 9007199254740992, got 9223372036854775808"),
        ({"updates": 1.0}, "updates must be a whole number, got 1.0"),
        ({"asked": True}, "asked must be a whole number, got True"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"floor": 1.0}, "floor must be at least 0 and below 1, got 1.0"),
        ({"theta": [0.0, 1.0, 10**400]}, "theta must be 3 finite numbers"),
        ({"shift": 10**400}, "shift must be a number"),
        ({"arms": ["a", float("nan"), "c"]}, "the name of an arm must be a string or a finite number, got nan"),
        ({"arms": ["a", "b", True]}, "the name of an arm must be a string or a finite number, got True"),
        ({"arms": "abc", "pending": [[1, "a", 1, 0.3, 0.3, None]]}, "pending decision 1 must be of an arm of its moment"),
        ({"pending": [[0, 1, 3, 0.3, 0.3, None]]}, "pending arm must be between 0 and 2, or -1, got 3"),
        ({"pending": [[0, 1, 1.0, 0.3, 0.3, None]]}, "pending arm must be between 0 and 2, or -1, got 1.0"),
        ({"pending": [[0, 1, True, 0.3, 0.3, None]]}, "pending arm must be between 0 and 2, or -1, got True"),
        ({"pending": [[1.0, 1, 1, 0.3, 0.3, None]]}, "pending id must be a whole number, got 1.0"),
        ({"pending": [[2, 1, 1, 0.3, 0.3, None]]}, "pending id must be between 0 and 1, got 2"),
        ({"pending": [[0, 1, 1, 0.3, 0.3, None]] * 2}, "pending ids must be in ascending order, got 0 after 0"),
        ({"pending": [[0, 1, 1, 0.3, 1.5, None]]}, "pending propensity must be above 0 and at most 1, got 1.5"),
        ({"pending": [[0, 1, 1, True, 0.3, None]]}, "pending probability must be a number, got True"),
        ({"pending": [[0, 1, 1, 0.3, 0.3, 0]]}, "pending moment must be between 0 and -1, got 0"),
        ({"pending": [[0, 1, -1, 0.3, 0.3, None]]}, "pending decision 0 must be of an arm of its moment"),
        ({"pending": [[0, 1]]}, "pending must be a list of lists of 6"),
        ({"moments": [[None, [1.0], 3]]}, "an earlier policy must be 3 finite numbers"),
        ({"moments": [[None, [0.9, 0.9, 0.9], 3]]}, "an earlier policy must be probabilities that sum to 1"),
        ({"moments": [[None, [0.2, 0.3, 0.5], 3]]}, "no pending decision belongs to moment 0"),
        ({"moments": [[[0, 0], [0.5, 0.5], 2]]}, "the arms of a moment must be in ascending order"),
        ({"moments": [[[0, 1], [0.5, 0.5], 1]]}, "the size of a moment must fit its arms, got 1"),
        ({"rule": None}, "the state is damaged"),
    ],
)
def test_a_damaged_state_is_refused_in_one_sentence(change, message):
    agent = lb.Agent(lb.BaselineNPG(learning_rate=0.1), n_arms=3, seed=0)
    agent.tell(agent.ask(), 1.0)
    agent.ask()
    with pytest.raises(ValueError, match=f"Agent(.from_state_dict)?: {message}"):
        lb.Agent.from_state_dict({**agent.state_dict(), **change})


FIRST_FORMAT = {
    "format": 1, "rule": {"rule": "sgb", "learning_rate": 0.5}, "arms": ["a", "b"], "seed": 0, "asked": 2, "updates": 1,
    "theta": [0.25, -0.25], "shift": 0.25, "memory": [0.0], "arm_means": [], "arm_counts": [],
    "pending": [[0, 1, 0.5, 0], [1, 0, 0.6224593312018546, 1]], "earlier": {"0": [0.5, 0.5]},
}  # fmt: skip


def test_a_state_of_the_first_format_is_read():
    agent = lb.Agent.from_state_dict(FIRST_FORMAT)
    agent.tell(0, 1.0)
    assert np.diff(agent.theta) == pytest.approx([0.0], abs=1e-15)  # -0.5 + 0.5 R
    agent.tell(1, 1.0)
    assert agent.pending == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pending": [[0, 1.0, 0.5, 0]]}, "pending arm must be between 0 and 1, got 1.0"),
        ({"pending": [[0, True, 0.5, 0]]}, "pending arm must be between 0 and 1, got True"),
        ({"pending": [[0, 1, 0.5, 7]]}, "the policy of pending decision 0 is missing"),
        ({"pending": [[1, 1, 0.5, 1]]}, "no pending decision belongs to moment 0"),
        ({"earlier": {"0": [0.5, 0.6]}}, "an earlier policy must be probabilities that sum to 1"),
        ({"earlier": None}, "the state is damaged"),
    ],
)
def test_damage_to_a_state_of_the_first_format_is_named(change, message):
    with pytest.raises(ValueError, match=f"Agent.from_state_dict: {message}"):
        lb.Agent.from_state_dict({**FIRST_FORMAT, **change})


def test_a_decision_of_another_agent_is_refused():
    ours, theirs = lb.Agent(RULE, n_arms=3, seed=0), lb.Agent(RULE, n_arms=3, seed=5)
    mine, foreign = ours.ask(), theirs.ask()
    assert mine.arm != foreign.arm
    with pytest.raises(KeyError, match="decision 0 is not this agent's"):
        ours.tell(foreign, 1.0)


def test_names_of_arms_survive_json():
    agent = lb.Agent(RULE, arms=np.array([10, 20, 30]), seed=0)
    assert lb.Agent.from_state_dict(json.loads(json.dumps(agent.state_dict()))).arms == (10, 20, 30)
    for arms in ([(1, 2), (3, 4)], 5):
        with pytest.raises(TypeError, match="Agent: "):
            lb.Agent(RULE, arms=arms)


def test_a_start_that_needs_an_instance_is_refused():
    with pytest.raises(TypeError, match="Agent: start must be None or one probability per arm"):
        lb.Agent(RULE, n_arms=3, start=lb.OptimalArmAt(0.01))
