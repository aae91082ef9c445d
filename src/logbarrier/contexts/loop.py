"""The loop of a contextual simulation: score the arms, draw one, and learn from the rewards that are due."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..engine.compiled import compiled, kernel
from ..engine.random import standard_normal, step_uniforms
from .regression import NOISE, Regressions, count, learn, score

REGRET, REWARD, OPTIMAL, INVERSE, SMALLEST = 0, 1, 2, 3, 4  # what is added up


class Job(NamedTuple):
    """What the loop works on.

    waiting  (delay + 1, d), waiting_arms and waiting_rewards (delay + 1,): decisions whose reward is not due, in a ring
    totals   (5,) regret, reward, probability of the best arm, 1/propensity, least propensity
    """

    state: Regressions
    waiting: np.ndarray
    waiting_arms: np.ndarray
    waiting_rewards: np.ndarray
    totals: np.ndarray
    hyper: tuple[float, ...]
    ridge: float
    threshold: float
    counts_pending: bool
    scale: float
    key: np.ndarray
    run: int


@compiled
def gaussian_reward(mean, u, scale):
    """A normal reward."""
    return mean + scale * standard_normal(u)


@compiled
def binary_reward(mean, u, scale):
    """1 with probability `mean`, else 0."""
    return 1.0 if u < mean else 0.0


@compiled
def draw(probabilities, u):
    """The arm at u in (0, 1) of the cumulative distribution; never one of probability 0."""
    arm, below = 0, 0.0
    for a in range(probabilities.shape[0]):
        if probabilities[a] > 0.0:
            arm = a
            below += probabilities[a]
            if below > u:
                break
    return arm


def _loop_with(weigh: Any, reward_of: Any) -> Callable[..., Any]:
    def loop(job, contexts, means, first):
        """Steps first, first + 1, ...: one for each row of contexts (n, d) and means (n, K)."""
        state, totals, ring = job.state, job.totals, job.waiting.shape[0]
        n_arms = means.shape[1]
        arms, values, widths, probabilities = np.arange(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
        for i in range(contexts.shape[0]):
            t, x = first + i, contexts[i]
            score(state, arms, x, values, widths)
            weigh(values, widths, state.memories[0, NOISE], t, job.hyper, (job.key, t, job.run), probabilities)
            u_arm, u_reward = step_uniforms(t, job.run, job.key)
            arm = draw(probabilities, u_arm)
            best = 0
            for a in range(1, n_arms):
                if means[i, a] > means[i, best]:
                    best = a
            reward = reward_of(means[i, arm], u_reward, job.scale)
            totals[REGRET] += means[i, best] - means[i, arm]
            totals[REWARD] += reward
            totals[OPTIMAL] += probabilities[best]
            for a in range(n_arms):
                totals[INVERSE] += 1.0 / (probabilities[a] * n_arms * n_arms) if probabilities[a] > 0.0 else np.inf
            totals[SMALLEST] = min(totals[SMALLEST], probabilities[arm])
            place = t % ring
            job.waiting_arms[place], job.waiting_rewards[place] = arm, reward
            for k in range(x.shape[0]):
                job.waiting[place, k] = x[k]
            if job.counts_pending:
                count(state, arm, x, 1.0)
            due = t - ring + 1
            if due < 0:
                continue
            place = due % ring
            arm, x = int(job.waiting_arms[place]), job.waiting[place]
            replaced = learn(state, arm, x, job.waiting_rewards[place], job.ridge, job.threshold)
            if not job.counts_pending:
                count(state, arm, x, 1.0)
            elif replaced:
                for late in range(due + 1, t + 1):
                    count(state, int(job.waiting_arms[late % ring]), job.waiting[late % ring], 1.0)

    return loop


def loop_kernel(weigh: Any, reward_of: Any) -> Any:
    """The compiled loop of a policy and a kind of reward."""
    return kernel(_loop_with, weigh, reward_of)
