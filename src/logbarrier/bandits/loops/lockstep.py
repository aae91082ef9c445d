"""The lockstep loop for few arms: eight runs side by side, one in each lane.

With a handful of arms a step is short and mostly latency; eight runs at once hide it. Each lane does
the operations of its run alone, so a run's bits do not depend on which runs share its lanes. What every step does is done in
lanes; what is rare (a reward out of range, a total that needs a new shift) is done run by run.

State of eight runs over K arms, as rows (engine/codegen/lane_arrays.py):
    theta    (K, 8)  preferences
    weights  (K, 8)  exp(theta - shift)
    sums     (K, 8)  the weights of all arms up to this one, from which arms are drawn; the last row is the totals
    shifts   (1, 8)  of each run
`arms` is the arm that each run has drawn, a whole number in each lane.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.core import types

from ...engine.codegen.integer_lanes import lanes_from, load_integers, select_equal, splat_whole, store_whole, whole_if_above
from ...engine.codegen.lane_access import lanes_above, lanes_within, splat
from ...engine.codegen.lane_arrays import column_of, new_rows, rows_at, tables_at
from ...engine.codegen.lanes import WIDTH, fma, select_above
from ...engine.codegen.pointers import buffer_of, pointer_at, pointer_to
from ...engine.compiled import compiled, inlined, kernel
from ...engine.elementary import exp, log
from ...engine.random import fill_uniforms_of_runs
from ..metrics import METRICS, measure
from .functions import call_moves_of_runs, call_noise, call_reward_of_runs, share_to_mix
from .policy import (
    HIGHEST_TOTAL,
    LARGEST_MOVE,
    LARGEST_REWARD,
    LOWEST_TOTAL,
    SMALLEST_PROBABILITY,
    check_moves_of_runs,
    check_rewards_of_runs,
)

BATCH = 64
EVERY_LANE = 2**WIDTH - 1
DONE, REGRETS, FAULT = 0, 1, 1 + WIDTH  # what progress (10,) holds
N_METRICS = len(METRICS)
Arrays = tuple[np.ndarray, ...]
_room_for_lanes, _room_for_batch = buffer_of(WIDTH), buffer_of(BATCH * WIDTH)
_room_for_arms = buffer_of(WIDTH, types.int64)


class Lockstep(NamedTuple):
    """The state as compiled code sees it: rows; scratch points to room for the weights of one run."""

    theta: Any
    weights: Any
    sums: Any
    shifts: Any
    scratch: Any
    n_arms: int


class Lessons(NamedTuple):
    """What the rule has learnt in each run, and how it goes on: addresses, pointers and rows."""

    moves: int
    mixing: int
    hyper: Any
    memories: Any
    arm_means: Any
    arm_counts: Any  # or what the rule remembers of each arm
    keeps_means: bool
    remembers_arms: bool
    fault: Any


def new_lockstep(thetas: np.ndarray) -> Arrays:
    """The state of eight policies softmax(thetas[lane]), thetas (8, K)."""
    n_arms = thetas.shape[1]
    return new_rows(n_arms, thetas.T), new_rows(n_arms), new_rows(n_arms), new_rows(1), np.empty(n_arms)


@inlined
def totals_of(state):
    """The total weight of each run."""
    return state.sums[state.n_arms - 1]


@inlined
def move_all(state, arms, lift, scale):
    """theta <- theta + lift e_arm - scale * weights, weights <- exp(theta - shift), sums again. The hot loop."""
    theta, weights, sums = state.theta, state.weights, state.sums
    shift, total = state.shifts[0], splat(0.0)
    for a in range(state.n_arms):
        before = theta[a]
        drained = select_equal(splat_whole(a), arms, before + lift, before) - scale * weights[a]
        weight = exp(drained - shift)
        theta[a] = drained
        weights[a] = weight
        total = total + weight
        sums[a] = total


@inlined
def move_one(state, arms, lift):
    """The same where nothing is drained: only the arms drawn move."""
    lifted = state.theta[arms] + lift
    state.theta[arms] = lifted
    weight, total = exp(lifted - state.shifts[0]), splat(0.0)
    for a in range(state.n_arms):
        state.weights[a] = select_equal(splat_whole(a), arms, weight, state.weights[a])
        total = total + state.weights[a]
        state.sums[a] = total


@compiled
def recentre(state, lane):
    """Put the shift of one run at its largest theta."""
    theta, weights = column_of(state.theta, lane), column_of(state.weights, lane)
    top, total = theta[0], 0.0
    for a in range(state.n_arms):
        top = max(top, theta[a])
    column_of(state.shifts, lane)[0] = top
    for a in range(state.n_arms):
        weights[a] = exp(theta[a] - top)
        total += weights[a]
        column_of(state.sums, lane)[a] = total


@compiled
def recentre_those(state, lost):
    """The same for the runs whose bits are set."""
    for lane in range(WIDTH):
        if lost >> lane & 1:
            recentre(state, lane)


@inlined
def draw(state, uniforms):
    """The arm at u of the cumulative weights: how many arms have all they and those before weigh below u."""
    target, arms = uniforms * totals_of(state), splat_whole(0)
    for a in range(state.n_arms):
        arms = arms + whole_if_above(state.sums[a], target, 0, 1)
    return arms if lanes_from(arms, state.n_arms) == 0 else held_back(state, arms)


@compiled
def held_back(state, arms):
    """Where rounding would lead past the end: the last arm that has any weight."""
    kept = _room_for_arms()
    store_whole(kept, 0, arms)
    for lane in range(WIDTH):
        if kept[lane] >= state.n_arms:
            kept[lane] = state.n_arms - 1
            while kept[lane] > 0 and column_of(state.weights, lane)[kept[lane]] == 0.0:
                kept[lane] -= 1
    return load_integers(kept, 0)


@compiled
def mix_with_uniform(state, share):
    """p <- share/K + (1 - share) p, theta <- log p, in every run."""
    total = totals_of(state)
    for a in range(state.n_arms):
        state.theta[a] = log(fma(state.weights[a] / total, 1.0 - share, share / state.n_arms))
    state.shifts[0] = 0.0
    move_all(state, splat_whole(0), splat(0.0), splat(0.0))


@inlined
def look_up_means(state, lessons, arms):
    """Tell rules that use arm means the value sum_a p(a) m(a) of the policy and the pulled arm's mean, before they learn."""
    summed = splat(0.0)
    for a in range(state.n_arms):
        summed = summed + state.weights[a] * lessons.arm_means[a]
    memory = rows_at(lessons.memories)
    memory[0] = summed / totals_of(state)  # policy_mean
    memory[1] = lessons.arm_means[arms]  # arm_mean


@inlined
def learn_means(lessons, arms, reward):
    """m(a) <- m(a) + (R - m(a))/n(a), as `dense.learn_mean` does it."""
    count, mean = lessons.arm_counts[arms] + 1.0, lessons.arm_means[arms]
    lessons.arm_counts[arms] = count
    lessons.arm_means[arms] = mean + (reward - mean) / count


@inlined
def learn(state, lessons, arms, rewards, t):
    """Step t = 1, 2, ... of the rule in every run: the arms drawn paid rewards[lane]."""
    probabilities, lifts, drains = _room_for_lanes(), _room_for_lanes(), _room_for_lanes()
    total = totals_of(state)
    probability = state.weights[arms] / total
    rows_at(probabilities)[0] = select_above(SMALLEST_PROBABILITY, probability, SMALLEST_PROBABILITY, probability)
    if lessons.keeps_means:
        look_up_means(state, lessons, arms)
    if lessons.remembers_arms:
        rows_at(lessons.memories)[0] = lessons.arm_counts[arms]  # of_arm
    numbers = (lessons.memories, lessons.hyper, lifts, drains, lessons.fault)
    call_moves_of_runs(lessons.moves, (rewards, probabilities, t, *numbers))
    if lessons.keeps_means:
        learn_means(lessons, arms, rows_at(rewards)[0])
    if lessons.remembers_arms:
        lessons.arm_counts[arms] = rows_at(lessons.memories)[0]
    if lanes_within(rows_at(lifts)[0], LARGEST_MOVE) & lanes_within(rows_at(drains)[0], LARGEST_MOVE) != EVERY_LANE:
        check_moves_of_runs(lifts, drains, t, lessons.fault)
    lift, drain = rows_at(lifts)[0], rows_at(drains)[0]
    if lanes_within(drain, 0.0) == EVERY_LANE:
        move_one(state, arms, lift)
    else:
        move_all(state, arms, lift, drain / total)
    total = totals_of(state)
    lost = lanes_above(LOWEST_TOTAL, total) | lanes_above(total, HIGHEST_TOTAL)
    if lost != 0:
        recentre_those(state, lost)
    share = share_to_mix(lessons, t)
    if share > 0.0:
        mix_with_uniform(state, share)


@inlined
def rows_of(array):
    """An array (n, 8) as rows."""
    return rows_at(pointer_to(array))


@inlined
def open_state(job_arrays, fault):
    """The state and the lessons, from the arrays of `new_lockstep`, (moves, mixing, hyper) and (memories, means, counts)."""
    arrays, calls, learned = job_arrays
    policy = rows_of(arrays[0]), rows_of(arrays[1]), rows_of(arrays[2]), rows_of(arrays[3])
    state = Lockstep(policy[0], policy[1], policy[2], policy[3], pointer_to(arrays[4]), arrays[4].shape[0])
    numbers = pointer_to(learned[0]), rows_of(learned[1]), rows_of(learned[2])
    keeps_means = learned[1].shape[0] > 0
    kept = keeps_means, learned[2].shape[0] > 0 and not keeps_means
    return state, Lessons(calls[0], calls[1], pointer_to(calls[2]), numbers[0], numbers[1], numbers[2], kept[0], kept[1], fault)


@inlined
def report(state, lane, means, best, regret, row):
    """Measure one run."""
    for a in range(state.n_arms):
        state.scratch[a] = column_of(state.weights, lane)[a]
    total = column_of(state.sums, lane)[state.n_arms - 1]
    measure(state.scratch, total, means, state.n_arms, best, regret, row)


def _loop() -> Callable[..., Any]:
    def loop(job, first, last):
        """Eight runs of a `Job` up to stops[last - 1]; at stops[c] measured into row rows[c] of out, unless it is negative."""
        progress = pointer_to(job.progress)
        fault, regrets = pointer_at(progress, FAULT), pointer_at(progress, REGRETS)
        state, lessons = open_state(job.arrays, fault)
        noise, reward_of = job.law
        tables, bests = pointer_to(job.parameters), pointer_to(job.best)
        size = job.parameters.shape[1] * job.parameters.shape[2]
        key, runs, out = pointer_to(job.key), pointer_to(job.run), pointer_to(job.out)
        stops, rows = pointer_to(job.stops), pointer_to(job.rows)
        pulled, rewards, uniforms, noises = _room_for_arms(), _room_for_lanes(), _room_for_batch(), _room_for_batch()
        means, regret = tables_at(tables, size, state.n_arms), rows_at(regrets)  # row 0 of a table are the means
        best_means = means[0, load_integers(bests, 0)]
        t = int(progress[DONE])
        if t == 0:
            recentre_those(state, EVERY_LANE)
        for c in range(first, last):
            while t < stops[c] and fault[0] == 0.0:
                batch = min(BATCH, stops[c] - t)
                fill_uniforms_of_runs(uniforms, noises, t, batch, runs, key)
                call_noise(noise, (noises, batch * WIDTH, fault))
                for i in range(batch):
                    arms = draw(state, rows_at(uniforms)[i])
                    store_whole(pulled, 0, arms)
                    drawn = (pointer_at(noises, i * WIDTH), tables, size, state.n_arms, pulled, key, t, runs, rewards, fault)
                    call_reward_of_runs(reward_of, drawn)
                    if lanes_within(rows_at(rewards)[0], LARGEST_REWARD) != EVERY_LANE:
                        check_rewards_of_runs(rewards, fault)
                    regret[0] += best_means - means[0, arms]
                    t += 1
                    learn(state, lessons, arms, rewards, t)
            if rows[c] >= 0:
                for lane in range(WIDTH):
                    row = pointer_at(out, (lane * job.out.shape[1] + rows[c]) * N_METRICS)
                    report(state, lane, pointer_at(tables, lane * size), bests[lane], regrets[lane], row)
        progress[DONE] = t

    loop.label, loop.near = "the lockstep loop", True  # type: ignore[attr-defined]
    return loop


def loop_kernel() -> Any:
    """The compiled lockstep loop."""
    return kernel(_loop)
