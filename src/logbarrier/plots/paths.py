"""The policy itself along one run, where a record keeps only metrics. For few arms and pictures."""

from __future__ import annotations

import numpy as np

from ..bandits.agent import Agent
from ..bandits.algorithms.rule import Rule


def sample_path(rule: Rule, means: np.ndarray, *, start: np.ndarray, steps: int, seed: int, scale: float = 1.0) -> np.ndarray:
    """Policies (steps + 1, K) of one run with rewards N(means, scale^2), from the policy `start` (K,).

    >>> import logbarrier as lb
    >>> sample_path(lb.SGB(learning_rate=0.1), np.array([1.0, 0.0]), start=np.array([0.5, 0.5]), steps=3, seed=0).shape
    (4, 2)
    """
    agent = Agent(rule, n_arms=len(means), seed=seed, start=start)
    noise = np.random.default_rng(seed).normal(scale=scale, size=steps)
    policies = [agent.policy]
    for deviation in noise:
        decision = agent.ask()
        agent.tell(decision, reward=means[decision.arm] + deviation)
        policies.append(agent.policy)
    return np.array(policies)
