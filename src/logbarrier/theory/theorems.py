"""The theorems with every constant written out: from (K, Delta, R, ...) to alpha, eta, T and the bound they buy.

The paper states orders; its proofs contain constants, and those are given here, as printed and as corrected (docs/errata.md).
Delta is the smallest gap between any two mean rewards; R = r_max bounds the sampled rewards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.optimize import minimize_scalar

from ..base import validate
from ..base.plain import Plain
from .constants import CORRECTED, Constants, curvature_limit, largest_smooth_learning_rate, stationarity_constant
from .recurrences import Recurrence


@dataclass(frozen=True)
class Prescription(Plain):
    """What a theorem tells you to run, and what it then promises.

    learning_rate alpha, eta, horizon T (a float: it can exceed any integer type); bound on the theorem's quantity after T steps
    """

    statement: str
    constants: str
    learning_rate: float
    eta: float
    horizon: float
    bound: float


@dataclass(frozen=True)
class ProblemClass:
    """K, Delta and R, checked: K >= 2 arms, 0 < Delta, and K means that far apart must fit into [-R, R]."""

    n_arms: int
    gap: float
    r_max: float = 1.0

    def __post_init__(self) -> None:
        validate.integer("ProblemClass", "n_arms", self.n_arms, 2)
        validate.positive("ProblemClass", "gap", self.gap)
        validate.positive("ProblemClass", "r_max", self.r_max)
        widest = 2.0 * self.r_max / (self.n_arms - 1)
        if self.gap > widest * (1 + 1e-12):
            raise ValueError(
                f"ProblemClass: gap must be at most 2 r_max/(n_arms - 1) = {widest:g}, for {self.n_arms} different means "
                f"between -{self.r_max:g} and {self.r_max:g}, got {self.gap}"
            )


def convergence_rate(
    problem: ProblemClass, *, c_star: float, learning_rate: float, eta: float, horizon: float, start: float | None = None
) -> float:
    """E[r* - J(theta_T)] <= (1 - (1/2) sqrt(2 alpha^2 b/(eta c*)))^T delta_0 + sqrt(2 b c*/eta) (Theorem, Convergence Rate).

    start: delta_0, the suboptimality at the beginning; 2R if not given. The bound needs alpha from `sample_complexity`.
    """
    recurrence = _suboptimality_recurrence(problem, _c_star(c_star), learning_rate, eta)
    delta = 2.0 * problem.r_max if start is None else validate.positive("convergence_rate", "start", start)
    return float(recurrence.bound(delta, horizon))


def sample_complexity(
    problem: ProblemClass, *, epsilon: float, c_star: float, constants: Constants = CORRECTED, start: float | None = None
) -> Prescription:
    """alpha, eta and T for a last iterate with E[r* - J(theta_T)] <= epsilon, if c* is what you say (same theorem).

    eta = 8 b c*/epsilon^2 halves epsilon between bias and transient; T = log(2 delta_0/epsilon)/log(1/(1 - rate)).

    >>> wanted = sample_complexity(ProblemClass(n_arms=2, gap=1.0), epsilon=0.1, c_star=4.0)
    >>> f"{wanted.learning_rate:.1e} {wanted.eta:.1e} {wanted.horizon:.1e}"
    '7.4e-04 7.6e+04 8.0e+05'
    """
    epsilon, c_star = _epsilon("sample_complexity", epsilon, problem), _c_star(c_star)
    delta = 2.0 * problem.r_max if start is None else validate.positive("sample_complexity", "start", start)
    k, r = problem.n_arms, problem.r_max
    # b = flat + 9 K^2/eta and eta = 8 b c*/epsilon^2: a quadratic in eta
    flat, ask = 2.0 * r * (5 * k - 1) + 2.0 * math.sqrt(2.0) * k * r, 8.0 * c_star / epsilon**2
    eta = (ask * flat + math.sqrt((ask * flat) ** 2 + 36.0 * ask * k**2)) / 2.0
    b = _push(problem, eta)
    alpha = min(float(constants.learning_rate(k, problem.gap, r, eta)), c_star / delta, math.sqrt(eta * c_star / (2.0 * b)))
    recurrence = _suboptimality_recurrence(problem, c_star, alpha, eta)
    horizon = max(math.log(2.0 * delta / epsilon), 0.0) / -math.log1p(-recurrence.rate)
    return Prescription(
        "convergence rate", constants.name, alpha, eta, math.ceil(horizon), float(recurrence.bound(delta, math.ceil(horizon)))
    )


def local_convergence(problem: ProblemClass, *, learning_rate: float, eta: float, horizon: float) -> float:
    """(1/T) sum_t E||grad Phi||^2 <= 2 Psi/(alpha T) + 2 W alpha/eta, Psi = 2R (Theorem, Local Convergence).

    From the uniform start. Needs alpha <= min(1/(2L), 1/(30 (sqrt 2 R + 2K/eta))); the paper names only the first (erratum 19).
    """
    limit = largest_local_learning_rate(problem, eta)
    if not 0 < learning_rate <= limit * (1 + 1e-12):
        raise ValueError(f"local_convergence: learning_rate must be positive and at most {limit:g}, got {learning_rate}")
    w = float(stationarity_constant(problem.n_arms, problem.gap, problem.r_max, eta))
    return 4.0 * problem.r_max / (learning_rate * horizon) + 2.0 * w * learning_rate / eta


def warm_up(problem: ProblemClass, *, learning_rate: float, eta: float) -> float:
    """T_0 = 2 Psi eta/(W alpha^2), Psi = 2R: how long until the noise's part of the bound outweighs the start's."""
    w = float(stationarity_constant(problem.n_arms, problem.gap, problem.r_max, eta))
    return 4.0 * problem.r_max * eta / (w * learning_rate**2)


def after_warm_up(problem: ProblemClass, *, learning_rate: float, eta: float, constants: Constants = CORRECTED) -> float:
    """3 W alpha/eta, the bound on the average of ||grad Phi||^2 from T_0 on; 2 W alpha/eta as printed (erratum 9)."""
    w = float(stationarity_constant(problem.n_arms, problem.gap, problem.r_max, eta))
    return constants.stationarity * w * learning_rate / eta


def largest_local_learning_rate(problem: ProblemClass, eta: float) -> float:
    """The largest alpha that the local convergence theorem's proof supports."""
    half = 1.0 / (2.0 * float(curvature_limit(problem.n_arms, problem.gap, problem.r_max)))
    return min(half, float(largest_smooth_learning_rate(problem.n_arms, eta, problem.r_max)))


def best_local_learning_rate(problem: ProblemClass, *, eta: float, horizon: float) -> float:
    """sqrt(Psi eta/(W T)), which makes the local convergence bound least, or the largest the proof supports."""
    w = float(stationarity_constant(problem.n_arms, problem.gap, problem.r_max, eta))
    return min(math.sqrt(2.0 * problem.r_max * eta / (w * horizon)), largest_local_learning_rate(problem, eta))


def average_suboptimality(problem: ProblemClass, *, eta: float, mean_squared_gradient: float) -> float:
    """(1/T) sum_t E[r* - J] <= 2 R eta^2 (1/T) sum_t E||grad Phi||^2 + K/eta: bad steps are few, good ones within K/eta."""
    return 2.0 * problem.r_max * eta**2 * mean_squared_gradient + problem.n_arms / eta


def worst_case_complexity(problem: ProblemClass, *, epsilon: float, constants: Constants = CORRECTED) -> Prescription:
    """alpha, eta and T for an average iterate within epsilon, whatever c* is (Theorem, Worst-case Sample Complexity).

    eta = 2K/epsilon, alpha the largest with carried_forward * W alpha/eta <= epsilon^3/(16 K^2 R), T the warm-up for it.
    alpha is of order Delta^2 epsilon^2/(K^(7/2) R^5), T of order R^7 K^(11/2)/(Delta^2 epsilon^5) (erratum 12).

    >>> wanted = worst_case_complexity(ProblemClass(n_arms=10, gap=0.01), epsilon=0.1)
    >>> f"{wanted.horizon:.0e}"
    '9e+20'
    """
    epsilon = _epsilon("worst_case_complexity", epsilon, problem)
    k, r = problem.n_arms, problem.r_max
    eta = 2.0 * k / epsilon
    w = float(stationarity_constant(k, problem.gap, r, eta))
    alpha = min(eta * epsilon**3 / (16.0 * constants.carried_forward * k**2 * r * w), largest_local_learning_rate(problem, eta))
    horizon = math.ceil(warm_up(problem, learning_rate=alpha, eta=eta))
    squared = local_convergence(problem, learning_rate=alpha, eta=eta, horizon=horizon)
    bound = average_suboptimality(problem, eta=eta, mean_squared_gradient=squared)
    return Prescription("worst case", constants.name, alpha, eta, horizon, bound)


def regret(problem: ProblemClass, *, horizon: float) -> Prescription:
    """alpha and eta that make the bound on the regret over T steps least, and that bound (Corollary, Regret).

    E regret <= 2 R eta^2 (2 Psi/alpha + 2 W alpha T/eta) + K T/eta; alpha = sqrt(Psi eta/(W T)) balances the bracket. The order
    is R^(7/5) K^(11/10) Delta^(-2/5) T^(4/5) (erratum 12). Playing at random costs at most 2 R T.

    >>> round(regret(ProblemClass(3, 0.5), horizon=1e20).bound / 1e20, 3)
    0.008
    """
    horizon = validate.positive("regret", "horizon", horizon)

    def bound(log_eta: float) -> float:
        eta = math.exp(log_eta)
        alpha = best_local_learning_rate(problem, eta=eta, horizon=horizon)
        squared = local_convergence(problem, learning_rate=alpha, eta=eta, horizon=horizon)
        return horizon * average_suboptimality(problem, eta=eta, mean_squared_gradient=squared)

    span = (math.log(1e-12 / problem.r_max), math.log(1e15 / problem.r_max))
    best = minimize_scalar(lambda x: math.log(bound(x)), bounds=span, method="bounded", options={"xatol": 1e-9})
    eta = math.exp(best.x)
    alpha = best_local_learning_rate(problem, eta=eta, horizon=horizon)
    return Prescription("regret", CORRECTED.name, alpha, eta, horizon, bound(best.x))


def _push(problem: ProblemClass, eta: float) -> float:
    """b = 2R (5K - 1) + K (2 sqrt(2) R + 9K/eta)."""
    k, r = problem.n_arms, problem.r_max
    return 2.0 * r * (5 * k - 1) + k * (2.0 * math.sqrt(2.0) * r + 9.0 * k / eta)


def _suboptimality_recurrence(problem: ProblemClass, c_star: float, learning_rate: float, eta: float) -> Recurrence:
    return Recurrence(learning_rate=learning_rate, pull=1.0 / c_star, push=_push(problem, eta), eta=eta)


def _c_star(value: float) -> float:
    checked = validate.number("theorem", "c_star", value)
    if checked < 1:
        raise ValueError(f"theorem: c_star must be at least 1, since it is a mean of 1/p(a*)^2, got {checked}")
    return checked


def _epsilon(owner: str, value: float, problem: ProblemClass) -> float:
    checked = validate.positive(owner, "epsilon", value)
    if checked >= 2.0 * problem.r_max:
        raise ValueError(
            f"{owner}: epsilon must be below 2 r_max = {2 * problem.r_max:g}, which any policy achieves, got {checked}"
        )
    return checked
