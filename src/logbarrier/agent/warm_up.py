"""Everything that a rule may call, compiled ahead: each of its loops with each reward distribution, and the agent."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from ..bandits.algorithms.rule import Rule
from ..bandits.engines import choose, make_ready
from ..bandits.problems import (
    BernoulliBandit,
    BetaBandit,
    GapInstances,
    GaussianBandit,
    PoissonBandit,
    RevenueBandit,
    StudentBandit,
    UniformBandit,
)
from ..engine.random import stream_key
from .agent import Agent

LAWS = (GaussianBandit, BernoulliBandit, UniformBandit, BetaBandit, StudentBandit, PoissonBandit, RevenueBandit)
SOME_NUMBER = 0.5  # for a parameter without a default: the code is the same whatever its value


def example_of(rule_type: type[Rule]) -> Rule:
    """A rule with some number for each parameter that has no default."""
    given: dict[str, Any] = {}
    for field in fields(rule_type):
        if field.default is MISSING and field.default_factory is MISSING:
            given[field.name] = SOME_NUMBER
    try:
        return rule_type(**given)
    except ValueError:  # a whole number, perhaps
        return rule_type(**dict.fromkeys(given, 2))


def warm(rule_type: type[Rule], arms: tuple[int, ...]) -> int:
    """Compile or load what a rule calls with these numbers of arms; returns on how many loops it then runs."""
    rule, count = example_of(rule_type), 0
    for n_arms in arms:
        means = np.linspace(0.1, 0.9, n_arms)
        for law in LAWS:
            make_ready(choose(rule, n_arms, "auto"), rule, law(means))
            count += 1
    GapInstances(n_arms=2).instance(stream_key(0), 0)  # a kernel draws the instances of all families
    agent = Agent(rule, n_arms=2, means=[0.0, 1.0] if rule.knows_means else None)
    agent.tell(agent.ask(), reward=0.0)
    return count
