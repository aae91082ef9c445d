"""Arms that come, go and are unavailable; floors and the logs of others: every mean update is the gradient."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import chisquare

import logbarrier as lb
from logbarrier.agent import pending
from logbarrier.agent.drawn import Drawn
from logbarrier.agent.learner import learner_of
from logbarrier.bandits.softmax import log_softmax, softmax

RULE = lb.LogBarrierSGB(learning_rate=0.5, eta=20.0)
THETA = np.array([0.3, -1.2, 0.8, 2.0, -0.4])
MEANS = np.array([0.2, 0.9, -0.5, 0.4, 0.1])


def mean_update(rule, theta, arms, floor, memory_of, t=2):
    """E[change of theta] over arms drawn from floor/n + (1 - floor) q and two rewards each, enumerated."""
    q = softmax(theta[arms])
    propensities = floor / len(arms) + (1 - floor) * q
    total = np.zeros(len(theta))
    for i, arm in enumerate(arms):
        for reward in (MEANS[arm] - 0.7, MEANS[arm] + 0.7):
            learner = memory_of(learner_of(rule, theta, None))
            learner.update_subset(t, int(arm), float(reward), Drawn(arms, q, q[i], len(arms), q[i] / propensities[i]))
            total += 0.5 * propensities[i] * (learner.theta - theta)
    return total


@pytest.mark.parametrize("floor", [0.0, 0.3])
@pytest.mark.parametrize("arms", [[0, 1, 2, 3, 4], [0, 2, 4], [3]])
def test_mean_update_on_the_available_arms_is_the_rules_own_for_so_many_arms(two_scalar_rule, arms, floor):
    arm_means = np.array([0.5, -0.2, 0.1, 0.7, 0.0])

    def with_means(learner):
        if two_scalar_rule.uses_arm_means:
            learner._learned[1][:], learner._learned[2][:] = arm_means, 3.0
        return learner

    update = mean_update(two_scalar_rule, THETA, np.array(arms), floor, with_means)
    q = softmax(THETA[arms])
    memory = arm_means[arms] if two_scalar_rule.uses_arm_means else two_scalar_rule.new_memory()
    if two_scalar_rule.remembers_arms:
        memory = np.tile(memory, (len(arms), 1))
    claimed = two_scalar_rule.expected_update(2, q, MEANS[arms], memory)
    assert update[arms] == pytest.approx(claimed - claimed.mean(), abs=1e-14)
    assert np.delete(update, arms) == pytest.approx(np.zeros(5 - len(arms)), abs=0)


def test_mean_update_on_the_available_arms_is_the_gradient_of_the_barrier_objective_there():
    arms = np.array([0, 2, 3])

    def objective(theta):
        return softmax(theta[arms]) @ MEANS[arms] + log_softmax(theta[arms]).sum() / 20.0

    width = 1e-5
    gradient = [(objective(THETA + width * e) - objective(THETA - width * e)) / (2 * width) for e in np.eye(5)]
    assert mean_update(RULE, THETA, arms, 0.2, lambda learner: learner) == pytest.approx(0.5 * np.array(gradient), abs=1e-10)


def test_an_observed_pull_of_another_policy_moves_by_the_gradient_of_ours():
    theirs = np.array([0.1, 0.2, 0.3, 0.25, 0.15])
    total, start = np.zeros(5), softmax(THETA)
    for arm in range(5):
        agent = lb.Agent(RULE, n_arms=5, start=start)
        before = agent.theta
        agent.observe(arm, MEANS[arm], probability=theirs[arm])
        total += theirs[arm] * (agent.theta - before)
    gradient = RULE.expected_update(1, start, MEANS, np.zeros(1))
    assert total == pytest.approx(gradient, abs=1e-14)


def test_available_arms_are_drawn_by_their_odds_and_the_propensity_is_told():
    agent = lb.Agent(RULE, arms="abcde", start=softmax(THETA), seed=3, floor=0.2)
    decisions = [agent.ask(available=["e", "a", "c"]) for _ in range(4000)]
    b = 0.2 / 3 + 0.8 * softmax(THETA[[0, 2, 4]])
    expected = dict(zip("ace", b, strict=True))
    assert all(d.probability == pytest.approx(expected[d.arm], rel=1e-13) for d in decisions)
    counts = [sum(d.arm == name for d in decisions) for name in "ace"]
    assert chisquare(counts, 4000 * b).pvalue > 1e-6  # the false-alarm rate


def test_a_floor_holds_for_every_arm_and_the_propensity_is_that_of_the_policy():
    agent = lb.Agent(RULE, n_arms=4, start=[0.999, 5e-4, 4e-4, 1e-4], floor=0.1, seed=1)
    assert agent.policy.min() > 0.1 / 4
    assert agent.policy.sum() == pytest.approx(1.0, abs=1e-15)
    decisions = [agent.ask() for _ in range(2000)]
    assert all(d.probability == pytest.approx(agent.policy[d.arm], rel=1e-13) for d in decisions)
    counts = np.bincount([d.arm for d in decisions], minlength=4)
    assert chisquare(counts, 2000 * agent.policy).pvalue > 1e-6  # the false-alarm rate


def test_a_decision_on_all_arms_by_name_is_the_one_without_names():
    one, other = lb.Agent(RULE, n_arms=3, seed=4), lb.Agent(RULE, n_arms=3, seed=4)
    for t in range(20):
        ours, theirs = one.ask(), other.ask(available=[2, 0, 1])
        assert ours.arm == theirs.arm
        one.tell(ours, t % 3)
        other.tell(theirs, t % 3)
    assert one.policy == pytest.approx(other.policy, rel=1e-13)


def test_a_new_arm_enters_at_its_share_and_leaves_the_odds_alone():
    agent = lb.Agent(RULE, n_arms=5, start=softmax(THETA))
    agent.add_arm("new")
    assert agent.policy[5] == pytest.approx(1 / 6, rel=1e-14)
    assert agent.policy[:5] / agent.policy[0] == pytest.approx(softmax(THETA) / softmax(THETA)[0], rel=1e-13)
    agent.add_arm("rare", probability=1e-6)
    assert agent.policy[6] == pytest.approx(1e-6, rel=1e-12)
    agent.remove_arm(2)
    assert agent.arms == (0, 1, 3, 4, "new", "rare")
    left = softmax(THETA)[[0, 1, 3, 4]]
    assert agent.policy[:4] / agent.policy[0] == pytest.approx(left / left[0], rel=1e-13)


def test_a_reward_from_before_the_arms_changed_is_the_gradient_of_that_moment_on_the_arms_that_stayed():
    total, stayed = np.zeros(4), [0, 2, 3, 4]
    start = softmax(THETA)
    for arm in range(5):
        agent = lb.Agent(RULE, n_arms=5, start=start)
        learner = agent._learner
        moment = pending.Moment(None, None, 5)
        agent._pending.now = moment
        agent._pending.add(lb.Decision(0, arm, start[arm]), arm, float(start[arm]), moment)
        agent._asked = 1
        agent.add_arm("new")
        agent.remove_arm(1)
        before = learner.theta.copy()
        agent.tell(0, MEANS[arm])
        moved = learner.theta - before
        assert moved[4] == 0.0  # the new arm was not there to be drawn
        total += start[arm] * moved[:4]
    gradient = RULE.expected_update(1, start, MEANS, np.zeros(1))
    assert total == pytest.approx((gradient - gradient.mean())[stayed], abs=1e-14)


def test_policies_past_the_limit_are_evicted_and_their_rewards_weighted(monkeypatch):
    monkeypatch.setattr(pending, "MOST_KEPT", 25)
    total, start = np.zeros(5), softmax(THETA)
    for arm in range(5):
        agent = lb.Agent(RULE, n_arms=5, start=start)
        agent._pending.add(lb.Decision(0, arm, start[arm]), arm, float(start[arm]), agent._pending.now)
        agent._asked = 1
        for _ in range(6):  # six later moments that wait
            agent.observe(1, 1.0)
            agent.ask()
        agent.observe(1, 1.0)
        assert sum(moment[1] is not None for moment in agent.state_dict()["moments"]) == 5
        restored = lb.Agent.from_state_dict(json.loads(json.dumps(agent.state_dict())))
        before, now = agent.theta, agent.policy
        agent.tell(0, MEANS[arm])
        restored.tell(0, MEANS[arm])
        assert (restored.policy == agent.policy).all()
        total += start[arm] * (agent.theta - before)
    assert total == pytest.approx(RULE.expected_update(1, now, MEANS, np.zeros(1)), abs=1e-13)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda a: a.ask(available=[]), "Agent.ask: available must name at least one arm"),
        (lambda a: a.ask(available=["a", "a"]), "Agent.ask: available must name each arm once"),
        (lambda a: a.ask(available=["x"]), "Agent.ask: arm must be one of a, b, c, got 'x'"),
        (lambda a: a.add_arm("a"), "Agent.add_arm: arm 'a' exists already"),
        (lambda a: a.add_arm(float("nan")), "Agent: the name of an arm must be a string or a finite number, got nan"),
        (lambda a: a.add_arm("d", probability=1), "Agent.add_arm: probability must be between 0 and 1, got 1.0"),
        (lambda a: a.remove_arm("z"), "Agent.remove_arm: arm must be one of a, b, c, got 'z'"),
        (lambda a: (a.remove_arm("a"), a.remove_arm("b")), "Agent.remove_arm: at least 2 arms must remain"),
        (lambda a: a.observe("a", 1.0, probability=0.0), "Agent.observe: probability must be above 0 and at most 1, got 0.0"),
        (lambda a: lb.Agent(RULE, n_arms=2, floor=1), "Agent: floor must be at least 0 and below 1, got 1.0"),
    ],
)
def test_mistakes_about_arms_are_named(act, message):
    with pytest.raises(ValueError, match=message):
        act(lb.Agent(RULE, arms=["a", "b", "c"]))


@pytest.mark.parametrize("available", ["abc", 3])
def test_available_arms_are_a_sequence(available):
    with pytest.raises(TypeError, match=f"Agent.ask: available must be a sequence of arms, got {available!r}"):
        lb.Agent(RULE, arms=["a", "b", "c"]).ask(available=available)


@pytest.mark.parametrize(
    ("act", "what"),
    [
        (lambda a: a.ask(available=[0]), "Agent.ask: sliding-window-ucb keeps vectors, for which available"),
        (lambda a: a.add_arm(7), "Agent.add_arm: sliding-window-ucb keeps vectors, for which add_arm"),
        (lambda a: a.remove_arm(0), "Agent.remove_arm: sliding-window-ucb keeps vectors, for which remove_arm"),
        (
            lambda a: a.observe(0, 1.0, probability=0.5),
            "Agent.observe: sliding-window-ucb keeps vectors, for which probability",
        ),
        (
            lambda a: lb.Agent(lb.SlidingWindowUCB(), n_arms=3, floor=0.1),
            "Agent: sliding-window-ucb keeps vectors, for which a floor",
        ),
    ],
)
def test_rules_that_cannot_say_so(act, what):
    with pytest.raises(ValueError, match=what):
        act(lb.Agent(lb.SlidingWindowUCB(), n_arms=3))
