"""Value, gradient, natural gradient and second derivatives of an objective, without sampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import checks
from ..problem import FiniteMDP
from .elliptical import FeatureSpectral
from .objectives import Objective, Spectral
from .point import Point


def log_pdet_fisher(mdp: FiniteMDP, theta: Any) -> float:
    """G = log pdet F, the sum of the logarithms of the S (K - 1) positive eigenvalues of the Fisher matrix.

    F is block diagonal with blocks d(s) (diag pi_s - pi_s pi_s'), so G = (K - 1) sum_s log d(s) + sum log pi(a|s) + S log K.

    >>> import numpy as np
    >>> from logbarrier import mdps
    >>> mdp, theta = mdps.RiverSwim(3), np.zeros((3, 2))
    >>> eigenvalues = np.linalg.eigvalsh(mdps.exact.fisher_matrix(mdp, theta))
    >>> bool(np.isclose(np.log(eigenvalues[-3:]).sum(), mdps.exact.log_pdet_fisher(mdp, theta)))
    True
    """
    return Spectral(eta=1.0).regulariser(Point(mdp, theta))


def log_det_fisher(mdp: FiniteMDP, theta: Any, features: Any) -> float:
    """log det F, F = sum mu g g' the covariance of features (S, K, m) around their mean in each state.

    F is the Fisher matrix of the policy softmax(w . phi) at any w that gives the same policy as theta (S, K). Where the
    features are dependent it is the logarithm of the pseudo-determinant.

    >>> import numpy as np
    >>> from logbarrier import mdps
    >>> mdp, theta = mdps.RiverSwim(3), np.zeros((3, 2))
    >>> one_hot = np.eye(6).reshape(3, 2, 6)
    >>> bool(np.isclose(mdps.exact.log_det_fisher(mdp, theta, one_hot), mdps.exact.log_pdet_fisher(mdp, theta)))
    True
    """
    return FeatureSpectral(features=features, eta=1.0).regulariser(Point(mdp, theta))


def bonus(mdp: FiniteMDP, theta: Any, features: Any) -> np.ndarray:
    """b (S, K) = g' F^-1 g, the derivative of log det F in mu; sum mu b is the number of features."""
    return FeatureSpectral(features=features, eta=1.0).bonus(Point(mdp, theta))


def fisher_matrix(mdp: FiniteMDP, theta: Any) -> np.ndarray:
    """F (S K, S K): the covariance of the score d log pi / d theta under the occupancy."""
    point = Point(mdp, theta)
    S, K = point.policy.shape
    F = np.zeros((S, K, S, K))
    for s in range(S):
        pi = point.policy[s]
        F[s, :, s, :] = point.occupancy[s] * (np.diag(pi) - np.outer(pi, pi))
    return F.reshape(S * K, S * K)


def value(mdp: FiniteMDP, theta: Any, objective: Objective) -> float:
    """Phi = J + regulariser."""
    return value_at(Point(mdp, theta), objective)


def gradient(mdp: FiniteMDP, theta: Any, objective: Objective) -> np.ndarray:
    """d Phi / d theta (S, K) = d pi A_{R + bonus} + pull; its rows sum to 0.

    >>> import numpy as np
    >>> from logbarrier import mdps
    >>> mdp = mdps.Distractor(4)
    >>> mdps.exact.gradient(mdp, np.zeros((4, 2)), mdps.Spectral(eta=100.0))[0].round(4).tolist()    # go right
    [-0.0106, 0.0106]
    """
    return gradient_at(Point(mdp, theta), objective)


def natural_gradient(mdp: FiniteMDP, theta: Any, objective: Objective) -> np.ndarray:
    """F^+ d Phi / d theta (S, K) up to a constant per state, which changes no policy: A_{R + bonus} + pull/(d pi)."""
    return natural_gradient_at(Point(mdp, theta), objective)


def hessian_vector(mdp: FiniteMDP, theta: Any, objective: Objective, direction: Any) -> np.ndarray:
    """(S, K) the derivative of the gradient along a direction (S, K): the Hessian times the direction."""
    point = Point(mdp, theta)
    direction = checks.parameters("direction", direction, mdp.n_states, mdp.n_actions)
    change = point.along(direction)
    reward = mdp.R + objective.bonus(point)
    reward_change = objective.bonus_change(point, change)
    quality, value = point.action_value(reward)
    value_change = point.chain.values((change.policy * quality + point.policy * reward_change).sum(axis=1))
    advantage = quality - value[:, None]
    advantage_change = reward_change + mdp.expected_next(value_change) - value_change[:, None]
    weight, weight_change = point.occupancy[:, None], change.occupancy[:, None]
    return np.asarray(
        weight_change * point.policy * advantage
        + weight * change.policy * advantage
        + weight * point.policy * advantage_change
        + objective.pull_change(point, change)
    )


def value_at(point: Point, objective: Objective) -> float:
    """Phi at a point."""
    return point.performance + objective.regulariser(point)


def gradient_at(point: Point, objective: Objective) -> np.ndarray:
    """d Phi / d theta at a point."""
    advantage = point.advantage(point.mdp.R + objective.bonus(point))
    slope = np.asarray(point.occupancy[:, None] * point.policy * advantage + objective.pull(point))
    # rows sum to 0: the entry of a probability near 1 is a difference of large numbers, and the others give it more precisely
    everyone, likely = np.arange(len(slope)), point.policy.argmax(axis=1)
    slope[everyone, likely] = 0.0
    slope[everyone, likely] = -slope.sum(axis=1)
    return slope


def natural_gradient_at(point: Point, objective: Objective) -> np.ndarray:
    """F^+ d Phi / d theta at a point."""
    advantage = point.advantage(point.mdp.R + objective.bonus(point))
    pull = objective.pull(point)
    # without a pull pi and d may reach 0, and A is all there is
    return advantage + pull / (point.visited[:, None] * point.policy) if pull.any() else advantage
