"""Which of K beta variates is the largest: the variates of `gamma.logit_beta_variate`, most of them known only roughly.

Nearly every gamma variate takes its first proposal, and that it does shows without a logarithm. So a first pass over the
arms, in vector registers, gives x/(1 - x) of each beta variate to some thirteen digits. Then the few arms that may have the
largest one are worked out to the bit.
"""

from __future__ import annotations

import math

import numpy as np

from .codegen.lanes import select_above
from .compiled import compiled, inlined
from .elementary import exp
from .gamma import logit_beta_variate
from .random import philox, standard_normal, uniform

MARGIN = 1e-6  # by which a proposal passes the rough test, far more than rounding in the exact one may take away
LARGEST_SHAPE = 1e8  # for which that holds: the exact test rounds terms as large as the shape
LEAST_FACTOR = 0.1  # of 1 + y, below which the rough test is not tried
NEARLY = 1.0 - 1e-9  # of the largest ratio: what is below is not the largest, however it was rounded
UNKNOWN = -1.0


@compiled
def fill_proposals(proposals, first, stride, purpose, stream):
    """proposals (2 K,) <- K normals, then K uniforms, for the gamma variates at blocks first, first + stride, ..."""
    key, t, run = stream
    n_variates = proposals.shape[0] // 2
    uniforms = proposals[n_variates:]  # one array: with two the loop would not run in vector registers
    for i in range(n_variates):
        high, low = philox(t, first + stride * i, run, purpose, key)
        proposals[i] = uniform(high)
        uniforms[i] = uniform(low)
    for i in range(n_variates):
        proposals[i] = standard_normal(proposals[i])


@inlined
def rough_gamma(shape, x, u):
    """The Gamma(shape, 1) variate of a proposal if it surely passes the test of `log_gamma_variate`, else a number below 0.

    With y = x/sqrt(9 d) the test is log u < d (4.5 y^2 + 1 - (1 + y)^3 + 3 log(1 + y)). The series of the logarithm bounds the
    right-hand side from below by -(3/4) d y^4, divided by 1 + y if y < 0, and log u <= u - 1.
    """
    d = shape - 1.0 / 3.0
    y = x / math.sqrt(9.0 * d)
    factor = 1.0 + y
    bound = 0.75 * d * (y * y) * (y * y) / select_above(y, 0.0, 1.0, factor)
    taken = select_above(1.0 - MARGIN - bound, u, d * factor * factor * factor, UNKNOWN)
    taken = select_above(factor, LEAST_FACTOR, taken, UNKNOWN)
    return select_above(shape, LARGEST_SHAPE, UNKNOWN, taken)


@compiled
def fill_ratios(ratios, shapes, ones, others):
    """ratios (K,) <- x/(1 - x) of each beta variate, or below 0 where that is not known; of shapes (2, K) and two proposals."""
    n_arms = ratios.shape[0]
    for i in range(n_arms):
        one = rough_gamma(shapes[0, i], ones[i], ones[n_arms + i])
        other = rough_gamma(shapes[1, i], others[i], others[n_arms + i])
        ratios[i] = select_above(0.0, other, UNKNOWN, one / other)


@compiled
def fill_leading_logits(logits, shapes, stride, purpose, stream):
    """logits (K,) <- that of the beta variate of shapes (2, K) where it may be the largest, -inf elsewhere.

    Arm i has its random numbers from block 1 + stride i on, as `logit_beta_variate` draws them.
    """
    n_arms = logits.shape[0]
    ones, others = np.empty(2 * n_arms), np.empty(2 * n_arms)
    fill_proposals(ones, 1, stride, purpose, stream)
    fill_proposals(others, 2, stride, purpose, stream)
    fill_ratios(logits, shapes, ones, others)
    top = 0.0
    for i in range(n_arms):
        if logits[i] < 0.0:
            logit, _ = logit_beta_variate(shapes[0, i], shapes[1, i], 1 + stride * i, purpose, stream)
            logits[i] = exp(logit)
        top = max(top, logits[i])
    for i in range(n_arms):
        if logits[i] >= top * NEARLY:
            logits[i], _ = logit_beta_variate(shapes[0, i], shapes[1, i], 1 + stride * i, purpose, stream)
        else:
            logits[i] = -math.inf
