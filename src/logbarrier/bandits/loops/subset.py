"""Drawing and learning when only a subset of the arms is available, or when another policy than the present one drew the arm.

Of K arms the set S of n is available. The policy on S and what actually draws the arm, with a floor on every propensity, are

    q(a) = exp(theta(a)) / sum_{b in S} exp(theta(b)),        b(a) = floor/n + (1 - floor) q(a)

and a rule's (lift, drain), computed for n arms and the probability q(a), move the preferences of S alone:

    theta(j) <- theta(j) + w (lift [j = a] - drain q(j) + (drain - lift)/n),   j in S,        w = q(a)/b(a)

The last term makes the step sum to 0 over S. A function of q ignores a constant added to S, so its gradient in theta sums to 0
over S and is 0 elsewhere. With all arms available the term is the constant that softmax ignores. The weight w makes the mean
of the step over a ~ b its mean over a ~ q.
"""

from __future__ import annotations

from typing import Any

from ...engine.codegen.pointers import buffer_of
from ...engine.compiled import compiled, kernel
from ...engine.elementary import exp, log
from ...engine.random import step_uniforms
from .dense import learn_of_arm, opened_learned
from .functions import call_moves, share_to_mix
from .policy import SHIFT, SMALLEST_PROBABILITY, TOTAL, checked_move, draw_arm, mix_with_uniform, opened_policy, recentre
from .vectors import draw_by_policy

_room_for_fault = buffer_of(1)


@compiled
def draw_next(policy_arrays, t, key):
    """The arm of decision t = 0, 1, ... from the whole policy, and its probability: the draw of run 0 of a simulation."""
    policy = opened_policy(policy_arrays)
    arm = draw_arm(policy, step_uniforms(t, 0, key)[0])
    return arm, policy.weights[arm] / policy.scalars[TOTAL]


@compiled
def restrict(theta, arms, q):
    """q (n,) <- softmax of theta over arms (n,)."""
    top = theta[arms[0]]
    for a in arms:
        top = max(top, theta[a])
    total = 0.0
    for i in range(arms.shape[0]):
        q[i] = exp(theta[arms[i]] - top)
        total += q[i]
    for i in range(arms.shape[0]):
        q[i] /= total


@compiled
def draw_subset(theta, arms, floor, t, key, q, drawn_from):
    """Decision t from b over arms (n,): where among them the arm stands, and its propensity b(a); fills q (n,) and b (n,)."""
    n_arms = arms.shape[0]
    restrict(theta, arms, q)
    for i in range(n_arms):
        drawn_from[i] = floor / n_arms + (1.0 - floor) * q[i]
    place = draw_by_policy(step_uniforms(t, 0, key)[0], t, drawn_from, 0, 0, 0, 0)
    return place, drawn_from[place]


@compiled
def entering_theta(scalars, probability):
    """The preference that gives a new arm this probability among the present ones: log(total weight) + log odds."""
    return scalars[SHIFT] + log(scalars[TOTAL]) + log(probability) - log(1.0 - probability)


@compiled
def tell_means(learned, arms, q, arm):
    """policy_mean <- sum q m over arms, arm_mean <- m(arm); an arm that was removed counts as an average one."""
    memory, arm_means = learned.memory, learned.arm_means
    value, total = 0.0, 0.0
    for i in range(arms.shape[0]):
        value += q[i] * arm_means[arms[i]]
        total += q[i]
    memory[0] = value / max(total, SMALLEST_PROBABILITY)  # policy_mean
    memory[1] = arm_means[arm] if arm >= 0 else memory[0]  # arm_mean


def _update() -> Any:
    def update(policy_arrays, calls, learned_arrays, n_arms, t, arm, reward, drawn):
        """One step, t = 1, 2, ..., from the reward of an arm, -1 if it has been removed; returns a fault.

        A step with a fault changes nothing but the rule's memory.
        drawn = (arms (m,), q (m,), q(arm), n, w): those of the n arms it was drawn from that are still here.
        calls: the rule's functions and hyper-parameters for n arms, and for all n_arms of the present.
        """
        arms, q, probability, size, weight = drawn
        fault = _room_for_fault()
        fault[0] = 0.0
        policy, learned = opened_policy(policy_arrays), opened_learned(calls[0], learned_arrays, fault)
        if learned.keeps_means:
            tell_means(learned, arms, q, arm)
        if learned.remembers_arms:
            learned.memory[0] = learned.arm_counts[arm] if arm >= 0 else 0.0  # of_arm
        seen = max(probability, SMALLEST_PROBABILITY)
        lift, drain = call_moves(learned.moves, (reward, seen, t, learned.memory, learned.hyper, fault))
        lift, drain = checked_move(weight * lift, t, fault), checked_move(weight * drain, t, fault)
        share = share_to_mix(opened_learned(calls[1], learned_arrays, fault), t)
        if fault[0] != 0.0:
            return fault[0]
        if arm >= 0:
            learn_of_arm(learned, arm, reward)
        for i in range(arms.shape[0]):
            policy.theta[arms[i]] += (drain - lift) / size - drain * q[i]
        if arm >= 0:
            policy.theta[arm] += lift
        recentre(policy)
        if share > 0.0:
            mix_with_uniform(policy, n_arms, share)
        return 0.0

    return update


def update_kernel() -> Any:
    """The compiled step of a rule on a subset of the arms."""
    return kernel(_update)
