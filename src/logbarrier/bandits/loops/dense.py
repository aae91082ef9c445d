"""The dense loop: draw, pull, update, one pass over the arms a step. Exact, and the reference for every other loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.compiled import compiled, kernel, specialised
from ...engine.random import fill_uniforms
from ..metrics import measure
from .policy import (
    SMALLEST_PROBABILITY,
    TOTAL,
    checked_reward,
    draw_arm,
    mean_under,
    mix_with_uniform,
    move,
    move_from,
    within_reach,
)

PRESENT = np.empty(0)  # for `earlier`: the arm was drawn from the present policy
BATCH = 256  # steps whose random numbers are drawn together


@compiled
def learn_mean(arm_means, arm_counts, arm, reward):
    """m(a) <- m(a) + (R - m(a))/n(a), the running mean of an arm's rewards."""
    arm_counts[arm] += 1.0
    arm_means[arm] += (reward - arm_means[arm]) / arm_counts[arm]


def _update_with(lift_and_drain: Any, mixing: Any) -> Callable[..., Any]:
    def update(policy, learned, hyper, n_arms, t, arm, reward, earlier):
        """One step of a rule, t = 1, 2, ...; learned is (memory, arm means, arm counts).

        earlier (K,) holds the probabilities the arm was drawn with where that was another policy than the present one;
        it is empty otherwise.
        """
        theta, weights, sums, scalars = policy
        memory, arm_means, arm_counts = learned
        drawn_from, total = (earlier, 1.0) if earlier.shape[0] > 0 else (weights, scalars[TOTAL])
        probability = max(drawn_from[arm] / total, SMALLEST_PROBABILITY)
        if arm_means.shape[0] > 0:
            memory[0] = mean_under(arm_means, drawn_from, total)
            memory[1] = arm_means[arm]
        lift, drain = lift_and_drain(reward, probability, t, memory, hyper)
        lift, drain = within_reach(lift), within_reach(drain)
        if arm_means.shape[0] > 0:
            learn_mean(arm_means, arm_counts, arm, reward)
        if earlier.shape[0] > 0:
            move_from(theta, weights, sums, scalars, earlier, arm, lift, drain)
        else:
            move(theta, weights, sums, scalars, arm, lift, drain)
        share = mixing(t, hyper)
        if share > 0.0:
            mix_with_uniform(theta, weights, sums, scalars, n_arms, share)

    return update


def update_kernel(lift_and_drain: Any, mixing: Any) -> Any:
    """The compiled step of a rule, as the loop below and the online agent run it."""
    return kernel(_update_with, lift_and_drain, mixing)


def _loop_with(lift_and_drain: Any, mixing: Any, noise: Any, reward_of: Any) -> Callable[..., Any]:
    update = specialised(_update_with, lift_and_drain, mixing)

    def loop(policy, learned, hyper, problem, key, run, checkpoints, first, last, progress, out):
        """Run up to checkpoints[last - 1], measuring at checkpoints[first:last]; progress is [steps done, regret, fault]."""
        parameters, best = problem
        means = parameters[0]
        _, weights, sums, scalars = policy
        n_arms = means.shape[0]
        present = np.empty(0)
        uniforms, noises = np.empty(2 * BATCH), np.empty(BATCH)
        t, regret = int(progress[0]), progress[1]
        for c in range(first, last):
            while t < checkpoints[c]:
                batch = min(BATCH, checkpoints[c] - t)
                fill_uniforms(uniforms, t, batch, run, key)
                for i in range(batch):
                    noises[i] = noise(uniforms[2 * i + 1])
                for i in range(batch):
                    arm = draw_arm(weights, sums, scalars[TOTAL], uniforms[2 * i])
                    reward = checked_reward(reward_of(noises[i], parameters, arm, (key, t, run)), progress, 2)
                    regret += means[best] - means[arm]
                    t += 1
                    update(policy, learned, hyper, n_arms, t, arm, reward, present)
            measure(weights, scalars[TOTAL], means, best, regret, out[c])
        progress[0], progress[1] = t, regret

    return loop


def loop_kernel(lift_and_drain: Any, mixing: Any, noise: Any, reward_of: Any) -> Any:
    """The compiled loop of a rule on a reward distribution."""
    return kernel(_loop_with, lift_and_drain, mixing, noise, reward_of)
