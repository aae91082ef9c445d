"""The loop for rules that keep their own vectors: draw, pull, learn, weigh the arms again. One pass or more per step.

State of one run over K arms:
    vectors  (V, K)  the rule's own
    memory   (M,)    the rule's own
    policy   (K,)    probabilities of the next pull
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...engine.codegen.lane_access import lane, lane_sum, load, splat, store
from ...engine.codegen.lanes import WIDTH, select_above
from ...engine.codegen.pointers import array_at, buffer_of, pointer_to
from ...engine.compiled import compiled, inlined, kernel
from ...engine.elementary import exp
from ...engine.random import step_uniforms
from .faults import BAD_ARM, BAD_VECTOR, BAD_WEIGHTS, LARGEST, note
from .functions import call_draw, call_learn, call_weigh
from .policy import SMALLEST_PROBABILITY, first_beyond
from .single import loop_of, no_refill, same_place

_room_for_fault = buffer_of(1)


class Vectors(NamedTuple):
    """The state as compiled code sees it: addresses of the rule's functions, pointers to its numbers, their sizes."""

    learn: int
    weigh: int
    draw: int
    hyper: Any
    vectors: Any
    memory: Any
    policy: Any
    n_arms: int
    rows: int
    fault: Any


@compiled
def draw_by_probabilities(u, policy, n_arms):
    """The arm at u in (0, 1) of the cumulative distribution, never one of probability 0."""
    return first_beyond(u, policy, 0, n_arms, 0.0)


@compiled
def draw_by_policy(u, t, policy, vectors, memory, hyper, stream):
    """The same, as a rule's `draw`."""
    return draw_by_probabilities(u, policy, policy.shape[0])


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
def normalise(weights, t, fault):
    """weights <- weights / sum(weights); a sum that is not positive and finite is noted as a fault of step t."""
    total = sum_of(weights)
    if not 0.0 < total <= LARGEST:
        note(fault, BAD_WEIGHTS, t)
    for a in range(weights.shape[0]):
        weights[a] /= total


@inlined
def opened_vectors(arrays, fault):
    """The pointers into ((learn, weigh, draw, hyper), vectors, memory, policy)."""
    calls, vectors, memory, policy = arrays
    sizes = vectors.shape[1], vectors.shape[0]
    pointers = pointer_to(calls[3]), pointer_to(vectors), pointer_to(memory), pointer_to(policy)
    return Vectors(calls[0], calls[1], calls[2], pointers[0], pointers[1], pointers[2], pointers[3], sizes[0], sizes[1], fault)


@inlined
def set_policy(state, t):
    """policy (K,) <- the probabilities after t steps."""
    numbers = (state.policy, state.vectors, state.memory, state.hyper)
    sizes = (state.n_arms, state.rows)
    call_weigh(state.weigh, (t, *numbers, *sizes, state.fault))
    normalise(array_at(state.policy, (state.n_arms,)), t, state.fault)


@inlined
def check_vectors(state, t):
    """Note a fault of step t if one of the vectors' numbers is not finite."""
    zero = 0.0
    for i in range(state.rows * state.n_arms):
        zero += 0.0 * state.vectors[i]  # NaN once a number is not finite
    if zero != 0.0:
        note(state.fault, BAD_VECTOR, t)


@inlined
def learn_from(state, drawn_from, arm, reward, t):
    """Learn from the reward of an arm drawn from probabilities (K,) at step t = 1, 2, ...; whether the policy moved."""
    probability = max(drawn_from[arm], SMALLEST_PROBABILITY)
    numbers = (drawn_from, state.vectors, state.memory, state.hyper)
    sizes = (state.n_arms, state.rows)
    moved = call_learn(state.learn, (arm, reward, probability, t, *numbers, *sizes, state.fault))
    if moved < 0:
        note(state.fault, BAD_VECTOR, t)
    return moved != 0


@inlined
def draw_from(state, u, t, step, run, key):
    """An arm after t steps, by the rule's own way; (key, step, run) are its random numbers."""
    numbers = (state.policy, state.vectors, state.memory, state.hyper)
    sizes = (state.n_arms, state.rows)
    arm = call_draw(state.draw, (u, t, *numbers, *sizes, key, step, run, state.fault))
    if 0 <= arm < state.n_arms:
        return arm
    note(state.fault, BAD_ARM, t + 1)
    return 0


@inlined
def draw_arm(state, u, t, step, run, key):
    """An arm after t steps, by the rule's own way if it has one."""
    if state.draw != 0:
        return draw_from(state, u, t, step, run, key)
    return draw_by_probabilities(u, state.policy, state.n_arms)


@inlined
def open_state(arrays, parameters, t, fault):
    state = opened_vectors(arrays, fault)
    if state.draw == 0:  # otherwise nobody asks for the policy before it is measured
        set_policy(state, t)
    return state


@inlined
def draw_place(state, hint, i, batch, u, t, run, key):
    return draw_arm(state, u, t, t, run, key)


@inlined
def learn_step(state, place, arm, reward, t):
    if learn_from(state, state.policy, arm, reward, t) and state.draw == 0:
        set_policy(state, t)


@inlined
def weights_now(state, t):
    if state.draw != 0:  # until now nobody asked for the policy
        set_policy(state, t)
    check_vectors(state, t)
    return state.policy, 1.0


def loop_kernel() -> Any:
    """The compiled loop."""
    return kernel(loop_of, "the vector loop", True, open_state, no_refill, draw_place, same_place, learn_step, weights_now)


@compiled
def set_policy_of(arrays, t):
    """The policy after t steps, for the online agent; returns a fault."""
    fault = _room_for_fault()
    fault[0] = 0.0
    set_policy(opened_vectors(arrays, fault), t)
    return fault[0]


@compiled
def update(arrays, earlier, arm, reward, t):
    """Step t = 1, 2, ... from the reward of an arm drawn from probabilities `earlier` (K,), for the online agent; a fault."""
    fault = _room_for_fault()
    fault[0] = 0.0
    state = opened_vectors(arrays, fault)
    if learn_from(state, pointer_to(earlier), arm, reward, t):
        set_policy(state, t)
    check_vectors(state, t)
    return fault[0]


@compiled
def draw_next(policy, number, key):
    """(The arm of decision `number` by a policy (K,), its probability), for the online agent."""
    arm = draw_by_probabilities(step_uniforms(number, 0, key)[0], policy, policy.shape[0])
    return arm, policy[arm]


@compiled
def draw_of(arrays, u, t, stream):
    """(An arm drawn after t steps, a fault), for the online agent; stream is (key, step, run)."""
    fault, (key, step, run) = _room_for_fault(), stream
    fault[0] = 0.0
    arm = draw_arm(opened_vectors(arrays, fault), u, t, step, run, pointer_to(key))
    return arm, fault[0]
