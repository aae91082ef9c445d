"""Rules that remember a number per arm: every engine and the agent keep it for the right arm."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest

import logbarrier as lb
from logbarrier import TwoScalarRule, testing
from logbarrier.bandits.engines import DenseRun, LazyRun, Stops, engines_for
from logbarrier.bandits.metrics import METRICS
from logbarrier.bandits.starts import Uniform
from logbarrier.engine.compiled import compiled
from logbarrier.engine.random import stream_key

STEPS = 3000


@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """SGB at a rate that falls with the arm's own number of pulls, which it counts."""
    memory.of_arm += 1.0
    step = hyper[0] * reward / memory.of_arm
    return step, hyper[0] * reward


@dataclass(frozen=True, kw_only=True)
class CountingSGB(TwoScalarRule):
    """theta += alpha R (e_a/n(a) - p)."""

    name = "counting-sgb"
    place = "a test"
    lift_and_drain = staticmethod(lift_and_drain)
    remembers_arms = True
    conserves_sum = False

    learning_rate: float = 0.1

    def hyper(self, n_arms):
        return (self.learning_rate,)

    def expected_update(self, t, policy, means, memory):
        return self.learning_rate * (policy * means / (self.memory_at(memory).of_arm + 1.0) - policy * (policy @ means))


def test_it_conforms():
    testing.check_rule(CountingSGB())


@pytest.mark.parametrize("engine_run", [DenseRun, LazyRun])
@pytest.mark.parametrize("n_arms", [5, 300])
def test_the_numbers_kept_are_those_of_the_arms_pulled(engine_run, n_arms):
    """Regret is the sum over arms of pulls times gap; with gaps drawn at random hardly any other counts give it."""
    problem = lb.GaussianBandit(np.random.default_rng(n_arms).uniform(-1, 1, n_arms))
    stops = Stops.with_checkpoints(np.array([STEPS]), np.array([STEPS]))
    out = np.empty((1, 1, len(METRICS)))
    current = engine_run(CountingSGB(), problem, Uniform(), stream_key(1), range(1), stops, out)
    current.advance(0, 1)
    counts = current._state[2][2]
    means = problem.instance(stream_key(1), 0)[0]
    assert counts.sum() == STEPS
    assert counts @ (means.max() - means) == pytest.approx(out[0, 0, METRICS.index("regret")], rel=1e-10)


def test_engines_that_cannot_keep_it_are_not_offered():
    assert engines_for(CountingSGB()) == ["dense", "lockstep", "lazy"]


def test_the_agent_keeps_it_through_json_new_arms_and_removed_ones():
    agent = lb.Agent(CountingSGB(), arms=["a", "b", "c"], seed=0)
    for arm, times in (("a", 3), ("b", 1), ("c", 2)):
        for _ in range(times):
            agent.observe(arm, 0.5)
    agent = lb.Agent.from_state_dict(json.loads(json.dumps(agent.state_dict())), CountingSGB())
    agent.add_arm("d")
    agent.remove_arm("b")
    agent.observe("d", 0.5)
    agent.observe("c", 0.5)
    assert agent.state_dict()["arm_counts"] == [3.0, 3.0, 1.0]


def test_learning_curves_of_lazy_and_dense_agree():
    """Means of 300 runs within four standard errors of their difference at every checkpoint."""
    family = lb.GapInstances(n_arms=100, gap=0.5)
    curves = [
        lb.simulate(lb.AutoLogBarrier(), family, horizon=4000, runs=300, seed=seed, checkpoints=6, engine=engine)
        for seed, engine in ((0, "dense"), (1, "lazy"))
    ]
    values = [curve["optimal_probability"] for curve in curves]
    error = np.sqrt(sum(value.var(axis=0, ddof=1) / len(value) for value in values))
    difference = np.abs(values[0].mean(axis=0) - values[1].mean(axis=0))
    assert (difference[1:] <= 4 * error[1:]).all()
