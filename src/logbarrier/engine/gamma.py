"""Gamma and beta distributions from IEEE operations alone: variates, log Gamma, distribution function and density."""

from __future__ import annotations

import numpy as np

from .compiled import compiled
from .elementary import exp, log
from .random import philox, standard_normal, uniform

HALF_LOG_2_PI = 0.9189385332046727
STIRLING_FROM = 16.0  # where six terms of the series are exact to rounding
TINY = 1e-300
MOST_FRACTIONS = 100_000
CERTAIN = 1e-19  # a tail below it is lost when it is added to 1


@compiled
def log_gamma_variate(shape, block, purpose, stream):
    """log of a Gamma(shape, 1) variate, shape >= 1, and the next free block (Marsaglia and Tsang 2000)."""
    key, t, run = stream
    d = shape - 1.0 / 3.0
    spread = 1.0 / np.sqrt(9.0 * d)
    while True:
        first, second = philox(t, block, run, purpose, key)
        block += 1
        x = standard_normal(uniform(first))
        v = (1.0 + spread * x) ** 3
        if v > 0.0 and log(uniform(second)) < 0.5 * x * x + d - d * v + d * log(v):
            return log(d * v), block


@compiled
def log_gamma(x):
    """log Gamma(x) for x > 0, by Stirling's series after a shift."""
    product = 1.0
    while x < STIRLING_FROM:
        product *= x
        x += 1.0
    z = 1.0 / (x * x)
    series = (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - z * 691 / 360360))))) / x
    return (x - 0.5) * log(x) - x + HALF_LOG_2_PI + series - log(product)


@compiled
def log_beta(a, b):
    """log B(a, b)."""
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)


@compiled
def _continued_fraction(x, a, b):
    """The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method; best for x below the mean."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > TINY else TINY)
    value = d
    for m in range(1, MOST_FRACTIONS):
        even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        d = 1.0 + even * d
        c = 1.0 + even / c
        d = 1.0 / (d if abs(d) > TINY else TINY)
        c = c if abs(c) > TINY else TINY
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d = 1.0 + odd * d
        c = 1.0 + odd / c
        d = 1.0 / (d if abs(d) > TINY else TINY)
        c = c if abs(c) > TINY else TINY
        step = d * c
        value *= step
        if abs(step - 1.0) < 1e-15:
            break
    return value


@compiled
def logit_beta(u, a, b, log_normaliser):
    """log P(U <= u) and d/du of it, where U = logit X and X ~ Beta(a, b); log_normaliser = log B(a, b).

    The density of U, x^a (1 - x)^b / B(a, b) with x = 1/(1 + exp(-u)), is log-concave whatever a and b are.
    """
    small = exp(-abs(u))
    log_large = -log(1.0 + small)  # log of the larger of x and 1 - x
    log_x, log_y = (log_large, log_large - u) if u >= 0.0 else (log_large + u, log_large)
    front = a * log_x + b * log_y - log_normaliser
    x, y = exp(log_x), exp(log_y)
    fall = b * x - a * y  # minus d/du of the density's logarithm
    if fall > 0.0 and exp(front) < CERTAIN * fall:  # the tail above u is below density/fall
        return 0.0, exp(front)
    if x * (a + b + 2.0) < a + 1.0:
        below = log(max(_continued_fraction(x, a, b), TINY) / a)
        return front + below, exp(-below)
    inside = 1.0 - exp(front) * _continued_fraction(y, b, a) / b
    inside = max(inside, TINY)
    return log(inside), exp(front) / inside


@compiled
def logit_beta_variate(a, b, block, purpose, stream):
    """U = logit X for X ~ Beta(a, b), a and b >= 1, and the next free block: the log ratio of two gamma variates."""
    one, block = log_gamma_variate(a, block, purpose, stream)
    other, block = log_gamma_variate(b, block, purpose, stream)
    return one - other, block
