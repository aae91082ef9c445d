"""Every point of the theory of the spectral barrier on finite MDPs, as a function that gives both sides.

h(mu) = sum_s [sum_a log mu(s, a) - log d(s)] is log pdet F up to the constant S log K, and g = d(J + G/eta)/d theta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..theory.maximiser import maximising_policy
from ..theory.sides import Sides, equality
from .mdp_points import ANY_SIZE, ONE_STATE, Chain, MDPInstances
from .statements import Form, Statement

COMPLEX_STEP = 1e-30  # f'(x) = Im f(x + ih)/h, without cancellation
ROUNDING = 1e-11  # of the terms of a difference


def determinant(x: MDPInstances) -> Sides:
    """log pdet F = (K - 1) sum log d + sum log pi + S log K. A block of F is a Laplacian: pdet = K times any cofactor."""
    S, K = x.theta.shape[1:]
    pi, d = x.here.policy, x.here.occupancy
    order = np.argsort(pi, axis=2)[..., : K - 1]  # the cofactor that leaves out the most likely action
    kept = np.take_along_axis(pi, order, axis=2)
    minors = kept[..., None] * np.eye(K - 1) - kept[..., None] * kept[..., None, :]
    left = (np.linalg.slogdet(minors)[1] + math.log(K) + (K - 1) * np.log(d)).sum(axis=1)
    right = x.here.barrier + S * math.log(K)
    return equality(left, right, S * K + np.abs(np.log(x.here.mu)).sum(axis=(1, 2)))


def barrier_gradient(x: MDPInstances) -> Sides:
    """dG/dtheta = 1 - K pi + (K - 1) d pi A_u, u = 1/d, along a direction; the left side by a complex step."""
    K = x.theta.shape[2]
    slope = _derivative(x, lambda chain: chain.barrier)
    u = np.repeat(1.0 / x.here.occupancy[..., None], K, axis=2)
    visits = (K - 1) * x.here.mu * x.advantage(x.here, u)
    terms = x.direction * (1.0 - K * x.here.policy + visits)
    return equality(slope, terms.sum(axis=(1, 2)), _size(terms) + np.abs(visits).sum(axis=(1, 2)) + 1.0)


def ordinary_policy_gradient(x: MDPInstances) -> Sides:
    """d(J + G/eta)/dtheta = d pi A for the reward R + (1/mu - 1/d)/eta, along a direction; the left side by a complex step."""
    slope = _derivative(x, lambda chain: (chain.mu * x.R).sum(axis=(1, 2)) + chain.barrier / x.eta)
    right = (x.direction * _gradient(x, x.R)).sum(axis=(1, 2))
    return equality(slope, right, _size(x.direction * x.here.mu * _magnitude(x, _raised(x, x.R))))


def curvature(x: MDPInstances) -> Sides:
    """v' H v = sum_s [-|w_s|^2 + (pi_s . w_s)^2], w = v/mu, for the Hessian H of h in mu; the left side by a complex step."""
    v, mu = x.direction * x.here.mu, x.here.mu
    moved = mu + 1j * COMPLEX_STEP * v
    slope = 1.0 / moved - 1.0 / moved.sum(axis=2, keepdims=True)
    left = (v * slope.imag).sum(axis=(1, 2)) / COMPLEX_STEP
    squares, products = _curvature_terms(x.here, x.direction)
    return equality(left, products - squares, squares)


def strict_concavity(x: MDPInstances) -> Sides:
    """sum_s (pi_s . w_s)^2 < sum_s |w_s|^2: h is strictly concave in mu."""
    squares, products = _curvature_terms(x.here, x.direction)
    return Sides(products, squares)


def one_to_one(x: MDPInstances) -> Sides:
    """mu' of the policy mu/d is mu: a measure that satisfies the flow constraints is the occupancy of its own policy.

    Half-way between two occupancies the flow constraints hold; what is compared is that point and the occupancy of its policy.
    """
    between = 0.5 * (x.here.mu + x.there.mu)
    back = x.chain(np.log(between)).mu
    return equality(between.reshape(len(between), -1), back.reshape(len(between), -1), between.reshape(len(between), -1))


def gradient_domination(x: MDPInstances) -> Sides:
    """Phi(theta') - Phi(theta) <= sum (mu'/mu) g: where the gradient vanishes, no other policy is better.

    As exp(eta (left - right)) <= 1, for which a difference of large numbers may add its rounding.
    """
    gain = x.eta * ((x.there.mu - x.here.mu) * x.R).sum(axis=(1, 2)) + x.there.barrier - x.here.barrier
    promised = x.eta * (x.there.mu / x.here.mu * _gradient(x, x.R)).sum(axis=(1, 2))
    return Sides(np.exp(np.clip(gain - promised, -50.0, 50.0)), 1.0, rounding=ROUNDING * (1.0 + _size_there(x, x.R)))


def bias_identity(x: MDPInstances) -> Sides:
    """J' - J = sum (mu'/mu) g + (1/eta) [S (K - 1) - sum mu' (1/mu - 1/d)] for any two policies: the bracket is exact."""
    S, K = x.theta.shape[1:]
    left = x.eta * ((x.there.mu - x.here.mu) * x.R).sum(axis=(1, 2))
    slope = x.eta * (x.there.mu / x.here.mu * _gradient(x, x.R)).sum(axis=(1, 2))
    bracket = S * (K - 1) - (x.there.mu * x.here.slope).sum(axis=(1, 2))
    return equality(left, slope + bracket, S * K + _size_there(x, x.R))


def bias_bound(x: MDPInstances) -> Sides:
    """eta (J' - J) <= S (K - 1) for every policy, where theta is the maximum: no mismatch coefficient."""
    S, K = x.theta.shape[1:]
    terms = x.eta[:, None, None] * (x.there.mu - x.here.mu) * x.reward_of_maximum
    return Sides(terms.sum(axis=(1, 2)), float(S * (K - 1)), rounding=ROUNDING * _size(terms))


def stationary_maximum(x: MDPInstances) -> Sides:
    """g = 0 at the maximum."""
    R = x.reward_of_maximum
    size = x.here.mu * _magnitude(x, np.abs(R) + x.here.slope / x.eta[:, None, None])
    return equality(_flat(_gradient(x, R)), 0.0, _flat(size))


def inverse_gap_weighting(x: MDPInstances) -> Sides:
    """pi(a|s) = 1/(1 - eta d(s) A(s, a)) at the maximum, A = R + gamma P V - V with the values V of R + (K - 1)/(eta d)."""
    weight = x.eta[:, None, None] * x.here.occupancy[..., None]
    bonus = (x.theta.shape[2] - 1) / weight
    rewarded = x.reward_of_maximum + bonus
    gap = weight * (x.advantage(x.here, rewarded) - bonus)
    return equality(_flat(1.0 / x.here.policy), _flat(1.0 - gap), _flat(1.0 / x.here.policy + weight * _magnitude(x, rewarded)))


def concave_action_barrier(x: MDPInstances) -> Sides:
    """K sum_s (pi_s . w_s)^2 <= sum_s |w_s|^2 towards another policy, w = (mu' - mu)/mu: sum log pi is concave in mu. False."""
    squares, products = _curvature_terms(x.here, _towards(x))
    return Sides(x.theta.shape[2] * products, squares)


def concave_spectral_barrier(x: MDPInstances) -> Sides:
    """sum_s (pi_s . w_s)^2 <= sum_s |w_s|^2 towards another policy: log pdet F is concave in mu."""
    squares, products = _curvature_terms(x.here, _towards(x))
    return Sides(products, squares)


def bandit_maximum(x: MDPInstances) -> Sides:
    """One state to which every action returns: the maximum is the one of the paper's Phi_eta, p(a) = 1/(K + eta (J - r(a)))."""
    bandit = _bandit(x)
    means, policy = bandit.reward_of_maximum[:, 0], x.here.policy[:, 0]
    size = x.eta * np.ptp(means, axis=1) + 1.0
    return equality(maximising_policy(means, x.eta), policy, size[:, None] * policy)


def bandit_bias(x: MDPInstances) -> Sides:
    """There, eta (J* - J) <= K - 1 at the maximum, where the paper has K."""
    means, K = _bandit(x).reward_of_maximum[:, 0], x.theta.shape[2]
    terms = x.eta[:, None] * x.here.policy[:, 0] * (means.max(axis=1, keepdims=True) - means)
    return Sides(terms.sum(axis=1), K - 1.0, rounding=ROUNDING * K)


def _bandit(x: MDPInstances) -> MDPInstances:
    return replace(x, P=np.ones_like(x.P))


def _derivative(x: MDPInstances, function: Callable[[Chain], np.ndarray]) -> np.ndarray:
    moved = x.chain(x.theta + 1j * COMPLEX_STEP * x.direction)
    return np.asarray(function(moved).imag / COMPLEX_STEP)


def _raised(x: MDPInstances, reward: np.ndarray) -> np.ndarray:
    """reward + (1/mu - 1/d)/eta."""
    return np.asarray(reward + x.here.slope / x.eta[:, None, None])


def _gradient(x: MDPInstances, reward: np.ndarray) -> np.ndarray:
    """g (n, S, K)."""
    return np.asarray(x.here.mu * x.advantage(x.here, _raised(x, reward)))


def _magnitude(x: MDPInstances, reward: np.ndarray) -> np.ndarray:
    """(n, S, K) the size of the terms that make up an advantage."""
    size = np.abs(reward)
    value = np.linalg.solve(x.here.flow, (x.here.policy * size).sum(axis=2)[..., None])[..., 0]
    return np.asarray(size + x.next_values(value) + value[..., None])


def _size_there(x: MDPInstances, reward: np.ndarray) -> np.ndarray:
    """(n,) eta times the size of the terms of sum (mu'/mu) g."""
    return np.asarray(x.eta * _size(x.there.mu * _magnitude(x, _raised(x, reward))))


def _towards(x: MDPInstances) -> np.ndarray:
    """w = (mu' - mu)/mu (n, S, K), which keeps the flow."""
    return np.asarray(x.there.mu / x.here.mu - 1.0)


def _curvature_terms(chain: Chain, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """sum_s |w_s|^2 and sum_s (pi_s . w_s)^2."""
    return (w**2).sum(axis=(1, 2)), ((chain.policy * w).sum(axis=2) ** 2).sum(axis=1)


def _size(terms: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(terms).sum(axis=(1, 2)))


def _flat(entries: np.ndarray) -> np.ndarray:
    return entries.reshape(len(entries), -1)


def _statement(name: str, point: int, form: Form[MDPInstances], **further: Any) -> Statement[MDPInstances]:
    return Statement(name, f"finite MDPs, point {point}", form, **{"points": ANY_SIZE, **further})


STATEMENTS: tuple[Statement[MDPInstances], ...] = (
    _statement("log pdet F: actions and visits", 1, determinant, equation=True),
    _statement("gradient of log pdet F", 2, barrier_gradient, equation=True),
    _statement("it is a policy gradient", 2, ordinary_policy_gradient, equation=True),
    _statement("Hessian in the occupancy measure", 3, curvature, equation=True),
    _statement("strict concavity", 3, strict_concavity),
    _statement("measure and policy, one to one", 3, one_to_one, equation=True),
    _statement("gradient domination", 3, gradient_domination),
    _statement("bias as a bracket", 4, bias_identity, equation=True),
    _statement("bias at most S (K - 1)/eta", 4, bias_bound),
    _statement("the maximum is stationary", 5, stationary_maximum, equation=True),
    _statement("inverse-gap weighting", 5, inverse_gap_weighting, equation=True),
    _statement("action barrier concave, or both", 6, concave_action_barrier, corrected=concave_spectral_barrier),
    _statement("one state: the paper's bandit", 7, bandit_maximum, equation=True, points=ONE_STATE),
    _statement("one state: bias (K - 1)/eta", 7, bandit_bias, points=ONE_STATE),
)
