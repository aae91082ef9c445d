"""Every rule that an agent offers draws its arms with the probability it logs; benchmarks/propensities.py draws more often."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import stats

import logbarrier as lb

ARMS, DECISIONS, FALSE_ALARM = ("a", "b", "c", "d"), 4000, 1e-6
NEEDED = {"learning_rate": 0.3, "eta": 20.0, "tau": 0.1, "weight": 0.1, "horizon": 1000, "lowest": 0.0, "highest": 1.0}
NEEDED |= {"minimum_gap": 0.1, "window": 50, "discount": 0.99, "first_stage": 50, "batch": 3}


def agent_of(kind):
    """An agent that has seen 24 rewards."""
    fields = inspect.signature(kind).parameters.values()
    rule = kind(**{each.name: NEEDED[each.name] for each in fields if each.default is inspect.Parameter.empty})
    agent, generator = lb.Agent(rule, arms=ARMS, seed=1), np.random.default_rng(0)
    for t in range(24):
        agent.tell(agent.ask(), float(generator.random() < (0.5, 0.6, 0.55, 0.4)[t % 4]))
    return agent


@pytest.mark.parametrize("name", [name for name, kind in lb.RULES.items() if not kind.knows_means])
def test_arms_are_drawn_as_often_as_logged(name):
    """Each arm's count is binomial: a false alarm has probability 1e-6 per arm."""
    agent = agent_of(lb.RULES[name])
    counts, logged = dict.fromkeys(ARMS, 0), {}
    for _ in range(DECISIONS):
        decision = agent.ask()
        counts[decision.arm] += 1
        logged[decision.arm] = decision.probability
        agent.forget(decision)
    for arm, propensity in logged.items():
        assert min(
            stats.binom.cdf(counts[arm], DECISIONS, propensity), stats.binom.sf(counts[arm] - 1, DECISIONS, propensity)
        ) > (FALSE_ALARM / 2)
    never = 1 - sum(logged.values())
    assert abs(never) < 1e-6 or (1 - never) ** DECISIONS > FALSE_ALARM
