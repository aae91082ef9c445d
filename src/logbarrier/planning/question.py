"""From what people know of their problem to a problem that rules can be raced on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..bandits.problems import (
    Bandit,
    BernoulliBandit,
    BernoulliGapInstances,
    GapInstances,
    GaussianBandit,
    PoissonBandit,
    ProblemSource,
    RevenueBandit,
)
from ..base import validate
from ..base.failure import WrongTypeError

REWARDS = ("gaussian", "bernoulli", "counts", "revenue")


def problem_like(
    problem: ProblemSource | None = None,
    *,
    n_arms: int | None = None,
    gap: float | None = None,
    means: Sequence[float] | None = None,
    rate: float | None = None,
    difference: float | None = None,
    rewards: str | None = None,
    r_max: float | None = None,
    scale: float | None = None,
    amount: float | None = None,
) -> ProblemSource:
    """Return the problem that these facts describe; the arguments are those of `plan`.

    Means between 0 and 1 are click rates unless `rewards` or `scale` says otherwise. A rate with a difference is the hardest
    placement of K means: all are equal but one.

    >>> problem_like(rate=0.02, difference=0.003, n_arms=3).means.tolist()
    [0.023, 0.02, 0.02]
    """
    if rewards is not None:
        validate.choice("plan", "rewards", rewards, REWARDS)
    given = [
        name for name, value in (("problem", problem), ("means", means), ("rate", rate), ("gap", gap)) if value is not None
    ]
    if len(given) != 1:
        got = " and ".join(given) if given else "none of them"
        raise ValueError(f"plan: needs one of problem, means, rate with difference, or gap with n_arms, got {got}")
    if problem is not None:
        if isinstance(problem, type) or not hasattr(problem, "reward_of"):
            raise WrongTypeError(f"plan: problem must be a problem such as lb.ClickInstances(12), got {problem!r}")
        return problem
    if means is not None:
        return _of_means(means, rewards, scale)
    if rate is not None:
        return _of_rate(rate, difference, n_arms, rewards, scale, amount)
    return _of_gap(n_arms, gap, rewards, r_max, scale)


def _of_means(means: Sequence[float], rewards: str | None, scale: float | None) -> Bandit:
    checked = validate.vector("plan", "means", means)
    if rewards is None:
        rewards = "bernoulli" if scale is None and checked.min() >= 0 and checked.max() <= 1 else "gaussian"
    if rewards == "revenue":
        raise ValueError("plan: revenue needs a rate with a difference, or problem=lb.RevenueBandit(rates, amount)")
    if rewards == "gaussian":
        return GaussianBandit(checked, 1.0 if scale is None else scale, allow_ties=True)
    return (BernoulliBandit if rewards == "bernoulli" else PoissonBandit)(checked, allow_ties=True)


def _of_rate(
    rate: float, difference: float | None, n_arms: int | None, rewards: str | None, scale: float | None, amount: float | None
) -> Bandit:
    if difference is None:
        raise ValueError("plan: a rate needs a difference, how much better the best arm is")
    rates = np.full(
        validate.integer("plan", "n_arms", 2 if n_arms is None else n_arms, 2), validate.number("plan", "rate", rate)
    )
    rates[0] += validate.positive("plan", "difference", difference)
    if rewards == "revenue":
        return RevenueBandit(rates, 1.0 if amount is None else amount, allow_ties=True)
    return _of_means(rates.tolist(), rewards or ("bernoulli" if scale is None else "gaussian"), scale)


def _of_gap(
    n_arms: int | None, gap: float | None, rewards: str | None, r_max: float | None, scale: float | None
) -> ProblemSource:
    if n_arms is None:
        raise ValueError("plan: a gap needs n_arms, the number of arms")
    shape = {"n_arms": n_arms, "gap": gap, "r_max": r_max}
    best: dict[str, Any] = {name: value for name, value in shape.items() if value is not None}
    if rewards == "bernoulli":
        return BernoulliGapInstances(**best)
    if rewards in ("counts", "revenue"):
        raise ValueError(f"plan: {rewards} need a rate with a difference in place of a gap")
    return GapInstances(**best, scale=1.0 if scale is None else scale)
