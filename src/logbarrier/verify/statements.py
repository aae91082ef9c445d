"""Every statement of the paper that can be tried at a point, with its printed and its corrected form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ..theory import lemmas, one_step
from ..theory.recurrences import nu_is_above, rho_falls_to_its_fixed_point
from ..theory.sides import Sides
from . import forms, points

Batch = TypeVar("Batch")  # of points: what `decode` gives
Form = Callable[[Batch], Sides]


class Points(Protocol):
    """Where a statement is tried: a module with these names, such as `points` for bandits. A size is K, or (S, K)."""

    RANDOM_SIZES: tuple[Any, ...]
    SEARCHED_SIZES: tuple[Any, ...]

    def draw(self, generator: np.random.Generator, count: int, size: Any, /) -> np.ndarray:
        """Free coordinates (count, D) at random."""
        ...

    def decode(self, free: np.ndarray, size: Any, /) -> Any:
        """Points from free coordinates (n, D); their `describe(i)` gives plain JSON values."""
        ...


@dataclass(frozen=True)
class Statement(Generic[Batch]):
    """A claim and its place in the paper.

    printed    both sides as the paper has them
    corrected  both sides with a slip mended or a constant sharpened; erratum is its number in docs/errata.md
    equation   the claim is an equality: its ratio counts errors of 1e-9
    points     where it is tried
    """

    name: str
    place: str
    printed: Form[Batch]
    corrected: Form[Batch] | None = None
    erratum: int | None = None
    equation: bool = False
    points: Points = points


STATEMENTS: tuple[Statement[points.Instances], ...] = (
    Statement("Fisher matrix is a covariance", "Proposition 1", lambda x: lemmas.covariance_identity(x.theta), equation=True),
    Statement("log det F is the log barrier", "Equation 2", lambda x: lemmas.determinant_identity(x.theta), equation=True),
    Statement("sampled gradient is unbiased", "Section 5", forms.unbiasedness, equation=True),
    Statement("sum of theta is invariant", "Algorithm 4", forms.sum_is_kept, erratum=5, equation=True),
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
        lambda x: forms.smoothness_line(x, 1.0),
        lambda x: forms.smoothness_line(x, -1.0),
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
        lambda x: one_step.smoothness_between_iterates(x.theta, x.means, x.reward, x.eta, x.r_max, forms.smooth_rate(x)),
        lambda x: one_step.smoothness_between_iterates_sharpened(
            x.theta, x.means, x.reward, x.eta, x.r_max, forms.smooth_rate(x)
        ),
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
        lambda x: one_step.barrier_difference(x.theta, x.reward, x.eta, forms.smooth_rate(x)),
        lambda x: one_step.barrier_difference_sharpened(x.theta, x.reward, x.eta, forms.smooth_rate(x)),
        erratum=5,
    ),
    Statement(
        "barrier difference, its last step",
        "proof of that lemma",
        lambda x: forms.barrier_step(x, np.ones(len(x.eta))),
        lambda x: forms.barrier_step(x, forms.smooth_rate(x)),
        erratum=5,
    ),
    Statement(
        "descent",
        "Lemma, Descent",
        lambda x: one_step.descent(x.theta, x.means, *x.reward_law(), x.eta, x.r_max, x.gap, forms.printed_rate(x)),
        lambda x: one_step.descent(x.theta, x.means, *x.reward_law(), x.eta, x.r_max, x.gap, forms.corrected_rate(x)),
        erratum=6,
    ),
    Statement(
        "descent, its bias terms",
        "proof of that lemma",
        lambda x: one_step.bias_terms(x.n_arms, x.gap, x.r_max, x.eta, forms.printed_rate(x)),
        lambda x: one_step.bias_terms(x.n_arms, x.gap, x.r_max, x.eta, forms.corrected_rate(x)),
        erratum=6,
    ),
    Statement(
        "constant learning rates",
        "Lemma, Constant Learning Rates",
        lambda x: one_step.constant_learning_rate(x.theta, x.means, *x.reward_law(), x.eta, x.r_max, forms.printed_rate(x)),
        lambda x: one_step.constant_learning_rate(x.theta, x.means, *x.reward_law(), x.eta, x.r_max, forms.corrected_rate(x)),
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
        lambda x: lemmas.approximate_optimality(forms.near_the_maximiser(x), x.means, x.eta),
    ),
    Statement(
        "squared positive part",
        "Lemma, Lower Bound for the Squared Positive Part",
        lambda x: lemmas.squared_positive_part(np.abs(x.direction[:, 0]), np.abs(x.direction[:, 1])),
    ),
    Statement("rho bounds the recurrence", "Appendix, Recurrences", forms.undercut),
    Statement(
        "rho falls to its fixed point",
        "Appendix, Recurrences",
        lambda x: rho_falls_to_its_fixed_point(*forms.recurrence_above(x), forms.STEPS),
    ),
    Statement("rho rises to its fixed point", "Appendix, Recurrences", forms.rising),
    Statement(
        "rho falls, induction hypothesis",
        "Appendix, Recurrences",
        forms.hypothesis_as_printed,
        lambda x: rho_falls_to_its_fixed_point(*forms.recurrence_above(x), 1),
        erratum=13,
    ),
    Statement(
        "nu bounds rho, and its rate", "Appendix, Recurrences", lambda x: nu_is_above(*forms.recurrence_above(x), forms.STEPS)
    ),
    Statement(
        "iteration count",
        "proof of Convergence Rate",
        lambda x: Sides(*reversed(forms.iteration_count(x))),
        lambda x: Sides(*forms.iteration_count(x)),
        erratum=8,
    ),
    Statement(
        "parameters of one policy",
        "footnote on maxima",
        lambda x: forms.invariance(x, x.theta * (1.0 + x.fraction)[:, None]),
        lambda x: forms.invariance(x, x.theta + 10.0 * x.direction[:, :1]),
        erratum=14,
        equation=True,
    ),
)
