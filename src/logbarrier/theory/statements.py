"""Every statement of the paper that can be tried at a point, with its printed and its corrected form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..softmax import softmax
from . import lemmas, one_step
from . import objective as phi
from .constants import CORRECTED, PRINTED, largest_sampled_gradient
from .instances import Instances
from .maximiser import maximising_policy
from .recurrences import (
    Recurrence,
    nu_is_above,
    rho_falls_to_its_fixed_point,
    rho_is_above,
    rho_rises_to_its_fixed_point,
)
from .sides import Sides, equality

STEPS = 60  # of a recurrence

Form = Callable[[Instances], Sides]


@dataclass(frozen=True)
class Statement:
    """A claim and its place in the paper.

    printed    both sides as the paper has them
    corrected  both sides with a slip mended or a constant sharpened; erratum is its number in docs/errata.md
    equation   the claim is an equality: its ratio counts errors of 1e-9
    """

    name: str
    place: str
    printed: Form
    corrected: Form | None = None
    erratum: int | None = None
    equation: bool = False


def _smooth_rate(x: Instances) -> np.ndarray:
    """A learning rate in (0, 1/(6 G)), as the lemma on iterates asks."""
    return np.asarray(x.fraction / (6.0 * largest_sampled_gradient(x.n_arms, x.eta, x.r_max)))


def _printed_rate(x: Instances) -> np.ndarray:
    return np.asarray(PRINTED.learning_rate(x.n_arms, x.gap, x.r_max, x.eta))


def _corrected_rate(x: Instances) -> np.ndarray:
    return np.asarray(CORRECTED.learning_rate(x.n_arms, x.gap, x.r_max, x.eta))


def _smoothness_line(x: Instances, cross: float) -> Sides:
    """The proof's second line: y^T H y = (F r - (K/eta) p)^T (y*y) - (2 F r + cross (K/eta) p)^T y (p^T y)."""
    p, slope, k_over_eta = softmax(x.theta), phi.gradient(x.theta, x.means, np.inf), (x.n_arms / x.eta)[:, None]
    along = (p * x.direction).sum(axis=1)
    squares = ((slope - k_over_eta * p) * x.direction**2).sum(axis=1)
    right = squares - ((2.0 * slope + cross * k_over_eta * p) * x.direction).sum(axis=1) * along
    size = (x.r_max + x.n_arms / x.eta) * (x.direction**2).sum(axis=1)
    return equality(phi.curvature(x.theta, x.means, x.eta, x.direction), right, size)


def _near_the_maximiser(x: Instances) -> np.ndarray:
    """theta (n, K) with ||grad Phi|| <= 1/eta: from the maximiser along `direction`, as far as the premise lasts."""
    best = np.log(maximising_policy(x.means, x.eta))
    low, high = np.zeros(len(best)), 50.0 * x.fraction
    for _ in range(50):
        middle = (low + high) / 2.0
        inside = x.eta * phi.gradient_norm(best + middle[:, None] * x.direction, x.means, x.eta) <= 1.0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.asarray(best + low[:, None] * x.direction)


def _unbiasedness(x: Instances) -> Sides:
    rewards, chances = x.reward_law()
    p, exact = softmax(x.theta), phi.gradient(x.theta, x.means, x.eta)
    mean_rewards = (rewards * chances).sum(axis=-1)
    scores = np.eye(x.n_arms) - p[:, None, :]
    mean = np.einsum("na,na,nai->ni", p, mean_rewards, scores) + (1.0 - x.n_arms * p) / x.eta[:, None]
    return equality(mean, exact, (x.r_max + x.n_arms / x.eta)[:, None])


def _sum_is_kept(x: Instances) -> Sides:
    sample = phi.sampled_gradient(x.theta, 0, x.reward, x.eta)
    return equality(sample.sum(axis=1), 0.0, x.r_max + x.n_arms / x.eta)


def _barrier_step(x: Instances, factor: np.ndarray) -> Sides:
    """The proof's last line divided by ||G||: alpha sqrt(K) + factor K <= 2 alpha K."""
    rate = _smooth_rate(x)
    return Sides(rate * np.sqrt(x.n_arms) + factor * x.n_arms, 2.0 * rate * x.n_arms)


def _recurrence(x: Instances) -> tuple[Recurrence, np.ndarray]:
    """A recurrence with a start above its fixed point and an allowed learning rate."""
    shape = Recurrence(learning_rate=np.ones(len(x.eta)), pull=x.r_max, push=1.0 + x.direction[:, 0] ** 2, eta=x.eta)
    start = shape.fixed_point * (1.0 + x.direction[:, 1] ** 2)
    rate = x.fraction * shape.largest_learning_rate(start)
    return Recurrence(learning_rate=rate, pull=shape.pull, push=shape.push, eta=x.eta), start


def _rising(x: Instances) -> Sides:
    recurrence, _ = _recurrence(x)
    allowed = Recurrence(
        learning_rate=x.fraction / (recurrence.pull * recurrence.fixed_point),
        pull=recurrence.pull,
        push=recurrence.push,
        eta=recurrence.eta,
    )
    return rho_rises_to_its_fixed_point(allowed, x.spread * allowed.fixed_point, STEPS)


def _undercut(x: Instances) -> Sides:
    generator = np.random.default_rng(0)
    shrinkage = 1.0 - x.spread * generator.uniform(size=(STEPS, 1))
    return rho_is_above(*_recurrence(x), shrinkage)


def _hypothesis_as_printed(x: Instances) -> Sides:
    recurrence, start = _recurrence(x)
    return Sides(recurrence.step(start), recurrence.fixed_point)


def _iteration_count(x: Instances) -> tuple[np.ndarray, np.ndarray]:
    """log q/log(1/(1 - x)) and log q/x, the two counts that the complexity proof compares."""
    demand = np.log1p(1.0 / x.r_max)
    return demand / -np.log1p(-x.fraction), demand / (x.fraction)


def _invariance(x: Instances, moved: np.ndarray) -> Sides:
    change = np.abs(softmax(moved) - softmax(x.theta)).max(axis=1)
    return Sides(change, np.full(len(change), 1e-9))


STATEMENTS: tuple[Statement, ...] = (
    Statement("Fisher matrix is a covariance", "Proposition 1", lambda x: lemmas.covariance_identity(x.theta), equation=True),
    Statement(
        "log det F is the log barrier", "Equation 2", lambda x: lemmas.determinant_identity(x.theta / 2.0), equation=True
    ),
    Statement("sampled gradient is unbiased", "Section 5", _unbiasedness, equation=True),
    Statement("sum of theta is invariant", "Algorithm 4", _sum_is_kept, erratum=5, equation=True),
    Statement(
        "non-uniform smoothness",
        "Lemma, Non-uniform Smoothness",
        lambda x: lemmas.non_uniform_smoothness(x.theta, x.means, x.eta, x.direction),
        lambda x: lemmas.non_uniform_smoothness_sharpened(x.theta, x.means, x.eta, x.direction),
        erratum=1,
    ),
    Statement(
        "smoothness, its cross term",
        "proof of Non-uniform Smoothness",
        lambda x: _smoothness_line(x, 1.0),
        lambda x: _smoothness_line(x, -1.0),
        erratum=1,
        equation=True,
    ),
    Statement(
        "weak Lojasiewicz", "Lemma, Weak Non-Uniform Lojasiewicz", lambda x: lemmas.weak_lojasiewicz(x.theta, x.means, x.eta)
    ),
    Statement(
        "barrier gradient norm",
        "proofs",
        lambda x: lemmas.barrier_gradient_norm(x.theta),
        lambda x: lemmas.barrier_gradient_norm_sharpened(x.theta),
        erratum=2,
    ),
    Statement(
        "sample gradient norm",
        "Lemma, Upper Bound on the Sample Gradient Norm",
        lambda x: one_step.sample_gradient_norm(x.theta, x.reward + x.r_max * x.direction[:, 0], x.eta, x.r_max),
        lambda x: one_step.sample_gradient_norm(x.theta, x.reward, x.eta, x.r_max),
        erratum=3,
    ),
    Statement(
        "smoothness between iterates",
        "Lemma, Non-uniform Smoothness Between Iterates",
        lambda x: one_step.smoothness_between_iterates(x.theta, x.means, x.reward, x.eta, x.r_max, _smooth_rate(x)),
        lambda x: one_step.smoothness_between_iterates_sharpened(x.theta, x.means, x.reward, x.eta, x.r_max, _smooth_rate(x)),
        erratum=1,
    ),
    Statement(
        "self-bounding property",
        "Lemma, Self-bounding Property",
        lambda x: one_step.self_bounding(x.theta, x.means, *x.reward_law(), x.eta, x.r_max, x.gap),
    ),
    Statement(
        "barrier difference",
        "Lemma, Difference Between Barriers Among Iterates",
        lambda x: one_step.barrier_difference(x.theta, x.reward, x.eta, _smooth_rate(x)),
        lambda x: one_step.barrier_difference_sharpened(x.theta, x.reward, x.eta, _smooth_rate(x)),
        erratum=5,
    ),
    Statement(
        "barrier difference, its last step",
        "proof of that lemma",
        lambda x: _barrier_step(x, np.ones(len(x.eta))),
        lambda x: _barrier_step(x, _smooth_rate(x)),
        erratum=5,
    ),
    Statement(
        "descent",
        "Lemma, Descent",
        lambda x: one_step.descent(x.theta, x.means, *x.reward_law(), x.eta, x.r_max, x.gap, _printed_rate(x)),
        lambda x: one_step.descent(x.theta, x.means, *x.reward_law(), x.eta, x.r_max, x.gap, _corrected_rate(x)),
        erratum=6,
    ),
    Statement(
        "descent, its bias terms",
        "proof of that lemma",
        lambda x: one_step.bias_terms(x.n_arms, x.gap, x.r_max, x.eta, _printed_rate(x)),
        lambda x: one_step.bias_terms(x.n_arms, x.gap, x.r_max, x.eta, _corrected_rate(x)),
        erratum=6,
    ),
    Statement(
        "constant learning rates",
        "Lemma, Constant Learning Rates",
        lambda x: one_step.constant_learning_rate(x.theta, x.means, *x.reward_law(), x.eta, x.r_max, _printed_rate(x)),
        lambda x: one_step.constant_learning_rate(x.theta, x.means, *x.reward_law(), x.eta, x.r_max, _corrected_rate(x)),
        erratum=6,
    ),
    Statement(
        "gradient norm", "Lemma, Upper Bound on Gradient Norm", lambda x: lemmas.gradient_norm_bound(x.theta, x.means, x.eta)
    ),
    Statement(
        "gradient norm by the range",
        "proof of Local Convergence",
        lambda x: lemmas.gradient_norm_by_range(x.theta, x.means, x.eta, x.r_max),
        lambda x: lemmas.performance_gradient_one_norm(x.theta, x.means, x.r_max),
        erratum=9,
    ),
    Statement(
        "performance difference",
        "Lemma, Performance Difference",
        lambda x: lemmas.performance_difference(x.theta, x.other, x.means),
        equation=True,
    ),
    Statement(
        "approximate global optimality",
        "Lemma, Approximate Global Optimality",
        lambda x: lemmas.approximate_optimality(_near_the_maximiser(x), x.means, x.eta),
    ),
    Statement(
        "squared positive part",
        "Lemma, Lower Bound for the Squared Positive Part",
        lambda x: lemmas.squared_positive_part(np.abs(x.direction[:, 0]), np.abs(x.direction[:, 1])),
    ),
    Statement("rho bounds the recurrence", "Appendix, Recurrences", _undercut),
    Statement(
        "rho falls to its fixed point", "Appendix, Recurrences", lambda x: rho_falls_to_its_fixed_point(*_recurrence(x), STEPS)
    ),
    Statement("rho rises to its fixed point", "Appendix, Recurrences", _rising),
    Statement(
        "rho falls, induction hypothesis",
        "Appendix, Recurrences",
        _hypothesis_as_printed,
        lambda x: rho_falls_to_its_fixed_point(*_recurrence(x), 1),
        erratum=13,
    ),
    Statement("nu bounds rho, and its rate", "Appendix, Recurrences", lambda x: nu_is_above(*_recurrence(x), STEPS)),
    Statement(
        "iteration count",
        "proof of Convergence Rate",
        lambda x: Sides(*reversed(_iteration_count(x))),
        lambda x: Sides(*_iteration_count(x)),
        erratum=8,
    ),
    Statement(
        "parameters of one policy",
        "footnote on maxima",
        lambda x: _invariance(x, x.theta * (1.0 + x.fraction)[:, None]),
        lambda x: _invariance(x, x.theta + 10.0 * x.direction[:, :1]),
        erratum=14,
        equation=True,
    ),
)
