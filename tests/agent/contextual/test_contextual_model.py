"""The compiled model of a contextual agent against plain NumPy, over random interleavings of its calls."""

from __future__ import annotations

import numpy as np
from plain_model import PlainModel

import logbarrier as lb


def interleave(rng, agent, plain, size, events, reward_of):
    """Make random calls to both; after every ask their propensities must agree."""
    for event in range(events):
        what = rng.random()
        if what < 0.5:
            raw = rng.normal(size=size)
            available = sorted(rng.choice(plain.arms, size=rng.integers(1, len(plain.arms) + 1), replace=False).tolist())
            offered = None if rng.random() < 0.7 else available
            plain.see(raw)
            decision = agent.ask(raw, available=offered)
            arms = plain.arms if offered is None else available
            np.testing.assert_allclose(decision.probability, plain.policy(raw, arms)[arms.index(decision.arm)], rtol=1e-9)
            plain.pending[decision.id] = (decision.arm, len(plain.seen) - 1)
        elif what < 0.93 and plain.pending:
            identity = int(rng.choice(list(plain.pending)))
            arm, index = plain.pending[identity]
            reward = reward_of(plain.seen[index], arm, event)
            agent.tell(identity, reward)
            plain.tell(identity, reward)
        elif what < 0.96 and plain.pending:
            identity = int(rng.choice(list(plain.pending)))
            agent.forget(identity)
            del plain.pending[identity]
        elif what < 0.98 and len(plain.arms) < 5:
            plain.arms.append(max(plain.arms) + 1 + event * 10)
            agent.add_arm(plain.arms[-1])
        elif what > 0.985 and len(plain.arms) > 2:
            arm = plain.arms.pop(int(rng.integers(len(plain.arms))))
            agent.remove_arm(arm)


def test_propensities_are_those_of_plain_numpy_in_1000_random_interleavings():
    rng = np.random.default_rng(27)
    for number in range(1000):
        agent, plain = lb.ContextualAgent(n_arms=3, features=2, seed=number), PlainModel(3)
        theta = rng.normal(size=(10_000, 2))
        interleave(rng, agent, plain, 2, 16, lambda x, arm, _, theta=theta: float(x @ theta[arm] + rng.normal()))


def test_a_long_interleaving_with_a_change_agrees_too():
    rng = np.random.default_rng(0)
    agent, plain = lb.ContextualAgent(n_arms=3, features=2, seed=0), PlainModel(3)
    theta = rng.normal(size=(200_000, 2))

    def reward_of(x, arm, event):
        return float(x @ theta[arm] + 2.0 * (-1) ** (arm + (event > 1150)) + 0.1 * rng.normal())

    interleave(rng, agent, plain, 2, 1900, reward_of)
    assert agent.restarts == plain.restarts == 1
