"""Thompson sampling for rewards between 0 and 1, such as clicks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.beta_race import fill_leading_logits
from ...engine.compiled import compiled
from ...engine.elementary import exp, log
from ...engine.gamma import log_beta, logit_beta
from ...engine.random import ARM
from ..loops.vectors import largest
from .arm_means import draw_largest
from .vector_rule import VectorRule

BLOCKS = 64  # of random numbers for each arm of a step; two variates need more with probability below 1e-40
DEEPEST = 40.0  # what lies below u with P(largest <= u) < exp(-40) is left out
SPACING = 1 / 16  # of the quadrature points, in the logarithm of their distance from that u
MOST_POINTS = 4000  # a few hundred are needed; a damaged state may not hang


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """S(a) += R, n(a) += 1."""
    vectors[0, arm] += reward
    vectors[1, arm] += 1.0
    return True


@compiled
def beliefs(vectors, arm):
    """(a, b) of the belief Beta(1 + S, 1 + n - S); a sum that rewards within [0, 1] cannot have is taken to the nearest one."""
    successes = min(max(vectors[0, arm], 0.0), vectors[1, arm])
    return 1.0 + successes, 1.0 + vectors[1, arm] - successes


@compiled
def draw(u, t, policy, vectors, memory, hyper, stream):
    """The arm of the largest sample; logits have the same order."""
    samples, shapes = np.empty(policy.shape[0]), np.empty((2, policy.shape[0]))
    for arm in range(policy.shape[0]):
        shapes[0, arm], shapes[1, arm] = beliefs(vectors, arm)
    fill_leading_logits(samples, shapes, BLOCKS, ARM, stream)
    return draw_largest(u, samples, largest(samples))


@compiled
def survey(u, parameters, slopes):
    """slopes (K,) <- d/du log P(sample of a <= u) for every arm; returns their sum and -log P(all samples <= u)."""
    total, depth = 0.0, 0.0
    for arm in range(slopes.shape[0]):
        log_below, slopes[arm] = logit_beta(u, parameters[0, arm], parameters[1, arm], parameters[2, arm])
        total += slopes[arm]
        depth -= log_below
    return total, depth


@compiled
def weigh(t, vectors, memory, hyper, weights):
    """p(a) = integral of d/du log P(sample of a <= u) times P(all samples <= u), u the logit of a sample.

    As in thompson_sampling.py, -log P is convex in u. From a start where it is 40 the trapezoidal rule in log(u - start)
    therefore suits every arm with one spacing, however different their beliefs.
    """
    n_arms = weights.shape[0]
    parameters, slopes = np.empty((3, n_arms)), np.empty(n_arms)
    start = -math.inf
    for arm in range(n_arms):
        a, b = beliefs(vectors, arm)
        parameters[0, arm], parameters[1, arm], parameters[2, arm] = a, b, log_beta(a, b)
        width = math.sqrt(1.0 / a + 1.0 / b)
        start = max(start, log(a / b) - 40.0 * width)
        weights[arm] = 0.0
    slope, depth = survey(start, parameters, slopes)
    for _ in range(MOST_POINTS):
        if not depth > DEEPEST + 5.0:
            break
        start += (depth - DEEPEST) / slope  # Newton's steps never pass the root of a convex function
        slope, depth = survey(start, parameters, slopes)
    distance, ratio = 4.0 / slope, exp(SPACING)  # below it, less than exp(-36) is left out
    for _ in range(MOST_POINTS):
        slope, depth = survey(start + distance, parameters, slopes)
        share = distance * exp(-depth)
        for arm in range(n_arms):
            weights[arm] += share * slopes[arm]
        if depth < 1e-3 and share * slope < 1e-17:
            break
        distance *= ratio


@dataclass(frozen=True, kw_only=True)
class BetaThompsonSampling(VectorRule):
    """Thompson sampling with beta beliefs (Thompson 1933, Agrawal and Goyal 2012), for rewards between 0 and 1.

        pull the largest of samples from Beta(1 + S(a), 1 + n(a) - S(a))

    where n(a) is the number and S(a) the sum of arm a's rewards: for clicks, the posterior from a uniform prior. It has
    nothing to set. The probabilities that agents report and metrics are measured from are integrals, exact to 1e-9.

    >>> import logbarrier as lb
    >>> agent = lb.Agent(lb.BetaThompsonSampling(), arms=["red", "green"])
    >>> agent.observe("green", reward=1.0)
    >>> agent.policy.round(9).tolist()
    [0.333333333, 0.666666667]
    """

    name = "beta-thompson-sampling"
    place = "outside the paper"
    rows = ("rewards", "counts")
    never_negative = ("counts",)
    is_table = True
    has_preferences = False
    learn = staticmethod(learn)
    weigh = staticmethod(weigh)
    draw = staticmethod(draw)

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return (0.0,)

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """p(a) r(a), of the sum of rewards."""
        return np.asarray(policy * means)
