"""One decision of an online agent, in one compiled call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..engine.compiled import compiled, kernel
from ..engine.random import step_uniforms
from .loop import draw
from .regression import MEAN, NOISE, count, score
from .scaling import scale_row

BLOCK = 64  # actions that are scored together


class Buffers(NamedTuple):
    """Room for n arms: raw contexts, a scaled one, places of the arms, and their values, widths and probabilities.

    raw      (n, d - 1); one row alone where all arms have the same context
    context  (d,) of the arm that was drawn
    """

    raw: np.ndarray
    context: np.ndarray
    arms: np.ndarray
    values: np.ndarray
    widths: np.ndarray
    probabilities: np.ndarray


def new_buffers(rows: int, n_arms: int, size: int) -> Buffers:
    """Buffers for n_arms arms with `rows` contexts of `size` features, the 1 included."""
    numbers = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
    return Buffers(np.zeros((rows, size - 1)), np.zeros(size), np.arange(n_arms), *numbers)


@compiled
def score_arms(state, scaling, buffers, n):
    """Score the first n arms in the buffers, each with its own regression, all at one context."""
    scale_row(scaling, buffers.raw[0], buffers.context)
    score(state, buffers.arms[:n], buffers.context, buffers.values, buffers.widths)


@compiled
def score_actions(state, scaling, buffers, n):
    """Score the first n actions in the buffers, each at its own features, all with one regression.

    x' B^-1 x = 2 sum_j x_j (B_jj x_j / 2 + sum_{k < j} B_jk x_k), for BLOCK actions at once.
    """
    size, mean = buffers.context.shape[0], state.memories[0, MEAN]
    inverse, rewards, ones = state.counted[0], state.reward_weights[0, 0], state.one_weights[0, 0]
    columns, part, square, value = np.zeros((size, BLOCK)), np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for first in range(0, n, BLOCK):
        several = min(BLOCK, n - first)
        for i in range(several):
            for j in range(1, size):
                moved = (buffers.raw[first + i, j - 1] - scaling.centre[j - 1]) * scaling.factor[j - 1]
                columns[j, i] = min(max(moved, -scaling.limit[j - 1]), scaling.limit[j - 1])  # as scale_row; never NaN
        for i in range(BLOCK):
            columns[0, i], square[i], value[i] = 1.0, 0.0, mean
        for j in range(size):
            weight = rewards[j] - mean * ones[j]
            for i in range(BLOCK):
                part[i] = 0.5 * inverse[j, j] * columns[j, i]
            for k in range(j):
                for i in range(BLOCK):
                    part[i] += inverse[j, k] * columns[k, i]
            for i in range(BLOCK):
                square[i] += 2.0 * columns[j, i] * part[i]
                value[i] += weight * columns[j, i]
        for i in range(several):
            buffers.values[first + i] = value[i]
            buffers.widths[first + i] = math.sqrt(max(square[i], 0.0))


def _decide_with(weigh: Any, score_all: Any) -> Callable[..., Any]:
    def decide(state, scaling, buffers, hyper, key, number, n, floor, draws):
        """Weigh n arms; where `draws`, draw one and count it as pending. Return its place and its probability."""
        score_all(state, scaling, buffers, n)
        probabilities = buffers.probabilities[:n]
        noise = state.memories[0, NOISE]
        weigh(buffers.values[:n], buffers.widths[:n], noise, number, hyper, (key, number, 0), probabilities)
        for i in range(n):
            probabilities[i] = floor / n + (1.0 - floor) * probabilities[i]
        if draws == 0:
            return 0, 0.0
        u, _ = step_uniforms(number, 0, key)
        place = draw(probabilities, u)
        scale_row(scaling, buffers.raw[place if buffers.raw.shape[0] > 1 else 0], buffers.context)
        arm = buffers.arms[place] if state.counted.shape[0] > 1 else 0
        count(state, arm, buffers.context, 1.0)
        return place, probabilities[place]

    return decide


def decide_kernel(weigh: Any, score_all: Any) -> Any:
    """Return the compiled decision of a rule, with `score_arms` or `score_actions`."""
    return kernel(_decide_with, weigh, score_all)
