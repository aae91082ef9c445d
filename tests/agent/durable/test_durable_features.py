"""A durable agent whose arms have features: stored, restored and replayed to the bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import logbarrier as lb

PHI = np.random.default_rng(0).normal(size=(6, 3))
ARMS = list("abcdef")
RULES = [
    lb.LogLinearSGB(learning_rate=0.3),
    lb.LogDetSGB(learning_rate=0.3, eta=50.0),
    lb.LinUCB(),
    lb.LinThompson(),
]


def reward_of(decision):
    return float(PHI[ARMS.index(decision.arm)].sum() + 0.1 * (decision.id % 3))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_reopened_agent_continues_that_in_memory_to_the_bit(tmp_path, rule):
    plain = lb.Agent(rule, arms=ARMS, features=PHI, seed=3)
    for opening in range(3):
        given = {"rule": rule, "arms": ARMS, "features": PHI, "seed": 3} if opening < 2 else {}
        with lb.DurableAgent(tmp_path / "agent.db", **given) as agent:
            for _ in range(20):
                decision = agent.ask()
                assert decision == plain.ask()
                agent.tell(decision, reward_of(decision))
                plain.tell(decision, reward_of(decision))
    with lb.DurableAgent(tmp_path / "agent.db") as agent:
        assert (agent.policy == plain.policy).all()
        assert agent.summary() == plain.summary()


KILLED = """
import os, signal, sys
import numpy as np
import logbarrier as lb
phi = np.random.default_rng(0).normal(size=(6, 3))
rule = lb.LogDetSGB(learning_rate=0.3, eta=50.0)
agent = lb.DurableAgent(sys.argv[1], rule=rule, arms=list("abcdef"), features=phi, seed=3)
for i in range(30):
    agent.tell(agent.ask(), reward=i % 4)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_agent_is_replayed_to_the_bit(tmp_path):
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "agent.db")], env=os.environ, check=False)
    assert ended.returncode == -signal.SIGKILL
    plain = lb.Agent(RULES[1], arms=ARMS, features=PHI, seed=3)
    for i in range(30):
        plain.tell(plain.ask(), reward=i % 4)
    with lb.DurableAgent(tmp_path / "agent.db") as agent:
        assert (agent.policy == plain.policy).all()
        assert agent.ask() == plain.ask()


def test_other_features_than_those_of_the_file_are_refused(tmp_path):
    lb.DurableAgent(tmp_path / "agent.db", rule=RULES[0], arms=ARMS, features=PHI).close()
    with pytest.raises(ValueError, match=r"^DurableAgent: .*agent.db was made with features \[\["):
        lb.DurableAgent(tmp_path / "agent.db", features=2.0 * PHI)


@pytest.mark.parametrize(
    ("rule", "features", "message"),
    [
        (lb.SGB(learning_rate=0.1), PHI, "Agent: sgb does not use features, so features must be None"),
        (RULES[0], PHI[:5], "Agent: features must have "),
    ],
)
def test_features_that_do_not_fit_make_no_file(tmp_path, rule, features, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        lb.DurableAgent(tmp_path / "agent.db", rule=rule, arms=ARMS, features=features)
    assert not (tmp_path / "agent.db").exists()


def test_an_arm_without_features_cannot_be_added(tmp_path):
    with lb.DurableAgent(tmp_path / "agent.db", rule=RULES[1], arms=ARMS, features=PHI) as agent:
        with pytest.raises(ValueError, match=r"^Agent.add_arm: log-det-sgb knows the features of a fixed set of arms"):
            agent.add_arm("g")
        assert list(agent.arms) == ARMS
