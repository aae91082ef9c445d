"""The loop for rules that keep vectors of their own: draw, pull, learn, weigh the arms anew. One pass or more a step.

State of one run over K arms:
    vectors  (V, K)  the rule's own
    memory   (M,)    the rule's own
    policy   (K,)    probabilities of the next pull
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.compiled import compiled, kernel, specialised
from ...engine.elementary import exp
from ...engine.lanes import WIDTH, lane, lane_sum, load, select_above, splat, store
from ...engine.random import fill_uniforms
from ..metrics import measure
from .policy import SMALLEST_PROBABILITY, checked_reward

BATCH = 256  # steps whose random numbers are drawn together


@compiled
def draw_by_policy(u, t, policy, vectors, memory, hyper, stream):
    """The arm at u in (0, 1) of the cumulative distribution, never one of probability 0."""
    arm, below = 0, 0.0
    for candidate in range(policy.shape[0]):
        if policy[candidate] > 0.0:
            arm = candidate
            below += policy[candidate]
            if below > u:
                break
    return arm


@compiled
def largest(values):
    """The largest of values (K,), none of them NaN."""
    n_values = values.shape[0]
    whole = n_values // WIDTH * WIDTH
    top = values[0]
    if whole > 0:
        tops = load(values, 0)
        for i in range(WIDTH, whole, WIDTH):
            tops = select_above(load(values, i), tops, load(values, i), tops)
        for i in range(WIDTH):
            top = max(top, lane(tops, i))
    for i in range(whole, n_values):
        top = max(top, values[i])
    return top


@compiled
def weigh_by_softmax(t, vectors, memory, hyper, weights):
    """weights <- exp(theta - max theta), theta the first of the vectors: for the rules that are softmax policies."""
    theta = vectors[0]
    n_arms = theta.shape[0]
    top = largest(theta)
    whole = n_arms // WIDTH * WIDTH
    for a in range(0, whole, WIDTH):
        store(weights, a, exp(load(theta, a) - splat(top)))
    for a in range(whole, n_arms):
        weights[a] = exp(theta[a] - top)


@compiled
def sum_of(values):
    """The sum of values (K,), eight side by side: one after the other would wait for each addition."""
    n_values = values.shape[0]
    whole = n_values // WIDTH * WIDTH
    sums = splat(0.0)
    for i in range(0, whole, WIDTH):
        sums = sums + load(values, i)
    total = lane_sum(sums)
    for i in range(whole, n_values):
        total += values[i]
    return total


@compiled
def normalise(weights):
    """weights <- weights / sum(weights)."""
    total = sum_of(weights)
    for a in range(weights.shape[0]):
        weights[a] /= total


def _update_with(learn: Any) -> Callable[..., Any]:
    def update(vectors, memory, policy, hyper, t, arm, reward):
        """Learn from the reward of an arm drawn from policy (K,) at step t = 1, 2, ...; whether the policy moved."""
        return learn(arm, reward, max(policy[arm], SMALLEST_PROBABILITY), t, policy, vectors, memory, hyper)

    return update


def update_kernel(learn: Any) -> Any:
    """The compiled step of a rule, as the loop below and the online agent run it."""
    return kernel(_update_with, learn)


def _policy_with(weigh: Any) -> Callable[..., Any]:
    def set_policy(vectors, memory, policy, hyper, t):
        """policy (K,) <- the probabilities after t steps."""
        weigh(t, vectors, memory, hyper, policy)
        normalise(policy)

    return set_policy


def policy_kernel(weigh: Any) -> Any:
    """The compiled policy of a rule."""
    return kernel(_policy_with, weigh)


def _loop_with(learn: Any, weigh: Any, draw: Any, noise: Any, reward_of: Any) -> Callable[..., Any]:
    update, set_policy = specialised(_update_with, learn), specialised(_policy_with, weigh)
    policy_is_drawn_from = draw is draw_by_policy

    def loop(vectors, memory, policy, hyper, problem, key, run, checkpoints, first, last, progress, out):
        """Run up to checkpoints[last - 1], measuring at checkpoints[first:last]; progress is [steps done, regret, fault]."""
        parameters, best = problem
        means = parameters[0]
        uniforms = np.empty(2 * BATCH)
        t, regret = int(progress[0]), progress[1]
        set_policy(vectors, memory, policy, hyper, t)
        for c in range(first, last):
            while t < checkpoints[c]:
                batch = min(BATCH, checkpoints[c] - t)
                fill_uniforms(uniforms, t, batch, run, key)
                for i in range(batch):
                    arm = draw(uniforms[2 * i], t, policy, vectors, memory, hyper, (key, t, run))
                    drawn = reward_of(noise(uniforms[2 * i + 1]), parameters, arm, (key, t, run))
                    reward = checked_reward(drawn, progress, 2)
                    regret += means[best] - means[arm]
                    t += 1
                    moved = update(vectors, memory, policy, hyper, t, arm, reward)
                    if moved and policy_is_drawn_from:
                        set_policy(vectors, memory, policy, hyper, t)
            if not policy_is_drawn_from:
                set_policy(vectors, memory, policy, hyper, t)
            measure(policy, 1.0, means, best, regret, out[c])
        progress[0], progress[1] = t, regret

    return loop


def loop_kernel(learn: Any, weigh: Any, draw: Any, noise: Any, reward_of: Any) -> Any:
    """The compiled loop of a rule on a reward distribution."""
    return kernel(_loop_with, learn, weigh, draw, noise, reward_of)
