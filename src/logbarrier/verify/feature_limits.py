"""The limits and variants of the barrier with features, points 5 to 8: what fails, and what holds in its place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..theory.sides import Sides, equality
from .feature_points import FeatureCases, bonus, centred, condition, fisher, log_det
from .mdp_points import Chain
from .mdp_statements import COMPLEX_STEP, ROUNDING

STRONG = 100.0  # the size of rewards times eta where local maxima are looked for
STEEPEST = 50.0  # differences of eta times an objective are cut here before exp


def weights(x: FeatureCases, numbers: np.ndarray) -> np.ndarray:
    """w (n, m) of a log-linear policy, from the first of the numbers (n, S, K)."""
    return numbers.reshape(len(numbers), -1)[:, : x.features.shape[3]]


def _at_most(gain: np.ndarray, rounding: np.ndarray) -> Sides:
    """gain <= 0, as exp(gain) <= 1."""
    return Sides(np.exp(np.clip(gain, -STEEPEST, STEEPEST)), 1.0, rounding=ROUNDING + np.minimum(rounding, 1.0))


def _gain(x: FeatureCases, R: np.ndarray, mu: np.ndarray, here: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """eta (Phi(mu) - Phi(here)) of Phi = J + h/eta, and what float64 may add to it, both (n,)."""
    terms = x.eta[:, None, None] * (mu - here) * R
    rounding = 1e-15 * (condition(x, mu) + condition(x, here) + np.abs(terms).sum(axis=(1, 2)))
    return terms.sum(axis=(1, 2)) + log_det(fisher(x, mu)) - log_det(fisher(x, here)), rounding


# Point 5: the maximum is not interior.


def _boundary(x: FeatureCases) -> tuple[FeatureCases, np.ndarray, np.ndarray]:
    """Cases without their last feature, a measure without the action that it marks, and an R that makes it the maximum."""
    m, K = x.features.shape[3], x.theta.shape[2]
    state, action = (m - 1) // (K - 1), 1 + (m - 1) % (K - 1)
    policy, fewer = x.here.policy.copy(), replace(x, features=x.features[..., :-1])
    policy[:, state, action] = 0.0
    mu = _measure(x, policy / policy.sum(axis=2, keepdims=True))
    R = _reward_of_maximum(fewer, mu)
    R[:, state, action] -= 1.0 / x.eta
    return fewer, mu, R


def _measure(x: FeatureCases, policy: np.ndarray) -> np.ndarray:
    flow = np.eye(policy.shape[1]) - x.gamma[:, None, None] * np.einsum("nsa,nsat->nst", policy, x.P)
    start = ((1.0 - x.gamma)[:, None] * x.rho)[..., None]
    return np.asarray(np.linalg.solve(np.swapaxes(flow, 1, 2), start) * policy)


def _reward_of_maximum(x: FeatureCases, mu: np.ndarray) -> np.ndarray:
    """R for which mu maximises J + h/eta: lambda - gamma P lambda - b/eta; less of it is paid where mu is 0."""
    bare = x.multipliers[..., None] - x.next_values(x.multipliers)
    return np.asarray(bare - bonus(x, mu) / x.eta[:, None, None])


def interior_maximum(x: FeatureCases) -> Sides:
    """Phi(mu) <= Phi((mu + mu')/2) at a mu that leaves out an action, for a mu' that does not. False: mu may be best."""
    fewer, mu, R = _boundary(x)
    gain, rounding = _gain(fewer, R, 0.5 * (mu + x.there.mu), mu)
    return _at_most(-gain, rounding)


def maximum_on_the_boundary(x: FeatureCases) -> Sides:
    """Phi(mu') <= Phi(mu) for every policy mu', at a mu that leaves out an action."""
    fewer, mu, R = _boundary(x)
    return _at_most(*_gain(fewer, R, x.there.mu, mu))


# Point 5: there are local maxima inside the class of policies softmax(w . phi).


def _class_chain(x: FeatureCases, w: np.ndarray) -> Chain:
    return x.chain(np.einsum("nsam,nm->nsa", x.features, w))


def _class_gradient(x: FeatureCases, w: np.ndarray, R: np.ndarray, paid: bool = True) -> np.ndarray:
    """The gradient (n, m) in w of J + h/eta, or of J alone: sum mu A g, A the advantage of R + b/eta. w may be complex."""
    chain = _class_chain(x, w)
    reward = R + (bonus(x, chain.mu) / x.eta[:, None, None] if paid else 0.0)
    return np.asarray(np.einsum("nsa,nsa,nsam->nm", chain.mu, x.advantage(chain, reward), centred(x, chain.mu)))


def _stationary(x: FeatureCases) -> tuple[np.ndarray, np.ndarray]:
    """w (n, m), and R/eta changed by multiples of the features so that w is stationary in the class."""
    w = weights(x, x.theta)
    R, m = STRONG * x.R / x.eta[:, None, None], x.features.shape[3]
    effects = np.stack([_class_gradient(x, w, x.features[..., j], paid=False) for j in range(m)], axis=2)
    amounts = (np.linalg.pinv(effects) @ _class_gradient(x, w, R)[..., None])[..., 0]
    return w, np.asarray(R - np.einsum("nsam,nm->nsa", x.features, amounts))


def local_maximum_of_the_class(x: FeatureCases) -> Sides:
    """Phi(w') <= Phi(w) for every w' at a strict local maximum w of the class. False. Other points count as tight."""
    w, R = _stationary(x)
    m = w.shape[1]
    slopes = [_class_gradient(x, w + 1j * COMPLEX_STEP * np.eye(m)[j], R).imag / COMPLEX_STEP for j in range(m)]
    curvature = x.eta[:, None, None] * np.stack(slopes, axis=2)
    left = np.abs(x.eta[:, None] * _class_gradient(x, w, R)).max(axis=1)
    strict = (np.linalg.eigvalsh(0.5 * (curvature + np.swapaxes(curvature, 1, 2)))[:, -1] < -1e-3) & (left < 1e-9)
    elsewhere = (-w, 0.0 * w, *(share * weights(x, x.other) for share in (-1.0, -0.3, 0.3, 1.0)))
    here, *others = (_class_chain(x, each).mu for each in (w, *elsewhere))
    gain, rounding = np.stack([_gain(x, R, there, here) for there in others], axis=2)
    return _at_most(np.where(strict[:, None], gain, -STEEPEST), rounding)


def maximum_in_mu(x: FeatureCases) -> Sides:
    """Phi(mu') <= Phi(mu) for every policy mu', where mu is stationary among all measures."""
    return _at_most(*_gain(x, _reward_of_maximum(x, x.here.mu), x.there.mu, x.here.mu))


# Point 6: the sum form, p log pdet A + (K - 1) log det B.


def _sum_form(x: FeatureCases, chain: Chain) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value (n,), bonus (n, S, K) and condition (n,): A = E[diag pi - pi pi'], without its null space, and B = E[z z']."""
    K = x.theta.shape[2]
    z = x.of_states[..., : min(x.of_states.shape[1:])]
    basis = np.linalg.svd(np.eye(K) - 1.0 / K)[0][:, : K - 1]
    g = basis[None, None] - np.einsum("nsa,ak->nsk", chain.policy, basis)[:, :, None]
    A, B = np.einsum("nsa,nsam,nsak->nmk", chain.mu, g, g), np.einsum("ns,nsm,nsk->nmk", chain.occupancy, z, z)
    actions = np.einsum("nsam,nmk,nsak->nsa", g, np.linalg.inv(A), g)
    states = np.einsum("nsm,nmk,nsk->ns", z, np.linalg.inv(B), z)[..., None]
    p = z.shape[2]
    return p * log_det(A) + (K - 1) * log_det(B), p * actions + (K - 1) * states, np.linalg.cond(A) + np.linalg.cond(B)


def _twice(x: FeatureCases) -> int:
    return int(2 * min(x.of_states.shape[1:]) * (x.theta.shape[2] - 1))


def sum_form(x: FeatureCases) -> Sides:
    """H' - H <= sum mu' b - 2 p (K - 1), H = p log pdet A + (K - 1) log det B: bias at most 2 p (K - 1)/eta."""
    value, paid, size = _sum_form(x, x.here)
    promised = (x.there.mu * paid).sum(axis=(1, 2)) - _twice(x)
    return _at_most(_sum_form(x, x.there)[0] - value - promised, 1e-15 * size * (1.0 + np.abs(promised)))


def sum_form_adds_up(x: FeatureCases) -> Sides:
    """sum mu b = 2 p (K - 1)."""
    _, paid, size = _sum_form(x, x.here)
    return equality((x.here.mu * paid).sum(axis=(1, 2)), _twice(x), _twice(x) + 1e-5 * size)


# Point 7: the last layer of a network, g = (e_a - pi) x z with z = tanh(V' y) for the inputs y of a state.


def _network(x: FeatureCases, moved_last: complex, moved_below: complex) -> tuple[FeatureCases, np.ndarray]:
    """Cases with the features phi(s, a) = e_a x z(s), and logits (n, S, K), with both layers moved in a direction."""
    n, S, K = x.theta.shape
    p = min(S, x.of_states.shape[2], 2)
    first, second, along = (numbers.reshape(n, -1) for numbers in (x.theta, x.direction, x.other))
    last = (first + moved_last * along)[:, : p * (K - 1)]
    below = np.eye(p) + 0.3 * np.tanh(second[:, : p * p]).reshape(n, p, p) + moved_below * along[:, : p * p].reshape(n, p, p)
    z = np.tanh(x.of_states[..., :p] @ below)
    phi = np.einsum("nsp,ab->nsabp", z, np.eye(K)[:, 1:]).reshape(n, S, K, p * (K - 1))
    return replace(x, features=phi), np.einsum("nsam,nm->nsa", phi, last)


def _network_gradient(x: FeatureCases, last: bool) -> Sides:
    """dh along a direction in one layer, by a complex step, is the policy gradient with the bonus as the reward."""
    frozen, logits = _network(x, 0.0, 0.0)
    moving, moved = _network(x, *((1j * COMPLEX_STEP, 0.0) if last else (0.0, 1j * COMPLEX_STEP)))
    chain = x.chain(logits)
    F = fisher(moving, x.chain(moved).mu)
    left = np.einsum("nmk,nkm->n", np.linalg.inv(F.real), F.imag) / COMPLEX_STEP
    terms = chain.mu * x.advantage(chain, bonus(frozen, chain.mu)) * moved.imag / COMPLEX_STEP
    size = (
        (chain.mu * bonus(frozen, chain.mu)).sum(axis=(1, 2))
        / (1.0 - x.gamma)
        * np.abs(moved.imag).max(axis=(1, 2))
        / COMPLEX_STEP
    )
    return equality(left, terms.sum(axis=(1, 2)), (1.0 + 1e-5 * condition(frozen, chain.mu)) * size)


def gradient_of_last_layer(x: FeatureCases) -> Sides:
    """The gradient of h in the weights of the last layer is the policy gradient with reward b."""
    return _network_gradient(x, last=True)


def gradient_of_layer_below(x: FeatureCases) -> Sides:
    """The same for the layer below, whose weights change the features too. False."""
    return _network_gradient(x, last=False)


# Point 8: bandits.


def one_hot_is_the_log_barrier(x: FeatureCases) -> Sides:
    """log det F = sum_a log pi(a) for one state to which every action returns, and one-hot features of all actions but one."""
    K = x.theta.shape[2]
    one_hot = replace(x, P=np.ones_like(x.P), features=np.broadcast_to(np.eye(K)[:, 1:], (*x.theta.shape, K - 1)))
    mu = one_hot.chain(x.theta).mu
    left, right = log_det(fisher(one_hot, mu)), np.log(mu[:, 0]).sum(axis=1)
    return equality(left, right, np.abs(right) + 1e-6 * condition(one_hot, mu))
