"""Statements that are not lemmas themselves, in a form that can be tried: proof steps, equations, remarks, recurrences."""

from __future__ import annotations

import numpy as np

from ..bandits.softmax import softmax
from ..theory import objective as phi
from ..theory.constants import CORRECTED, PRINTED, largest_sampled_gradient
from ..theory.maximiser import maximising_policy
from ..theory.recurrences import Recurrence, rho_is_above, rho_rises_to_its_fixed_point
from ..theory.sides import Sides, equality
from .points import Instances

STEPS = 60  # of a recurrence


def smooth_rate(x: Instances) -> np.ndarray:
    """A learning rate in (0, 1/(6 G)), as the lemma on iterates asks."""
    return np.asarray(x.fraction / (6.0 * largest_sampled_gradient(x.n_arms, x.eta, x.r_max)))


def printed_rate(x: Instances) -> np.ndarray:
    return np.asarray(PRINTED.learning_rate(x.n_arms, x.gap, x.r_max, x.eta))


def corrected_rate(x: Instances) -> np.ndarray:
    return np.asarray(CORRECTED.learning_rate(x.n_arms, x.gap, x.r_max, x.eta))


def smoothness_line(x: Instances, cross: float) -> Sides:
    """The proof's second line: y^T H y = (F r - (K/eta) p)^T (y*y) - (2 F r + cross (K/eta) p)^T y (p^T y)."""
    p, slope, k_over_eta = softmax(x.theta), phi.gradient(x.theta, x.means, np.inf), (x.n_arms / x.eta)[:, None]
    along = (p * x.direction).sum(axis=1)
    squares = ((slope - k_over_eta * p) * x.direction**2).sum(axis=1)
    right = squares - ((2.0 * slope + cross * k_over_eta * p) * x.direction).sum(axis=1) * along
    size = (x.r_max + x.n_arms / x.eta) * (x.direction**2).sum(axis=1)
    return equality(phi.curvature(x.theta, x.means, x.eta, x.direction), right, size)


def near_the_maximiser(x: Instances) -> np.ndarray:
    """theta (n, K) with ||grad Phi|| <= 1/eta: from the maximiser along `direction`, as far as the premise lasts."""
    best = np.log(maximising_policy(x.means, x.eta))
    low, high = np.zeros(len(best)), 50.0 * x.fraction
    for _ in range(50):
        middle = (low + high) / 2.0
        inside = x.eta * phi.gradient_norm(best + middle[:, None] * x.direction, x.means, x.eta) <= 1.0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.asarray(best + low[:, None] * x.direction)


def unbiasedness(x: Instances) -> Sides:
    rewards, chances = x.reward_law()
    p, exact = softmax(x.theta), phi.gradient(x.theta, x.means, x.eta)
    mean_rewards = (rewards * chances).sum(axis=-1)
    scores = np.eye(x.n_arms) - p[:, None, :]
    mean = np.einsum("na,na,nai->ni", p, mean_rewards, scores) + (1.0 - x.n_arms * p) / x.eta[:, None]
    return equality(mean, exact, (x.r_max + x.n_arms / x.eta)[:, None])


def sum_is_kept(x: Instances) -> Sides:
    sample = phi.sampled_gradient(x.theta, 0, x.reward, x.eta)
    return equality(sample.sum(axis=1), 0.0, x.r_max + x.n_arms / x.eta)


def barrier_step(x: Instances, factor: np.ndarray) -> Sides:
    """The proof's last line divided by ||G||: alpha sqrt(K) + factor K <= 2 alpha K."""
    rate = smooth_rate(x)
    return Sides(rate * np.sqrt(x.n_arms) + factor * x.n_arms, 2.0 * rate * x.n_arms)


def recurrence_above(x: Instances) -> tuple[Recurrence, np.ndarray]:
    """A recurrence with a start above its fixed point and an allowed learning rate."""
    shape = Recurrence(learning_rate=np.ones(len(x.eta)), pull=x.r_max, push=1.0 + x.direction[:, 0] ** 2, eta=x.eta)
    start = shape.fixed_point * (1.0 + x.direction[:, 1] ** 2)
    rate = x.fraction * shape.largest_learning_rate(start)
    return Recurrence(learning_rate=rate, pull=shape.pull, push=shape.push, eta=x.eta), start


def rising(x: Instances) -> Sides:
    recurrence, _ = recurrence_above(x)
    allowed = Recurrence(
        learning_rate=x.fraction / (recurrence.pull * recurrence.fixed_point),
        pull=recurrence.pull,
        push=recurrence.push,
        eta=recurrence.eta,
    )
    return rho_rises_to_its_fixed_point(allowed, x.spread * allowed.fixed_point, STEPS)


def undercut(x: Instances) -> Sides:
    generator = np.random.default_rng(0)
    shrinkage = 1.0 - x.spread * generator.uniform(size=(STEPS, 1))
    return rho_is_above(*recurrence_above(x), shrinkage)


def hypothesis_as_printed(x: Instances) -> Sides:
    recurrence, start = recurrence_above(x)
    return Sides(recurrence.step(start), recurrence.fixed_point)


def iteration_count(x: Instances) -> tuple[np.ndarray, np.ndarray]:
    """log q/log(1/(1 - x)) and log q/x, the two counts that the complexity proof compares."""
    demand = np.log1p(1.0 / x.r_max)
    return demand / -np.log1p(-x.fraction), demand / (x.fraction)


def invariance(x: Instances, moved: np.ndarray) -> Sides:
    change = np.abs(softmax(moved) - softmax(x.theta)).max(axis=1)
    return Sides(change, np.full(len(change), 1e-9))
