"""Statistics of independent runs: intervals, the bootstrap, quantiles, shares. The one place; everything else calls it.

>>> low, high = t_interval(np.array([0.2, 0.4, 0.6]))
>>> float(low.round(3)), float(high.round(3))
(-0.097, 0.897)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LEVEL = 0.95
RESAMPLES = 2000
STUCK = 0.5  # a run is stuck where one wrong arm holds more than this share of the probability

ANYWHERE = (-np.inf, np.inf)


def t_interval(
    values: np.ndarray, level: float = LEVEL, within: tuple[float, float] = ANYWHERE
) -> tuple[np.ndarray, np.ndarray]:
    """Student-t interval (low, high) of the mean over runs, values (runs, ...).

    within: the range in which the mean must lie. Cutting the interval to it changes no coverage. The interval contains the
    mean all the same where rounding took that out of the range. One run says nothing of spread: its interval is the range.
    """
    runs, mean = len(values), values.mean(axis=0)
    half: np.ndarray | float = np.inf
    if runs > 1:
        with np.errstate(over="ignore"):  # 1/p^2 reaches 1e300, whose spread is infinite in float64
            half = t_quantile((1 + level) / 2, runs - 1) * values.std(axis=0, ddof=1) / np.sqrt(runs)
    low, high = np.maximum(mean - half, within[0]), np.minimum(mean + half, within[1])
    return np.minimum(low, mean), np.maximum(high, mean)


def t_quantile(share: float, freedom: float) -> float:
    """The quantile of Student's t distribution."""
    from scipy.special import stdtrit  # here, so that reading a record does not wait for scipy

    return float(stdtrit(freedom, share))


def share_interval(hits: int, runs: int, level: float = LEVEL) -> tuple[float, float]:
    """Clopper-Pearson interval of a share of which `hits` of `runs` were seen.

    >>> [round(bound, 4) for bound in share_interval(0, 100)]
    [0.0, 0.0362]
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, tail))
    high = 1.0 if hits == runs else float(betaincinv(hits + 1, runs - hits, 1 - tail))
    return low, high


def resampling_weights(runs: int, seed: int, resamples: int = RESAMPLES) -> np.ndarray:
    """Share of each run in each bootstrap sample, (resamples, runs): `weights @ values` are the resampled means."""
    drawn = np.random.default_rng(seed).multinomial(runs, np.full(runs, 1.0 / runs), size=resamples)
    return np.asarray(drawn / runs)


def percentile_interval(resampled: np.ndarray, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray]:
    """The percentile bootstrap interval (low, high) of statistics (resamples, ...)."""
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def quantiles(values: np.ndarray, q: float | Sequence[float]) -> np.ndarray:
    """Quantiles over runs of values (runs, ...): (len(q), ...), or (...) for a single q."""
    return np.asarray(np.quantile(values, np.asarray(q, dtype=np.float64), axis=0))


def stuck_share(wrong_probability: np.ndarray, threshold: float = STUCK) -> np.ndarray:
    """Share of runs in which one wrong arm holds more than `threshold` of the probability, values (runs, ...)."""
    return np.asarray((wrong_probability > threshold).mean(axis=0))
