"""44 replays computed in 50-digit arithmetic: the agent and the simulator's step reproduce every one to 1e-11."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.bandits.algorithms import make_rule
from logbarrier.bandits.loops.dense import PRESENT, update_kernel
from logbarrier.bandits.loops.functions import functions_of
from logbarrier.bandits.loops.policy import TOTAL, new_policy

CASES = json.loads((Path(__file__).parents[2] / "data" / "trajectories.json").read_text())["cases"]


def case_id(case):
    return f"{case['rule']}-{case['n_arms']}-{'-'.join(map(str, case['parameters'].values()))}"


def worst_error(policy, case):
    exact = np.array([float(p) for p in case["policy"]])
    counted = exact >= 1e-200
    return np.abs(policy[counted] / exact[counted] - 1).max()


def rule_of(case):
    return make_rule(case["rule"].replace("_", "-"), case["parameters"])


def test_there_are_44_cases_and_every_rule_the_paper_plots_is_among_them():
    assert len(CASES) == 44
    assert {case["rule"].replace("_", "-") for case in CASES} == {
        "sgb",
        "baseline-sgb",
        "entropy-sgb",
        "log-barrier-sgb",
        "npg",
        "baseline-npg",
        "clipped-log-barrier-sgb",
    }


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_the_agent_replays_it(case):
    agent = lb.Agent(rule_of(case), n_arms=case["n_arms"])
    for arm, reward in zip(case["arms"], case["rewards"], strict=True):
        agent.observe(arm, reward)
    assert worst_error(agent.policy, case) <= 1e-11


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_the_simulators_step_replays_it(case):
    rule, n_arms = rule_of(case), case["n_arms"]
    policy = new_policy(np.zeros(n_arms))
    learned = (rule.new_memory(), *rule.new_arm_numbers(n_arms))
    step, calls = update_kernel(), functions_of(rule, n_arms)
    for t, (arm, reward) in enumerate(zip(case["arms"], case["rewards"], strict=True), start=1):
        step(policy, calls, learned, n_arms, t, arm, reward, PRESENT)
    assert worst_error(policy[1][:n_arms] / policy[3][TOTAL], case) <= 1e-11
