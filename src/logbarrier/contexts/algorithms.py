"""Rules for contexts: probabilities of the arms from their estimated rewards and the uncertainty of these.

A rule is a compiled function weigh(values, widths, noise, t, hyper, stream, probabilities) over the arms (n,) available:
    values, widths   mu(a) and s(a)/sqrt(noise), from `regression`
    noise            estimated variance of a reward given arm and context
    t                number of decisions before this one
    stream           (key, t, run), for `fill_arm_normals`
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from ..base.parameters import AtLeastZero, Parameterised, Positive, Share, make_named
from ..engine.barrier_policy import barrier_weights
from ..engine.compiled import compiled
from ..engine.random import fill_arm_normals

RIDGE = 2.0  # strength, where the mean square of the features is 1


@compiled
def largest(values):
    """Return the place of the largest value, the first of equal ones."""
    best = 0
    for a in range(1, values.shape[0]):
        if values[a] > values[best]:
            best = a
    return best


@compiled
def give_to_largest(values, share, probabilities):
    """Give `share` of the probability to the largest values, evenly among equal ones, and the rest to all arms."""
    n_arms, best, several = values.shape[0], values[largest(values)], 0
    for a in range(n_arms):
        several += 1 if values[a] == best else 0
    for a in range(n_arms):
        probabilities[a] = (1.0 - share) / n_arms + (share / several if values[a] == best else 0.0)


@dataclass(frozen=True, kw_only=True)
class Rule(Parameterised):
    """The base of every rule.

    name            its name in files and on the command line
    weigh           the compiled function above
    counts_pending  whether decisions without a reward so far narrow s
    follows_changes whether a candidate can replace the memory after a change; see `regression`
    ridge           strength of the ridge, for features of mean square 1
    """

    name: ClassVar[str]
    weigh: ClassVar[Any]
    counts_pending: ClassVar[bool] = False
    follows_changes: ClassVar[bool] = False

    ridge: Positive = RIDGE

    @property
    def hyper(self) -> tuple[float, ...]:
        """The hyper-parameters as `weigh` takes them: all fields but the ridge."""
        return tuple(float(getattr(self, field.name)) for field in fields(self) if field.name != "ridge")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; `rule_from_dict` reads them."""
        return {"rule": self.name, **{field.name: float(getattr(self, field.name)) for field in fields(self)}}


@compiled
def weigh_barrier(values, widths, noise, t, hyper, stream, probabilities):
    """U = mu + optimism s; p maximises sum p U + (1/eta) sum log p, eta = K/(price s(argmax U))."""
    optimism, price = hyper
    upper = np.empty(values.shape[0])
    for a in range(values.shape[0]):
        upper[a] = values[a] + optimism * math.sqrt(noise) * widths[a]
    paid = price * math.sqrt(noise) * widths[largest(upper)]  # at most: sum p (max U - U)
    barrier_weights(upper, values.shape[0] / paid if paid > 0.0 else 0.0, probabilities)


@dataclass(frozen=True, kw_only=True)
class ContextualBarrier(Rule):
    """The log-barrier policy on an optimistic ridge regression, the rule of `ContextualAgent`.

        U(a) = mu(a) + optimism s(a),   eta = K / (price s(a_hat)),   p(a) = 1/(lambda + eta (U(a_hat) - U(a)))

    a_hat = argmax U, and lambda makes p sum to 1. Randomising costs sum_a p(a) (U(a_hat) - U(a)) <= price s(a_hat), which
    vanishes as the best arm becomes known. Decisions stay the same when all rewards are multiplied by a positive number.

    optimism  standard errors added to the estimated rewards
    price     of randomising, in standard errors; larger values make better logs for off-policy estimates
    """

    name = "contextual-barrier"
    weigh = staticmethod(weigh_barrier)
    counts_pending = True
    follows_changes = True

    optimism: AtLeastZero = 1.0
    price: Positive = 0.03


@compiled
def weigh_upper_bound(values, widths, noise, t, hyper, stream, probabilities):
    """The largest mu(a) + alpha width(a)."""
    upper = np.empty(values.shape[0])
    for a in range(values.shape[0]):
        upper[a] = values[a] + hyper[0] * widths[a]
    give_to_largest(upper, 1.0, probabilities)


@dataclass(frozen=True, kw_only=True)
class LinUCB(Rule):
    """LinUCB (Li, Chu, Langford and Schapire 2010), disjoint models: the arm with the largest mu(a) + alpha width(a).

    alpha  in units of the reward
    """

    name = "disjoint-lin-ucb"
    weigh = staticmethod(weigh_upper_bound)

    alpha: AtLeastZero = 1.0


@compiled
def weigh_thompson(values, widths, noise, t, hyper, stream, probabilities):
    """The largest of independent draws from N(mu(a), scale^2 width(a)^2)."""
    sampled = np.empty(values.shape[0])
    fill_arm_normals(sampled, stream)
    for a in range(values.shape[0]):
        sampled[a] = values[a] + hyper[0] * widths[a] * sampled[a]
    give_to_largest(sampled, 1.0, probabilities)


@dataclass(frozen=True, kw_only=True)
class LinThompson(Rule):
    """Linear Thompson sampling (Agrawal and Goyal 2013), disjoint models. Its probabilities are those of the draw: 0 and 1.

    scale  standard deviation of a reward that the posterior assumes
    """

    name = "disjoint-lin-thompson"
    weigh = staticmethod(weigh_thompson)

    scale: AtLeastZero = 1.0


@compiled
def weigh_epsilon_greedy(values, widths, noise, t, hyper, stream, probabilities):
    """The largest mu(a) with probability 1 - epsilon, else any arm."""
    give_to_largest(values, 1.0 - hyper[0], probabilities)


@dataclass(frozen=True, kw_only=True)
class EpsilonGreedy(Rule):
    """The arm with the largest estimated reward, or any arm with probability epsilon."""

    name = "contextual-epsilon-greedy"
    weigh = staticmethod(weigh_epsilon_greedy)

    epsilon: Share = 0.1


@compiled
def weigh_square_cb(values, widths, noise, t, hyper, stream, probabilities):
    """p(a) = 1/(K + gamma_t (mu_best - mu(a))); the best arm gets the rest."""
    n_arms, best, rest = values.shape[0], largest(values), 1.0
    gamma = hyper[0] * math.sqrt(float(n_arms) * (t + 1))
    for a in range(n_arms):
        if a != best:
            probabilities[a] = 1.0 / (n_arms + gamma * (values[best] - values[a]))
            rest -= probabilities[a]
    probabilities[best] = rest


@dataclass(frozen=True, kw_only=True)
class SquareCB(Rule):
    """SquareCB (Foster and Rakhlin 2020) on ridge regressions: inverse-gap weighting, gamma_t = gamma sqrt(K t)."""

    name = "square-cb"
    weigh = staticmethod(weigh_square_cb)

    gamma: Positive = 1.0


RULES: dict[str, type[Rule]] = {rule.name: rule for rule in (ContextualBarrier, LinUCB, LinThompson, EpsilonGreedy, SquareCB)}


def rule_from_dict(plain: dict[str, Any]) -> Rule:
    """Return the rule that `Rule.to_dict` described."""
    return make_named("rule", RULES, plain["rule"], {key: value for key, value in plain.items() if key != "rule"})
