"""The maximum of an objective, with a certificate."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, overload

import numpy as np
from scipy.optimize import minimize

from ...base import validate
from ...base.failure import WrongTypeError
from ...base.runs import Progress
from .. import checks
from ..problem import FiniteMDP
from .calculus import gradient_at, hessian_vector, value_at
from .elliptical import Elliptical
from .feature_maximum import feature_maximum
from .maxima import FeatureMaximum, Maximum
from .newton import newton
from .objectives import ActionBarrier, Entropy, NoRegulariser, Objective, Spectral
from .point import Point

RAREST = 1e-200  # a state visited less at the start is beyond Newton's method in double precision
SOFT_STEPS = 1000  # of soft policy iteration, which converges quadratically
SOFT_GAIN = 1e-15  # of the size of the values: a smaller gain is rounding
FLAT = 1e-12  # the norm of the gradient at which the ascent of the action barrier stops
LOCAL_STEPS = 5000
ACCURATE = 1e-3  # of the size of the regulariser's own gradient: a maximum has no greater gradient than this


@overload
def maximise(
    mdp: FiniteMDP,
    objective: Elliptical,
    *,
    start: Any = None,
    tolerance: float | None = None,
    progress: bool | Progress = False,
) -> FeatureMaximum: ...


@overload
def maximise(mdp: FiniteMDP, objective: Objective, *, start: Any = None) -> Maximum: ...


def maximise(
    mdp: FiniteMDP,
    objective: Objective,
    *,
    start: Any = None,
    tolerance: float | None = None,
    progress: bool | Progress = False,
) -> Maximum | FeatureMaximum:
    """The policy that maximises an objective, from a policy `start` (S, K) (uniform where none is given).

    Spectral: Newton's method in the occupancy measure; the maximum is the only one, whatever the start. Entropy: soft policy
    iteration. NoRegulariser: policy iteration. ActionBarrier: ascent to a local maximum, which depends on the start.
    FeatureSpectral, StateSpectral: fully corrective Frank-Wolfe in the occupancy measure, to a gap of `tolerance` times the
    bias bound (1e-8 up to 1000 states, else 1e-3). The value is the same for every start, and `progress` shows a bar.
    ValueError where double precision does not suffice, as for eta times the rewards near 1e13 or gamma within 1e-9 of 1.

    >>> from logbarrier import mdps
    >>> best = mdps.exact.maximise(mdps.Lock(14), mdps.Spectral(eta=14 / 0.01))      # eta = S (K - 1)/epsilon
    >>> bool(best.bias <= best.bias_bound), best.stationarity < 1e-9
    (True, True)
    """
    policy = checks.policy("maximise", mdp.uniform_policy if start is None else start, mdp.n_states, mdp.n_actions)
    if policy.min() <= 0.0:
        raise ValueError(f"maximise: start must have no zero probabilities, got {policy.min()}")
    if isinstance(objective, Elliptical):
        wanted = None if tolerance is None else validate.positive("maximise", "tolerance", tolerance)
        return feature_maximum(mdp, objective, policy, wanted, progress)
    return _maximum(objective, Point(mdp, np.log(policy)))


@singledispatch
def _maximum(objective: Objective, start: Point) -> Maximum:
    raise WrongTypeError(f"maximise: objective must be one that maximise knows, got {objective!r}")


@_maximum.register
def _(objective: NoRegulariser, start: Point) -> Maximum:
    mdp = start.mdp
    J, value = mdp.optimal_performance, mdp.value(mdp.optimal_policy)
    return Maximum(
        policy=mdp.optimal_policy,
        occupancy=mdp.occupancy(mdp.optimal_policy),
        performance=J,
        objective=J,
        bias=0.0,
        bias_bound=0.0,
        upper_bound=dual_bound(mdp, value),
        stationarity=0.0,
        iterations=0,
    )


@_maximum.register
def _(objective: Spectral, start: Point) -> Maximum:
    if start.visited.min() < RAREST:
        raise ValueError(f"maximise: start must visit every state with a weight above {RAREST:g}, got {start.visited.min()}")
    if start.mdp.n_actions == 1:
        return _summary(start, objective, 0, 1.0 / objective.eta)
    with np.errstate(all="ignore"):  # what is not finite ends the iteration
        iterates = list(newton(start.mdp, objective.eta, start.policy))
    reached = iterates[-1].policy if iterates else start.policy
    return _summary(Point(start.mdp, np.log(reached)), objective, len(iterates), 1.0 / objective.eta)


@_maximum.register
def _(objective: Entropy, start: Point) -> Maximum:
    """Newton's method on the soft Bellman equation: pi = softmax(Q/tau) of the soft Q of the policy before."""
    point, before = start, np.full(start.mdp.n_states, -np.inf)
    iterations = 0
    while iterations < SOFT_STEPS:
        _, value = point.action_value(point.mdp.R + objective.bonus(point))
        if not (value > before + SOFT_GAIN * np.abs(value).max()).any():
            break
        before, iterations = value, iterations + 1
        point = Point(point.mdp, point.mdp.action_value(value) / objective.tau)
    return _summary(point, objective, iterations, objective.tau)


@_maximum.register
def _(objective: ActionBarrier, start: Point) -> Maximum:
    mdp, shape = start.mdp, start.theta.shape

    def falling(theta: np.ndarray) -> tuple[float, np.ndarray]:
        point = Point(mdp, theta.reshape(shape))
        return -value_at(point, objective), -gradient_at(point, objective).ravel()

    def curved(theta: np.ndarray, direction: np.ndarray) -> np.ndarray:
        return -hessian_vector(mdp, theta.reshape(shape), objective, direction.reshape(shape)).ravel()

    options = {"gtol": FLAT, "maxiter": LOCAL_STEPS}
    found = minimize(falling, start.theta.ravel(), jac=True, hessp=curved, method="trust-ncg", options=options)
    return _summary(Point(mdp, found.x.reshape(shape)), objective, int(found.nit), 1.0 / objective.eta)


def _summary(point: Point, objective: Objective, iterations: int, size: float) -> Maximum:
    """The maximum at a point; size is that of the regulariser's gradient, which the rewards' must balance there."""
    stationarity = float(np.abs(gradient_at(point, objective)).max())
    if not stationarity <= ACCURATE * size:
        raise ValueError(
            f"maximise: the gradient must fall below {ACCURATE * size:.1e} for {objective}, got {stationarity:.1e}: double "
            "precision does not suffice; make the rewards smaller, the regulariser stronger or gamma smaller"
        )
    _, value = point.action_value(point.mdp.R + objective.bonus(point))
    return Maximum(
        policy=point.policy,
        occupancy=point.occupancy,
        performance=point.performance,
        objective=value_at(point, objective),
        bias=point.mdp.optimal_performance - point.performance,
        bias_bound=objective.bias_bound(point),
        upper_bound=dual_bound(point.mdp, value),
        stationarity=stationarity,
        iterations=iterations,
    )


def dual_bound(mdp: FiniteMDP, values: np.ndarray) -> float:
    """J* is at most this, for any values (S,): weak duality of the linear programme of an MDP.

    With v(s) >= R(s, a) + gamma P v for all (s, a), J* <= start . v; what is violated is paid for at each discounted step.
    """
    violated = max(float((mdp.action_value(values) - values[:, None]).max()), 0.0)
    longest = 1.0
    if mdp.gamma == 1.0 and violated:
        rows = {"offsets": mdp.offsets, "successors": mdp.successors, "probabilities": mdp.probabilities}
        longest = FiniteMDP(P=rows, R=np.ones_like(mdp.R), rho=mdp.rho, gamma=1.0).optimal_performance
    return float(mdp.normaliser * (mdp.rho @ values)) + violated * longest
