"""The dense loop: draw, pull, update, one pass over the arms per step. Exact, and the reference for every other loop."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...engine.codegen.pointers import buffer_of, pointer_to
from ...engine.compiled import compiled, inlined, kernel
from .functions import call_moves, share_to_mix
from .policy import (
    SMALLEST_PROBABILITY,
    TOTAL,
    checked_move,
    draw_arm,
    mean_under,
    mix_with_uniform,
    move,
    move_from,
    opened_policy,
)
from .single import loop_of, no_refill, same_place

PRESENT = np.empty(0)  # for `earlier`: the arm was drawn from the present policy
_room_for_fault = buffer_of(1)


class Learned(NamedTuple):
    """What a rule has learnt, and how it goes on: addresses of its functions, pointers to its numbers."""

    moves: int
    mixing: int
    hyper: Any
    memory: Any
    arm_means: Any
    arm_counts: Any  # or what the rule remembers of each arm
    keeps_means: bool  # whether the arm means are kept
    remembers_arms: bool  # whether the rule remembers a number per arm
    fault: Any


class Dense(NamedTuple):
    """The state of the loop."""

    policy: Any
    learned: Any
    n_arms: int


@inlined
def opened_learned(calls, learned, fault):
    """The pointers into (moves, mixing, hyper) and (memory, arm means, arm counts)."""
    pointers = pointer_to(learned[0]), pointer_to(learned[1]), pointer_to(learned[2])
    keeps_means = learned[1].shape[0] > 0
    remembers_arms = learned[2].shape[0] > 0 and not keeps_means
    return Learned(
        calls[0], calls[1], pointer_to(calls[2]), pointers[0], pointers[1], pointers[2], keeps_means, remembers_arms, fault
    )


@compiled
def learn_mean(arm_means, arm_counts, arm, reward):
    """m(a) <- m(a) + (R - m(a))/n(a), the running mean of an arm's rewards."""
    arm_counts[arm] += 1.0
    arm_means[arm] += (reward - arm_means[arm]) / arm_counts[arm]


@inlined
def lift_and_drain(learned, n_arms, weights, total, arm, reward, t):
    """What the rule moves by, from the reward of an arm drawn with probabilities weights / total; its memory follows."""
    probability = max(weights[arm] / total, SMALLEST_PROBABILITY)
    if learned.keeps_means:
        learned.memory[0] = mean_under(learned.arm_means, n_arms, weights, total)  # policy_mean
        learned.memory[1] = learned.arm_means[arm]  # arm_mean
    if learned.remembers_arms:
        learned.memory[0] = learned.arm_counts[arm]  # of_arm
    lift, drain = call_moves(learned.moves, (reward, probability, t, learned.memory, learned.hyper, learned.fault))
    return checked_move(lift, t, learned.fault), checked_move(drain, t, learned.fault)


@inlined
def learn_of_arm(learned, arm, reward):
    """Put what a step teaches about its arm, after `lift_and_drain`, into the numbers kept for the arms."""
    if learned.keeps_means:
        learn_mean(learned.arm_means, learned.arm_counts, arm, reward)
    if learned.remembers_arms:
        learned.arm_counts[arm] = learned.memory[0]


@inlined
def open_state(arrays, parameters, t, fault):
    policy, calls, learned, n_arms = arrays
    return Dense(opened_policy(policy), opened_learned(calls, learned, fault), n_arms)


@inlined
def draw_place(state, hint, i, batch, u, t, run, key):
    return draw_arm(state.policy, u)


@inlined
def learn_step(state, place, arm, reward, t):
    policy = state.policy
    lift, drain = lift_and_drain(state.learned, state.n_arms, policy.weights, policy.scalars[TOTAL], arm, reward, t)
    learn_of_arm(state.learned, arm, reward)
    move(policy, arm, lift, drain)
    share = share_to_mix(state.learned, t)
    if share > 0.0:
        mix_with_uniform(policy, state.n_arms, share)


@inlined
def weights_now(state, t):
    return state.policy.weights, state.policy.scalars[TOTAL]


def loop_kernel() -> Any:
    """The compiled loop."""
    return kernel(loop_of, "the dense loop", True, open_state, no_refill, draw_place, same_place, learn_step, weights_now)


def _update() -> Any:
    def update(policy_arrays, calls, learned_arrays, n_arms, t, arm, reward, earlier):
        """Step t = 1, 2, ... of a rule for the online agent, as the loop does it; returns a fault.

        A step with a fault changes nothing but the rule's memory.
        earlier (K,) holds the probabilities the arm was drawn with where that was another policy than the present one;
        it is empty otherwise.
        """
        fault = _room_for_fault()
        fault[0] = 0.0
        policy, learned = opened_policy(policy_arrays), opened_learned(calls, learned_arrays, fault)
        late = earlier.shape[0] > 0
        weights = pointer_to(earlier) if late else policy.weights
        total = 1.0 if late else policy.scalars[TOTAL]
        lift, drain = lift_and_drain(learned, n_arms, weights, total, arm, reward, t)
        share = share_to_mix(learned, t)
        if fault[0] != 0.0:
            return fault[0]
        learn_of_arm(learned, arm, reward)
        if late:
            move_from(policy, weights, n_arms, arm, lift, drain)
        else:
            move(policy, arm, lift, drain)
        if share > 0.0:
            mix_with_uniform(policy, n_arms, share)
        return 0.0

    return update


def update_kernel() -> Any:
    """The compiled step of a rule."""
    return kernel(_update)
