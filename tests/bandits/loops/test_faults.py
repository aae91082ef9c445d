"""A user-defined rule that returns no number fails with its name and the step, on every engine and in the online agent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import logbarrier as lb
from logbarrier.bandits.algorithms.vector_rule import VectorRule
from logbarrier.engine.compiled import compiled

STEP = 17


@compiled
def bad_lift(reward, probability, t, memory, hyper):
    memory.count += 1.0
    return 0.1 * reward + (hyper[0] if t >= STEP else 0.0), 0.1 * reward


@compiled
def bad_drain(reward, probability, t, memory, hyper):
    return 0.1 * reward, 0.1 * reward * (hyper[0] if t >= STEP else 1.0)


@compiled
def bad_lift_alone(reward, probability, t, memory, hyper):
    return 0.1 * reward + (hyper[0] if t >= STEP else 0.0), 0.0


@compiled
def fine(reward, probability, t, memory, hyper):
    return 0.1 * reward, 0.1 * reward


@compiled
def bad_share(t, hyper):
    return hyper[0] if t >= STEP else 0.0


@compiled
def bad_vector(arm, reward, probability, t, policy, vectors, memory, hyper):
    memory.count += 1.0
    vectors[0][arm] += hyper[0] if t >= STEP else 0.1
    return True


@compiled
def nothing_learnt(arm, reward, probability, t, policy, vectors, memory, hyper):
    return True


@compiled
def bad_weight(t, vectors, memory, hyper, weights):
    weights[:] = 1.0
    if t >= STEP:
        weights[0] = hyper[0]


@compiled
def bad_arm(u, t, policy, vectors, memory, hyper, stream):
    return policy.shape[0] if t >= STEP - 1 else 0


@dataclass(frozen=True, kw_only=True)
class Lift(lb.TwoScalarRule):
    name: ClassVar[str] = "bad-lift"
    place: ClassVar[str] = "here"
    lift_and_drain = staticmethod(bad_lift)
    memory = ("count",)

    value: float

    def hyper(self, n_arms):
        return (self.value,)


class Drain(Lift):
    name: ClassVar[str] = "bad-drain"
    lift_and_drain = staticmethod(bad_drain)


class LiftAlone(Lift):
    name: ClassVar[str] = "bad-lift-alone"
    lift_and_drain = staticmethod(bad_lift_alone)
    drains = False


class Share(Lift):
    name: ClassVar[str] = "bad-share"
    lift_and_drain = staticmethod(fine)
    mixing = staticmethod(bad_share)


@dataclass(frozen=True, kw_only=True)
class Vector(VectorRule):
    name: ClassVar[str] = "bad-vector"
    place: ClassVar[str] = "here"
    rows = ("theta",)
    memory = ("count",)
    learn = staticmethod(bad_vector)

    value: float

    def hyper(self, n_arms):
        return (self.value,)


class Weights(Vector):
    name: ClassVar[str] = "bad-weights"
    learn = staticmethod(nothing_learnt)
    weigh = staticmethod(bad_weight)


class Arm(Vector):
    name: ClassVar[str] = "bad-arm"
    learn = staticmethod(nothing_learnt)
    draw = staticmethod(bad_arm)


MOVE = "returned a lift or drain that is not finite"
SHARE = "returned a share to mix that is not between 0 and 1"
CASES = [
    (Lift, "dense", MOVE),
    (Lift, "lockstep", MOVE),
    (Lift, "lazy", MOVE),
    (Drain, "dense", MOVE),
    (Drain, "lockstep", MOVE),
    (Drain, "lazy", MOVE),
    (LiftAlone, "sparse", MOVE),
    (Share, "dense", SHARE),
    (Share, "lockstep", SHARE),
    (Share, "lazy", SHARE),
    (Vector, "dense", "left a number in its vectors that is not finite"),
    (Weights, "dense", "returned weights whose sum is not positive and finite"),
]


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize(("kind", "engine", "sentence"), CASES)
def test_a_simulation_fails_at_the_step_that_has_no_number(kind, engine, sentence, value):
    with pytest.raises(RuntimeError, match=f"^simulate: {kind.name} {sentence} at step {STEP}$"):
        lb.simulate(kind(value=value), lb.GapInstances(n_arms=20), horizon=1000, runs=3, engine=engine)


def test_an_arm_that_does_not_exist_is_refused():
    with pytest.raises(RuntimeError, match=f"^simulate: bad-arm drew an arm that does not exist at step {STEP}$"):
        lb.simulate(Arm(value=0.0), lb.GapInstances(n_arms=20), horizon=1000)


@pytest.mark.parametrize("value", [math.nan, -math.inf])
@pytest.mark.parametrize("kind", [Lift, Drain, Share, Vector, Weights])
def test_the_agent_refuses_the_reward_and_stays_as_it_was(kind, value):
    agent = lb.Agent(kind(value=value), n_arms=4)
    for _ in range(STEP - 1):
        agent.tell(agent.ask(), 1.0)
    first, second = agent.ask(), agent.ask()
    before = repr(agent.state_dict())
    for decision in (first, second):
        with pytest.raises(RuntimeError, match=f"^Agent: {kind.name} .* at step {STEP}$"):
            agent.tell(decision, 1.0)
        assert repr(agent.state_dict()) == before


@pytest.mark.parametrize("kind", [Lift, Share])
def test_the_agent_stays_as_it_was_where_only_some_arms_were_available(kind):
    agent = lb.Agent(kind(value=math.nan), arms="abcd", floor=0.1)
    for _ in range(STEP - 1):
        agent.tell(agent.ask(["a", "b"]), 1.0)
    decision = agent.ask(["b", "c"])
    before = repr(agent.state_dict())
    with pytest.raises(RuntimeError, match=f"at step {STEP}$"):
        agent.tell(decision, 1.0)
    assert repr(agent.state_dict()) == before


@pytest.mark.parametrize("engine", ["dense", "lockstep", "lazy"])
def test_a_large_finite_move_is_still_cut(engine):
    record = lb.simulate(Lift(value=1e300), lb.GapInstances(n_arms=20), horizon=100, runs=3, engine=engine)
    assert np.isfinite(record["regret"]).all()
