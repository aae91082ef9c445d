"""What another policy would have earned, from a log with propensities.

A log of n decisions has arms a_i, rewards R_i and propensities b_i, the probabilities with which the arms were drawn. The value
V = sum_a p(a) r(a) of a policy p is estimated with the weights w_i = p_i(a_i)/b_i, p_i being p on the arms available then. Only
decisions at which p could act count, those with an available arm that p ever draws; n is their number:

    inverse propensity   (1/n) sum w_i R_i                                unbiased
    self-normalised      sum w_i R_i / sum w_i                            biased by O(1/n), never outside the rewards seen
    doubly robust        (1/n) sum [ sum_a p_i(a) m(a) + w_i (R_i - m(a_i)) ]   unbiased, and better with a better m

with m(a) the arm's mean reward in the other half of the log, so no reward evaluates itself. Propensities may depend on what
happened before, as those of an agent do: the estimates stay unbiased, and their intervals hold for long logs.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base import validate
from ..statistics import LEVEL, t_quantile
from .inputs import checked_reward
from .logged_policies import probabilities_of

LARGEST_WEIGHT = 1e50  # its square times the square of the largest reward is still a float64
FEWEST = 30  # effective decisions, below which an interval from a few weights says nothing


class OffPolicyWarning(UserWarning):
    """The log says little about the policy asked for."""


@dataclass(frozen=True)
class Log:
    """Decisions that got a reward: arms (n,) as places among `names`, rewards (n,), propensities (n,), available (n, K).

    contexts, ids: of the decisions, where the rows have them.
    """

    names: tuple[Hashable, ...]
    arms: np.ndarray
    rewards: np.ndarray
    propensities: np.ndarray
    available: np.ndarray
    contexts: tuple[Any, ...] = ()
    ids: tuple[Any, ...] = ()

    def __len__(self) -> int:
        return len(self.rewards)

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, Any]], arms: Sequence[Hashable] | None = None) -> Log:
        """From dicts with arm, reward, probability and available, the names of the arms it was drawn from, as of `read_log`.

        Rows without a reward are left out. available may be missing in all rows if all arms were always available. arms: all of
        their names; None takes those that occur.
        """
        rewarded = _rewarded(rows)
        seen = dict.fromkeys(name for row in rewarded for name in (row["arm"], *row.get("available", ())))
        names = tuple(seen) if arms is None else tuple(arms)
        place = {name: i for i, name in enumerate(names)}
        unknown = next((name for name in seen if name not in place), None)
        if unknown is not None:
            raise ValueError(f"Log: arms must contain every arm in the log, but lacks {unknown!r}")
        available = np.ones((len(rewarded), len(names)), dtype=bool)
        for i, row in enumerate(rewarded):
            if "available" in row:
                available[i] = False
                available[i, [place[name] for name in row["available"]]] = True
        drawn = np.array([place[row["arm"]] for row in rewarded], dtype=np.int64)
        absent = np.flatnonzero(~available[np.arange(len(rewarded)), drawn])
        if len(absent):
            raise ValueError(f"Log: every arm must be one of those available, but {rewarded[absent[0]]['arm']!r} is not")
        propensities = np.array([validate.number("Log", "probability", row["probability"]) for row in rewarded])
        if not ((propensities > 0) & (propensities <= 1 + 1e-9)).all():
            raise ValueError("Log: every probability must be above 0 and at most 1")
        rewards = np.array([checked_reward("Log", row["reward"]) for row in rewarded])
        contexts, ids = (_column(rewarded, name) for name in ("context", "id"))
        return cls(names, drawn, rewards, propensities, available, contexts, ids)

    def only(self, chosen: np.ndarray) -> Log:
        """The decisions chosen, by a mask (n,)."""
        arrays = self.arms[chosen], self.rewards[chosen], self.propensities[chosen], self.available[chosen]
        contexts, ids = (tuple(itertools.compress(values, chosen)) for values in (self.contexts, self.ids))
        return Log(self.names, *arrays, contexts, ids)


@dataclass(frozen=True)
class Value:
    """An estimated value: mean, standard error, interval [low, high] at `level`, effective number of decisions.

    decisions: how many the policy could act at; the estimate is over these. doubt: why the log says little about the policy, or
    something else than what was asked; empty where there is no such reason.
    """

    mean: float
    standard_error: float
    low: float
    high: float
    effective: float
    level: float
    decisions: int
    doubt: str = ""


def inverse_propensity(log: Log, policy: Any, *, level: float = LEVEL) -> Value:
    """The value of a policy, (1/n) sum w_i R_i.

    policy: the name of an arm, for always that one; probabilities (K,) in the order of log.names, or a dict by name. It may
    also be a function from a context to one of these, or a `PolicyTable`, which names the policy decision by decision.

    >>> rows = [{"arm": "a", "reward": 1.0, "probability": 0.5}, {"arm": "b", "reward": 0.0, "probability": 0.5}] * 50
    >>> round(inverse_propensity(Log.from_rows(rows), {"a": 0.8, "b": 0.2}).mean, 9)
    0.8
    """
    log, weights, _, doubt = _weights(log, policy, level)
    return _value(weights * log.rewards, weights, level, doubt)


def self_normalised(log: Log, policy: Any, *, level: float = LEVEL) -> Value:
    """sum w_i R_i / sum w_i; its standard error by linearisation, (n/sum w) times the deviation of w (R - mean)."""
    log, weights, _, doubt = _weights(log, policy, level)
    total = weights.sum()
    if total == 0:
        raise ValueError("self_normalised: the policy gives probability 0 to every arm in the log")
    mean = float(weights @ log.rewards / total)
    spread = len(log) / total * weights * (log.rewards - mean)
    return _value(spread, weights, level, doubt, mean=mean)


def doubly_robust(
    log: Log, policy: Any, *, features: int | Mapping[str, Any] | None = None, level: float = LEVEL, warn: bool = True
) -> Value:
    """(1/n) sum [ sum_a p_i(a) m(a) + w_i (R_i - m(a_i)) ], m(a) the arm's mean reward in the other half of the log.

    features: as for `ContextualAgent`; then m is its regression on the contexts, fitted on the other half. warn: whether to
    warn of what `Value.doubt` says.
    """
    log, weights, policies, doubt = _weights(log, policy, level, warn)
    half = np.arange(len(log)) % 2
    terms = np.empty(len(log))
    for mine in (0, 1):
        chosen = half == mine
        model = _arm_means(log, half != mine) if features is None else _regression(log, half != mine, features)
        model = np.broadcast_to(model, policies.shape)[chosen]
        residuals = log.rewards[chosen] - model[np.arange(len(model)), log.arms[chosen]]
        terms[chosen] = (policies[chosen] * model).sum(axis=1) + weights[chosen] * residuals
    return _value(terms, weights, level, doubt)


def _regression(log: Log, chosen: np.ndarray, features: int | Mapping[str, Any]) -> np.ndarray:
    """m (n, K): rewards predicted by regressions on the contexts of the chosen decisions."""
    from .contextual.contextual_agent import ContextualAgent

    if not log.contexts:
        raise ValueError("doubly_robust: features must be left out, since the log has no contexts")
    agent = ContextualAgent(n_arms=len(log.names), features=features)
    for i in np.flatnonzero(chosen):
        agent.observe(log.contexts[i], int(log.arms[i]), float(log.rewards[i]))
    return np.array([agent.predict(context)[0] for context in log.contexts])


def _arm_means(log: Log, chosen: np.ndarray) -> np.ndarray:
    """m (K,): mean reward of each arm among the chosen decisions; their overall mean for an arm never drawn."""
    arms, rewards = log.arms[chosen], log.rewards[chosen]
    counts = np.bincount(arms, minlength=len(log.names))
    sums = np.bincount(arms, weights=rewards, minlength=len(log.names))
    overall = float(rewards.mean()) if len(rewards) else 0.0
    return np.where(counts > 0, sums / np.maximum(counts, 1), overall)


def _rewarded(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows with a reward, each of which says which arms were available, if it speaks of that at all."""
    rewarded: list[Mapping[str, Any]] = []
    for number, row in enumerate(rows):
        lacking = next((name for name in ("arm", "reward", "probability") if name not in row), None)
        if lacking is not None:
            raise ValueError(f"Log: every row must have arm, reward and probability, but row {number} lacks {lacking!r}")
        if row["reward"] is None:
            continue
        if "available" in row and row["available"] is None:
            raise ValueError(
                f"Log: row {number} does not say which arms were available; read the log from the agent's file again, or, if "
                "the arms never changed, remove 'available' from every row"
            )
        rewarded.append(row)
    return rewarded


def _column(rows: list[Mapping[str, Any]], name: str) -> tuple[Any, ...]:
    """The values of a column that every row has; nothing if one lacks it."""
    values = tuple(row.get(name) for row in rows)
    return () if any(value is None for value in values) else values


def _weights(log: Log, policy: Any, level: float, warn: bool = True) -> tuple[Log, np.ndarray, np.ndarray, str]:
    """The n decisions at which the policy could act, w (n,), the policy on the available arms (n, K), and `Value.doubt`."""
    if len(log) < 2:
        raise ValueError(f"off_policy: the log must have at least 2 decisions with a reward, got {len(log)}")
    if not 0 < validate.number("off_policy", "level", level) < 1:
        raise ValueError(f"off_policy: level must be between 0 and 1, got {level}")
    p = probabilities_of(log.names, log.contexts, log.ids, len(log), policy)
    masses = (log.available * p).sum(axis=1)
    acts, whole = masses > 0, masses > 1 - 1e-9
    if acts.sum() < 2:
        raise ValueError(f"off_policy: the policy must be able to act at 2 decisions or more, got {acts.sum()} of {len(log)}")
    doubts = []
    if not whole.all():
        doubts.append(
            f"the policy could act as given at {whole.sum()} of {len(log)} decisions; at {(acts & ~whole).sum()} some of its "
            f"arms were missing; at {(~acts).sum()} all were missing, and those do not count"
        )
    log, masses = log.only(acts), masses[acts]
    policies = log.available * p[acts] / masses[:, None]
    chosen = policies[np.arange(len(log)), log.arms]
    if (chosen > LARGEST_WEIGHT * log.propensities).any():
        raise ValueError(
            f"off_policy: no weight p(arm)/probability may be above {LARGEST_WEIGHT:g}, but the log has a probability of "
            f"{log.propensities.min():g}; leave such decisions out"
        )
    weights = chosen / log.propensities
    effective = _effective(weights)
    never = [name for i, name in enumerate(log.names) if p[:, i].any() and not (log.arms == i).any()]
    if never:
        doubts.append(f"the log never drew {never[0]!r}, so it cannot say what the policy earns there")
    elif effective < FEWEST:
        doubts.append(
            f"propensities are too small for this policy: {len(log)} decisions count as {effective:.1f}, and no interval "
            f"from fewer than {FEWEST} can be trusted"
        )
    doubt = "; ".join(doubts)
    if doubt and warn:
        warnings.warn(doubt, OffPolicyWarning, stacklevel=3)
    return log, weights, policies, doubt


def _effective(weights: np.ndarray) -> float:
    """(sum w)^2 / sum w^2: so many equally weighted decisions would say as much."""
    squares = float(weights @ weights)
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def _value(terms: np.ndarray, weights: np.ndarray, level: float, doubt: str, mean: float | None = None) -> Value:
    centre = float(terms.mean()) if mean is None else mean
    error = float(terms.std(ddof=1)) / math.sqrt(len(terms))
    half = t_quantile((1 + level) / 2, len(terms) - 1) * error
    return Value(centre, error, centre - half, centre + half, _effective(weights), level, len(terms), doubt)
