"""The lockstep loop for few arms: eight runs side by side, one in each lane.

With a handful of arms a step is short and waits for its own results; eight runs at once fill the waiting. Each lane does
the operations of its run alone, so a run's bits do not depend on which runs are beside it.

State of eight runs over K arms, index a * 8 + lane:
    theta, weights (K * 8,)   preferences and exp(theta - shift)
    totals, shifts (8,)       of each run
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.compiled import compiled, inlined, kernel
from ...engine.elementary import exp, log
from ...engine.lanes import WIDTH, fma, lanes_above, load, select_above, splat, store
from ...engine.pointers import pointer_behind, pointer_to, table_behind
from ...engine.random import fill_uniforms_of_runs
from ..metrics import measure
from .dense import learn_mean
from .policy import HIGHEST_TOTAL, LOWEST_TOTAL, SMALLEST_PROBABILITY, checked_reward, within_reach

BATCH = 64
Arrays = tuple[np.ndarray, ...]


def new_lockstep(thetas: np.ndarray) -> Arrays:
    """The state of eight policies softmax(thetas[lane]), thetas (8, K)."""
    n_arms = thetas.shape[1]
    return np.ascontiguousarray(thetas.T).ravel(), np.zeros(n_arms * WIDTH), np.zeros(WIDTH), np.zeros(WIDTH)


@inlined
def weigh(state, n_arms, scale):
    """theta <- theta - scale * weights, weights <- exp(theta - shift), totals anew. The hot loop."""
    theta, weights, totals, shifts = state
    shift, total = load(shifts, 0), splat(0.0)
    for j in range(0, n_arms * WIDTH, WIDTH):
        moved = load(theta, j) - scale * load(weights, j)
        weight = exp(moved - shift)
        store(theta, j, moved)
        store(weights, j, weight)
        total = total + weight
    store(totals, 0, total)


@compiled
def recentre(state, n_arms, lane):
    """Put the shift of one run at its largest theta."""
    theta, weights, totals, shifts = state
    top = theta[lane]
    for a in range(n_arms):
        top = max(top, theta[a * WIDTH + lane])
    shifts[lane] = top
    totals[lane] = 0.0
    for a in range(n_arms):
        weights[a * WIDTH + lane] = exp(theta[a * WIDTH + lane] - top)
        totals[lane] += weights[a * WIDTH + lane]


@compiled
def recentre_those(state, n_arms, lost):
    """The same for the runs whose bits are set."""
    for lane in range(WIDTH):
        if lost >> lane & 1:
            recentre(state, n_arms, lane)


@inlined
def draw(state, n_arms, uniforms, chosen):
    """chosen[lane] = the arm at u of the cumulative weights: how many arms have all they and those before weigh below u."""
    _, weights, totals, _ = state
    target = uniforms * load(totals, 0)
    below, count = splat(0.0), splat(0.0)
    for j in range(0, n_arms * WIDTH, WIDTH):
        below = below + load(weights, j)
        count = count + select_above(below, target, 0.0, 1.0)
    store(chosen, 0, count)


@compiled
def last_with_weight(weights, n_arms, lane):
    """Where rounding would lead past the end: the last arm that has any weight."""
    arm = n_arms - 1
    while arm > 0 and weights[arm * WIDTH + lane] == 0.0:
        arm -= 1
    return arm


@compiled
def mix_with_uniform(state, n_arms, share):
    """p <- share/K + (1 - share) p, theta <- log p, in every run."""
    theta, weights, totals, shifts = state
    total = load(totals, 0)
    for j in range(0, n_arms * WIDTH, WIDTH):
        store(theta, j, log(fma(load(weights, j) / total, 1.0 - share, share / n_arms)))
    store(shifts, 0, splat(0.0))
    weigh(state, n_arms, splat(0.0))


@inlined
def value_of(weights, total, arm_means, n_arms, lane):
    """sum_a p(a) m(a) of one run."""
    summed = 0.0
    for a in range(n_arms):
        summed += weights[a * WIDTH + lane] * arm_means[lane * n_arms + a]
    return summed / total


def _loop_with(lift_and_drain: Any, mixing: Any, noise: Any, reward_of: Any) -> Callable[..., Any]:
    def loop(arrays, learned, hyper, tables, bests, key, runs, checkpoints, first, last, progress, out):
        """Eight runs up to checkpoints[last - 1], measured at checkpoints[first:last].

        tables (8, P, K) and bests (8,) are the instances, runs (8,) the run numbers, progress (10,) the steps done, the
        regrets and a fault, out (8, C, metrics).
        """
        state = (pointer_to(arrays[0]), pointer_to(arrays[1]), pointer_to(arrays[2]), pointer_to(arrays[3]))
        theta, weights, totals, shifts = state
        n_rows, n_arms = tables.shape[1], tables.shape[2]
        memory_size, tracked = learned[0].shape[1], learned[1].shape[1] > 0
        arm_means, arm_counts = pointer_to(learned[1]), pointer_to(learned[2])
        chosen_array, scale_array = np.empty(WIDTH), np.empty(WIDTH)
        chosen, scales = pointer_to(chosen_array), pointer_to(scale_array)
        arm_uniforms, noises = np.empty(BATCH * WIDTH), np.empty(BATCH * WIDTH)
        scratch = np.empty(n_arms)
        key_pointer = pointer_to(key)
        t = int(progress[0])
        if t == 0:
            recentre_those(state, n_arms, 255)
        for c in range(first, last):
            while t < checkpoints[c]:
                batch = min(BATCH, checkpoints[c] - t)
                fill_uniforms_of_runs(arm_uniforms, noises, t, batch, runs, key)
                for i in range(batch * WIDTH):
                    noises[i] = noise(noises[i])
                for i in range(batch):
                    draw(state, n_arms, load(arm_uniforms, i * WIDTH), chosen)
                    t += 1
                    drained = False
                    for lane in range(WIDTH):
                        arm = int(chosen[lane])
                        if arm >= n_arms:
                            arm = last_with_weight(weights, n_arms, lane)
                        table = table_behind(tables, lane * n_rows * n_arms, n_arms)
                        drawn = reward_of(noises[i * WIDTH + lane], table, arm, (key_pointer, t - 1, runs[lane]))
                        reward = checked_reward(drawn, progress, 1 + WIDTH)
                        progress[1 + lane] += table[0, bests[lane]] - table[0, arm]
                        memory = pointer_behind(learned[0], lane * memory_size)
                        total = totals[lane]
                        probability = max(weights[arm * WIDTH + lane] / total, SMALLEST_PROBABILITY)
                        if tracked:
                            memory[0] = value_of(weights, total, arm_means, n_arms, lane)
                            memory[1] = arm_means[lane * n_arms + arm]
                        lift, drain = lift_and_drain(reward, probability, t, memory, hyper)
                        if tracked:
                            learn_mean(arm_means, arm_counts, lane * n_arms + arm, reward)
                        theta[arm * WIDTH + lane] += within_reach(lift)
                        scales[lane] = within_reach(drain) / total
                        drained = drained or drain != 0.0
                        if drain == 0.0:
                            weights[arm * WIDTH + lane] = exp(theta[arm * WIDTH + lane] - shifts[lane])
                    if drained:
                        weigh(state, n_arms, load(scales, 0))
                    else:
                        total = splat(0.0)
                        for j in range(0, n_arms * WIDTH, WIDTH):
                            total = total + load(weights, j)
                        store(totals, 0, total)
                    total = load(totals, 0)
                    lost = lanes_above(LOWEST_TOTAL, total) | lanes_above(total, HIGHEST_TOTAL)
                    if lost != 0:
                        recentre_those(state, n_arms, lost)
                    share = mixing(t, hyper)
                    if share > 0.0:
                        mix_with_uniform(state, n_arms, share)
            for lane in range(WIDTH):
                for a in range(n_arms):
                    scratch[a] = weights[a * WIDTH + lane]
                measure(scratch, totals[lane], tables[lane, 0], bests[lane], progress[1 + lane], out[lane, c])
        progress[0] = t

    return loop


def loop_kernel(lift_and_drain: Any, mixing: Any, noise: Any, reward_of: Any) -> Any:
    """The compiled lockstep loop of a rule on a reward distribution."""
    return kernel(_loop_with, lift_and_drain, mixing, noise, reward_of)
