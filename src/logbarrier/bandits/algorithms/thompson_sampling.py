"""Thompson sampling: pull each arm with the probability that it is the best one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...base.parameters import between, optional
from ...engine.codegen.lane_access import lane_sum, load, splat, store
from ...engine.codegen.lanes import WIDTH
from ...engine.compiled import compiled
from ...engine.elementary import exp, log
from ...engine.normal import distribution_and_density
from ...engine.random import fill_arm_normals
from ..loops.vectors import largest
from .arm_means import draw_largest
from .vector_rule import VectorRule

REACH = 9.0  # a normal sample lies farther out with probability 1e-19
DEEPEST = 40.0  # what lies below x with P(largest <= x) < exp(-40) is left out
SPACING = 1 / 16  # of the quadrature points, in the logarithm of their distance from that x
MOST_POINTS = 2000  # a few hundred are needed; a damaged state may not hang


@compiled
def learn(arm, reward, probability, t, policy, vectors, memory, hyper):
    """centre = (sum of rewards)/(n + q), deviation = scale/sqrt(n + q), as if every arm had paid 0 in q pulls before."""
    centres, counts, deviations = vectors
    scale, earlier = hyper
    counts[arm] += 1.0
    centres[arm] += (reward - centres[arm]) / (counts[arm] + earlier)
    deviations[arm] = scale / math.sqrt(counts[arm] + earlier)
    return True


@compiled
def draw_largest_normal(u, centres, deviations, stream):
    """The arm of the largest of samples from N(centres(a), deviations(a)^2)."""
    samples = np.empty(centres.shape[0])
    fill_arm_normals(samples, stream)
    for a in range(centres.shape[0]):
        samples[a] = centres[a] + deviations[a] * samples[a]
    return draw_largest(u, samples, largest(samples))


@compiled
def draw(u, t, policy, vectors, memory, hyper, stream):
    """The arm of the largest sample."""
    return draw_largest_normal(u, vectors[0], vectors[2], stream)


@compiled
def survey(x, centres, precisions, slopes):
    """slopes (padded K,) <- d/dx log P(sample of a <= x) for every arm; returns their sum and -log P(all samples <= x)."""
    log_probability, slope = splat(0.0), splat(0.0)
    for a in range(0, centres.shape[0], WIDTH):
        precision = load(precisions, a)
        below, density = distribution_and_density((x - load(centres, a)) * precision)
        rising = precision * density / below
        store(slopes, a, rising)
        slope = slope + rising
        log_probability = log_probability + log(below)
    return lane_sum(slope), -lane_sum(log_probability)


@compiled
def weigh_normals(all_centres, deviations, weights):
    """p(a) = integral of d/dx log P(sample of a <= x) times P(all samples <= x), by the trapezoidal rule in log(x - start).

    -log P(all samples <= x) is convex. From a start where it is 40 it falls by at most 40 while x - start grows e-fold,
    however different the deviations. So in the logarithm one spacing suits every arm.
    """
    n_arms = weights.shape[0]
    padded = -(-n_arms // WIDTH) * WIDTH
    centres, precisions = np.full(padded, -1e300), np.ones(padded)  # the padding is never the largest
    slopes, sums = np.empty(padded), np.zeros(padded)
    top = largest(all_centres)
    start, end = -math.inf, -math.inf
    for a in range(n_arms):
        centre, deviation = all_centres[a] - top, deviations[a]  # from the top: a deviation may be lost when added to a centre
        centres[a], precisions[a] = centre, 1.0 / deviation
        start, end = max(start, centre - REACH * deviation), max(end, centre + REACH * deviation)
    slope, depth = survey(start, centres, precisions, slopes)
    for _ in range(MOST_POINTS):
        if not depth > DEEPEST + 5.0:
            break
        start += (depth - DEEPEST) / slope  # Newton's steps never pass the root of a convex function
        slope, depth = survey(start, centres, precisions, slopes)
    distance, ratio = 4.0 / slope, exp(SPACING)  # below it, less than exp(-36) is left out
    for _ in range(MOST_POINTS):
        if not distance < end - start:
            break
        _, depth = survey(start + distance, centres, precisions, slopes)
        share = splat(distance * exp(-depth))
        for a in range(0, padded, WIDTH):
            store(sums, a, load(sums, a) + share * load(slopes, a))
        distance *= ratio
    for a in range(n_arms):
        weights[a] = sums[a]


@compiled
def weigh(t, vectors, memory, hyper, weights):
    """The probability that each arm's sample is the largest."""
    weigh_normals(vectors[0], vectors[2], weights)


@dataclass(frozen=True, kw_only=True)
class ThompsonSampling(VectorRule):
    """Thompson sampling with Gaussian beliefs (Agrawal and Goyal 2013).

        pull the largest of samples from N(S(a)/(n(a) + q), scale^2/(n(a) + q)),   q = (scale/prior_scale)^2

    where n(a) is the number and S(a) the sum of arm a's rewards: the posterior for rewards of deviation `scale`
    around a mean that is believed N(0, prior_scale^2). The probabilities that agents report and metrics are measured from
    are integrals, exact to 1e-12.

    scale > 0: the deviation of a reward. prior_scale > 0: how far from 0 its mean may lie, by default
    `scale`. That is too narrow where means lie several `scale` apart.

    >>> import logbarrier as lb
    >>> lb.ThompsonSampling(scale=0.1, prior_scale=1.0).to_dict()
    {'rule': 'thompson-sampling', 'scale': 0.1, 'prior_scale': 1.0}
    """

    name = "thompson-sampling"
    place = "outside the paper"
    rows = ("centres", "counts", "deviations")
    never_negative = ("counts", "deviations")
    is_table = True
    has_preferences = False
    learn = staticmethod(learn)
    weigh = staticmethod(weigh)
    draw = staticmethod(draw)

    scale: Annotated[float, between(1e-100, 1e100)] = 1.0
    prior_scale: Annotated[float | None, optional(between(1e-100, 1e100))] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1e-100 <= self.scale / self.width <= 1e100:
            name = type(self).__name__
            raise ValueError(f"{name}: scale/prior_scale must be between 1e-100 and 1e+100, got {self.scale / self.width:g}")

    @property
    def width(self) -> float:
        """The deviation of a mean from 0 that is believed before any reward."""
        return float(self.scale if self.prior_scale is None else self.prior_scale)

    @property
    def earlier(self) -> float:
        """q, the number of pulls that such a belief is worth."""
        return (float(self.scale) / self.width) ** 2

    def hyper(self, n_arms: int) -> tuple[Any, ...]:
        return float(self.scale), self.earlier

    def new_vectors(self, theta: np.ndarray, means: np.ndarray | None) -> np.ndarray:
        vectors = super().new_vectors(theta, means)
        vectors[2] = self.width
        return vectors

    def expected_update(
        self, t: int, policy: np.ndarray, means: np.ndarray, vectors: np.ndarray, memory: np.ndarray
    ) -> np.ndarray:
        """p(a) (r(a) - centre(a)) / (n(a) + 1 + q)."""
        return np.asarray(policy * (means - vectors[0]) / (vectors[1] + 1 + self.earlier))
