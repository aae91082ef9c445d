"""The loop of one run, whatever its engine: draw, pull, learn, and measure at the checkpoints.

An engine is six small functions over its own state:
    open_state(arrays, parameters, t, fault)           the state as compiled code sees it: pointers by name
    refill(state, t, batch, run, key)                  more random numbers for a batch of steps, where one uniform is not enough
    draw_place(state, hint, i, batch, u, t, run, key)  a place, drawn by weight; hint is what `refill` returned
    arm_at(state, place)                               the arm there
    learn_step(state, place, arm, reward, t)           step t = 1, 2, ... of the rule
    weights_now(state, t)                              weights (K,) and their total, to be measured
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.codegen.pointers import buffer_of, pointer_at, pointer_to
from ...engine.compiled import inlined
from ...engine.random import fill_uniforms
from ..metrics import METRICS, measure
from .functions import call_noise, call_reward
from .policy import checked_reward

BATCH = 128  # steps whose random numbers are drawn together
DONE, REGRET, FAULT = range(3)  # what progress (3,) holds
N_METRICS = len(METRICS)
_room_for_uniforms, _room_for_noises = buffer_of(2 * BATCH), buffer_of(BATCH)


@inlined
def no_refill(state, t, batch, run, key):
    """For engines that need one uniform per step."""
    return 0


@inlined
def same_place(state, place):
    """For engines whose places are arms."""
    return place


def loop_of(
    label: str, near: bool, open_state: Any, refill: Any, draw_place: Any, arm_at: Any, learn_step: Any, weights_now: Any
) -> Callable[..., Any]:
    """Return the loop of an engine, for `kernel`; near (codegen/linking.py) makes dense 17 % faster, and lazy 8 % slower."""

    def loop(job, first, last):
        """Run up to stops[last - 1] of a `Job`; at stops[c] measure into row rows[c] of out, unless that is negative."""
        (noise, reward_of), run = job.law, job.run
        parameters, n_arms, best = pointer_to(job.parameters), job.parameters.shape[1], job.best[0]
        key, stops, progress = pointer_to(job.key), pointer_to(job.stops), pointer_to(job.progress)
        rows, out = pointer_to(job.rows), pointer_to(job.out)
        fault = pointer_at(progress, FAULT)
        uniforms, noises = _room_for_uniforms(), _room_for_noises()
        t, regret = int(progress[DONE]), progress[REGRET]
        state = open_state(job.arrays, parameters, t, fault)
        for c in range(first, last):
            while t < stops[c] and fault[0] == 0.0:
                batch = min(BATCH, stops[c] - t)
                fill_uniforms(uniforms, t, batch, run, key)
                for i in range(batch):
                    noises[i] = uniforms[2 * i + 1]
                call_noise(noise, (noises, batch, fault))
                hint = refill(state, t, batch, run, key)
                for i in range(batch):
                    place = draw_place(state, hint, i, batch, uniforms[2 * i], t, run, key)
                    arm = arm_at(state, place)
                    reward = call_reward(reward_of, (noises[i], parameters, n_arms, arm, key, t, run, fault))
                    regret += parameters[best] - parameters[arm]  # row 0 of the parameters are the means
                    t += 1
                    learn_step(state, place, arm, checked_reward(reward, fault), t)
            if rows[c] >= 0:
                weights, total = weights_now(state, t)
                measure(weights, total, parameters, n_arms, best, regret, pointer_at(out, rows[c] * N_METRICS))
        progress[DONE], progress[REGRET] = t, regret

    loop.label, loop.near = label, near  # type: ignore[attr-defined]
    return loop
