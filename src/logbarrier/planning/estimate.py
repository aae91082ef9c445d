"""A problem estimated from decisions that were made: which law the rewards follow, and the means of the arms."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from ..bandits.problems import Bandit, BernoulliBandit, GaussianBandit, PoissonBandit, RevenueBandit

FEWEST = 2  # rewards of an arm


def problem_from_log(rows: Iterable[Mapping[str, Any]]) -> Bandit:
    """Return a problem whose arms pay as those in a log did; rows are dicts with arm and reward, as of `read_log`.

    Rewards of 0 and 1 are clicks, other whole numbers are counts. Where at least half are 0 and the rest positive, they are
    revenue. All others are Gaussian, each arm with its own noise. Estimates are drawn to the mean of all arms by one
    pseudo-reward. Arms with fewer than two rewards are left out.

    >>> rows = [{"arm": arm, "reward": reward} for arm in "ab" for reward in (0.0, 1.0, 0.0)]
    >>> problem_from_log(rows)
    BernoulliBandit(means=[0.3333 0.3333])
    """
    found: dict[Hashable, list[float]] = {}
    for row in rows:
        if row["reward"] is not None:
            found.setdefault(row["arm"], []).append(float(row["reward"]))
    arms = [np.array(rewards) for rewards in found.values() if len(rewards) >= FEWEST]
    if len(arms) < 2:
        raise ValueError(f"plan: the log must have two rewards of at least two arms, got {len(arms)} such arms")
    every = np.concatenate(arms)
    if np.isin(every, (0.0, 1.0)).all():
        return BernoulliBandit(_shrunk(arms), allow_ties=True)
    if (every >= 0).all() and (every == np.floor(every)).all():
        return PoissonBandit(_shrunk(arms), allow_ties=True)
    if (every >= 0).all() and (every == 0).mean() >= 0.5:
        bought = [rewards[rewards > 0] for rewards in arms]
        sigma = float(np.std(np.log(every[every > 0])))
        rates = _shrunk([(rewards > 0).astype(float) for rewards in arms])
        return RevenueBandit(rates, _shrunk(bought), min(max(sigma, 0.01), 5.0), allow_ties=True)
    variances = np.array([rewards.var(ddof=1) for rewards in arms])
    counts = np.array([len(rewards) for rewards in arms])
    pooled = float(np.average(variances, weights=counts - 1))
    scales = np.sqrt((variances * (counts - 1) + pooled) / counts)
    return GaussianBandit(_shrunk(arms), np.maximum(scales, 1e-9), allow_ties=True)


def _shrunk(arms: list[np.ndarray]) -> np.ndarray:
    """Return the mean of each arm's values and one more, the mean of all."""
    overall = np.concatenate(arms).mean()
    return np.array([(values.sum() + overall) / (len(values) + 1) for values in arms])
