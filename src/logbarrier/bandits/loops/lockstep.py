"""The lockstep loop for few arms: eight runs side by side, one in each lane.

With a handful of arms a step is short and waits for its own results; eight runs at once fill the waiting. Each lane does
the operations of its run alone, so a run's bits do not depend on which runs are beside it.

State of eight runs over K arms, index a * 8 + lane:
    theta, weights (K * 8,)   preferences and exp(theta - shift)
    totals, shifts (8,)       of each run
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.core import types

from ...engine.compiled import compiled, inlined, kernel
from ...engine.elementary import exp, log
from ...engine.lanes import WIDTH, fma, lanes_above, load, select_above, splat, store
from ...engine.pointers import moved, pointer_to, room_for
from ...engine.random import fill_uniforms_of_runs
from ..metrics import METRICS, measure
from .calls import call_moves_of_runs, call_noise, call_reward_of_runs, share_to_mix
from .dense import learn_mean
from .policy import HIGHEST_TOTAL, LOWEST_TOTAL, SMALLEST_PROBABILITY, checked_reward, within_reach

BATCH = 64
DONE, REGRETS, FAULT = 0, 1, 1 + WIDTH  # what progress (10,) holds
N_METRICS = len(METRICS)
Arrays = tuple[np.ndarray, ...]
_room_for_lanes, _room_for_batch = room_for(WIDTH), room_for(BATCH * WIDTH)
_room_for_places = room_for(WIDTH, types.int64)


class Lockstep(NamedTuple):
    """The state as compiled code sees it: pointers; scratch has room for the weights of one run."""

    theta: Any
    weights: Any
    totals: Any
    shifts: Any
    scratch: Any
    n_arms: int


class Lessons(NamedTuple):
    """What the rule has learnt in each run, and how it goes on: addresses, pointers, the size of one run's memory."""

    moves: int
    mixing: int
    hyper: Any
    memories: Any
    arm_means: Any
    arm_counts: Any
    memory_size: int
    tracked: bool
    fault: Any


def new_lockstep(thetas: np.ndarray) -> Arrays:
    """The state of eight policies softmax(thetas[lane]), thetas (8, K)."""
    n_arms = thetas.shape[1]
    theta = np.ascontiguousarray(thetas.T).ravel()
    return theta, np.zeros(n_arms * WIDTH), np.zeros(WIDTH), np.zeros(WIDTH), np.empty(n_arms)


@inlined
def weigh(state, scale):
    """theta <- theta - scale * weights, weights <- exp(theta - shift), totals anew. The hot loop."""
    theta, weights = state.theta, state.weights
    shift, total = load(state.shifts, 0), splat(0.0)
    for j in range(0, state.n_arms * WIDTH, WIDTH):
        drained = load(theta, j) - scale * load(weights, j)
        weight = exp(drained - shift)
        store(theta, j, drained)
        store(weights, j, weight)
        total = total + weight
    store(state.totals, 0, total)


@inlined
def add_up(state):
    """The totals where no weight but those of the pulled arms moved."""
    total = splat(0.0)
    for j in range(0, state.n_arms * WIDTH, WIDTH):
        total = total + load(state.weights, j)
    store(state.totals, 0, total)


@compiled
def recentre(state, lane):
    """Put the shift of one run at its largest theta."""
    theta, weights, totals = state.theta, state.weights, state.totals
    top = theta[lane]
    for a in range(state.n_arms):
        top = max(top, theta[a * WIDTH + lane])
    state.shifts[lane] = top
    totals[lane] = 0.0
    for a in range(state.n_arms):
        weights[a * WIDTH + lane] = exp(theta[a * WIDTH + lane] - top)
        totals[lane] += weights[a * WIDTH + lane]


@compiled
def recentre_those(state, lost):
    """The same for the runs whose bits are set."""
    for lane in range(WIDTH):
        if lost >> lane & 1:
            recentre(state, lane)


@inlined
def draw(state, uniforms, chosen):
    """chosen[lane] = the arm at u of the cumulative weights: how many arms have all they and those before weigh below u."""
    target = uniforms * load(state.totals, 0)
    below, count = splat(0.0), splat(0.0)
    for j in range(0, state.n_arms * WIDTH, WIDTH):
        below = below + load(state.weights, j)
        count = count + select_above(below, target, 0.0, 1.0)
    store(chosen, 0, count)


@compiled
def last_with_weight(state, lane):
    """Where rounding would lead past the end: the last arm that has any weight."""
    arm = state.n_arms - 1
    while arm > 0 and state.weights[arm * WIDTH + lane] == 0.0:
        arm -= 1
    return arm


@compiled
def mix_with_uniform(state, share):
    """p <- share/K + (1 - share) p, theta <- log p, in every run."""
    total = load(state.totals, 0)
    for j in range(0, state.n_arms * WIDTH, WIDTH):
        store(state.theta, j, log(fma(load(state.weights, j) / total, 1.0 - share, share / state.n_arms)))
    store(state.shifts, 0, splat(0.0))
    weigh(state, splat(0.0))


@inlined
def value_of(state, arm_means, lane):
    """sum_a p(a) m(a) of one run."""
    summed = 0.0
    for a in range(state.n_arms):
        summed += state.weights[a * WIDTH + lane] * arm_means[lane * state.n_arms + a]
    return summed / state.totals[lane]


@inlined
def look_up_means(state, lessons, chosen):
    """Tell rules that use arm means the value of the policy and the pulled arm's mean, before they learn."""
    for lane in range(WIDTH):
        memory = moved(lessons.memories, lane * lessons.memory_size)
        memory[0] = value_of(state, lessons.arm_means, lane)
        memory[1] = lessons.arm_means[lane * state.n_arms + int(chosen[lane])]


@inlined
def learn(state, lessons, chosen, rewards, t):
    """Step t = 1, 2, ... of the rule in every run: the arms chosen[lane] paid rewards[lane]."""
    probabilities, lifts, drains = _room_for_lanes(), _room_for_lanes(), _room_for_lanes()
    for lane in range(WIDTH):
        weight = state.weights[int(chosen[lane]) * WIDTH + lane]
        probabilities[lane] = max(weight / state.totals[lane], SMALLEST_PROBABILITY)
    if lessons.tracked:
        look_up_means(state, lessons, chosen)
    numbers = (lessons.memories, lessons.memory_size, lessons.hyper, lifts, drains, lessons.fault)
    call_moves_of_runs(lessons.moves, (rewards, probabilities, t, *numbers))
    drained = False
    for lane in range(WIDTH):
        arm = int(chosen[lane])
        if lessons.tracked:
            learn_mean(lessons.arm_means, lessons.arm_counts, lane * state.n_arms + arm, rewards[lane])
        place = arm * WIDTH + lane
        state.theta[place] += within_reach(lifts[lane])
        if drains[lane] == 0.0:
            state.weights[place] = exp(state.theta[place] - state.shifts[lane])
        drained = drained or drains[lane] != 0.0
        drains[lane] = within_reach(drains[lane]) / state.totals[lane]
    if drained:
        weigh(state, load(drains, 0))
    else:
        add_up(state)
    total = load(state.totals, 0)
    lost = lanes_above(LOWEST_TOTAL, total) | lanes_above(total, HIGHEST_TOTAL)
    if lost != 0:
        recentre_those(state, lost)
    share = share_to_mix(lessons, t)
    if share > 0.0:
        mix_with_uniform(state, share)


@inlined
def opened(arrays, calls, learned, fault):
    """The state and the lessons, from the arrays of `new_lockstep`, (moves, mixing, hyper) and (memories, means, counts)."""
    pointers = pointer_to(arrays[0]), pointer_to(arrays[1]), pointer_to(arrays[2]), pointer_to(arrays[3]), pointer_to(arrays[4])
    state = Lockstep(pointers[0], pointers[1], pointers[2], pointers[3], pointers[4], arrays[4].shape[0])
    numbers = pointer_to(learned[0]), pointer_to(learned[1]), pointer_to(learned[2])
    sizes = learned[0].shape[1], learned[1].shape[1] > 0
    hyper = pointer_to(calls[2])
    return state, Lessons(calls[0], calls[1], hyper, numbers[0], numbers[1], numbers[2], sizes[0], sizes[1], fault)


@inlined
def report(state, lane, means, best, regret, row):
    """Measure one run."""
    for a in range(state.n_arms):
        state.scratch[a] = state.weights[a * WIDTH + lane]
    measure(state.scratch, state.totals[lane], means, state.n_arms, best, regret, row)


def _loop() -> Callable[..., Any]:
    def loop(
        arrays, calls, learned, law, problem, key_array, run_array, stop_array, row_array, first, last, progress_array, out
    ):
        """Eight runs up to stops[last - 1]; at stops[c] measured into row rows[c] of out, unless that is negative.

        problem is (tables (8, P, K), bests (8,)), runs (8,) the run numbers, progress (10,) the steps done, the regrets and a
        fault, out (8, C, metrics).
        """
        progress = pointer_to(progress_array)
        fault, regrets = moved(progress, FAULT), moved(progress, REGRETS)
        state, lessons = opened(arrays, calls, learned, fault)
        noise, reward_of = law
        tables, bests, size = pointer_to(problem[0]), pointer_to(problem[1]), problem[0].shape[1] * problem[0].shape[2]
        key, runs = pointer_to(key_array), pointer_to(run_array)
        stops, rows = pointer_to(stop_array), pointer_to(row_array)
        chosen, rewards = _room_for_lanes(), _room_for_lanes()
        uniforms, noises = _room_for_batch(), _room_for_batch()
        n_arms = state.n_arms
        t = int(progress[DONE])
        if t == 0:
            recentre_those(state, 255)
        for c in range(first, last):
            while t < stops[c]:
                batch = min(BATCH, stops[c] - t)
                fill_uniforms_of_runs(uniforms, noises, t, batch, runs, key)
                call_noise(noise, (noises, batch * WIDTH, fault))
                for i in range(batch):
                    draw(state, load(uniforms, i * WIDTH), chosen)
                    for lane in range(WIDTH):
                        if int(chosen[lane]) >= n_arms:
                            chosen[lane] = last_with_weight(state, lane)
                    drawn = (moved(noises, i * WIDTH), tables, size, n_arms, chosen, key, t, runs, rewards, fault)
                    call_reward_of_runs(reward_of, drawn)
                    for lane in range(WIDTH):
                        rewards[lane] = checked_reward(rewards[lane], fault)
                        means = lane * size
                        regrets[lane] += tables[means + bests[lane]] - tables[means + int(chosen[lane])]
                    t += 1
                    learn(state, lessons, chosen, rewards, t)
            if rows[c] >= 0:
                for lane in range(WIDTH):
                    row = moved(pointer_to(out), (lane * out.shape[1] + rows[c]) * N_METRICS)
                    report(state, lane, moved(tables, lane * size), bests[lane], regrets[lane], row)
        progress[DONE] = t

    loop.label = "the lockstep loop"  # type: ignore[attr-defined]
    return loop


def loop_kernel() -> Any:
    """The compiled lockstep loop."""
    return kernel(_loop)
