"""The loop of a contextual simulation: score the arms, draw one, and learn from the reward that is due."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..engine.compiled import compiled, kernel
from ..engine.random import standard_normal, step_uniforms
from .regression import FIRST, NOISE, Regressions, count, learn, score

REGRET, REWARD, OPTIMAL, INVERSE, LEAST = 0, 1, 2, 3, 4  # what is added up


class Ring(NamedTuple):
    """Decisions whose rewards are not due so far: contexts (delay + 1, d), arms and rewards (delay + 1,)."""

    contexts: np.ndarray
    arms: np.ndarray
    rewards: np.ndarray


class Job(NamedTuple):
    """What the loop works on.

    first_arms, first_rewards  (FIRST,) of the first decisions, for `regression.rebuild`
    totals                     (5,) sums of regret, reward, p(best arm) and (1/K^2) sum 1/p; the least propensity
    scale                      of normal rewards
    """

    state: Regressions
    ring: Ring
    first_arms: np.ndarray
    first_rewards: np.ndarray
    totals: np.ndarray
    hyper: tuple[float, ...]
    ridge: float
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
    """Return the arm at u in (0, 1) of the cumulative distribution; never one of probability 0."""
    arm, below = 0, 0.0
    for a in range(probabilities.shape[0]):
        if probabilities[a] > 0.0:
            arm = a
            below += probabilities[a]
            if below > u:
                break
    return arm


@compiled
def measure(totals, means, probabilities, arm, reward):
    """Add one decision to the totals."""
    n_arms, best, inverse = means.shape[0], 0, 0.0
    for a in range(n_arms):
        best = a if means[a] > means[best] else best
        inverse += 1.0 / probabilities[a] if probabilities[a] > 0.0 else np.inf
    totals[REGRET] += means[best] - means[arm]
    totals[REWARD] += reward
    totals[OPTIMAL] += probabilities[best]
    totals[INVERSE] += inverse / (n_arms * n_arms)
    totals[LEAST] = min(totals[LEAST], probabilities[arm])


@compiled
def settle(job, due, t):
    """Learn the reward of decision `due`, at step t."""
    size = job.ring.arms.shape[0]
    place = due % size
    arm, x = int(job.ring.arms[place]), job.ring.contexts[place]
    replaced = learn(job.state, arm, x, job.ring.rewards[place], job.ridge)
    if not job.counts_pending:
        count(job.state, arm, x, 1.0)
    elif replaced:
        for late in range(due + 1, t + 1):
            count(job.state, int(job.ring.arms[late % size]), job.ring.contexts[late % size], 1.0)


def _loop_with(weigh: Any, reward_of: Any) -> Callable[..., Any]:
    def loop(job, contexts, means, first):
        """Steps first, first + 1, ...: one for each row of contexts (n, d) and means (n, K)."""
        state, ring, n_arms = job.state, job.ring, means.shape[1]
        arms, values, widths, probabilities = np.arange(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
        for i in range(contexts.shape[0]):
            t, x = first + i, contexts[i]
            score(state, arms, x, values, widths)
            weigh(values, widths, state.memories[0, NOISE], t, job.hyper, (job.key, t, job.run), probabilities)
            u_arm, u_reward = step_uniforms(t, job.run, job.key)
            arm = draw(probabilities, u_arm)
            reward = reward_of(means[i, arm], u_reward, job.scale)
            measure(job.totals, means[i], probabilities, arm, reward)
            place = t % ring.arms.shape[0]
            ring.arms[place], ring.rewards[place] = arm, reward
            for k in range(x.shape[0]):
                ring.contexts[place, k] = x[k]
            if t < FIRST:
                job.first_arms[t], job.first_rewards[t] = arm, reward
            if job.counts_pending:
                count(state, arm, x, 1.0)
            due = t - ring.arms.shape[0] + 1
            if due >= 0:
                settle(job, due, t)

    return loop


def loop_kernel(weigh: Any, reward_of: Any) -> Any:
    """Return the compiled loop of a rule and a kind of reward."""
    return kernel(_loop_with, weigh, reward_of)
