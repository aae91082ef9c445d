"""The slope of log pulls against log 1/epsilon, with a bootstrap interval over runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..statistics import LEVEL, percentile_interval
from .first_passage import first_passage

FEWEST_POINTS = 3
RESAMPLES = 1000


@dataclass(frozen=True)
class Slope:
    """x in pulls ~ epsilon^-x.

    value      least squares over the accuracies that were reached; None if fewer than three were
    low, high  95 % percentile bootstrap over runs; None where more than one resample in twenty reaches fewer than three
    """

    value: float | None
    low: float | None
    high: float | None


def fitted_slope(epsilons: np.ndarray, pulls: np.ndarray) -> np.ndarray:
    """Least-squares slopes (...) of log pulls (..., E) on log 1/epsilons (E,), nan left out; nan for fewer than three points.

    >>> fitted_slope(np.array([0.1, 0.01, 0.001]), np.array([1e2, 1e4, 1e6])).round(9)
    np.float64(2.0)
    """
    reached = np.isfinite(pulls)
    count = np.maximum(reached.sum(axis=-1, keepdims=True), 1)
    x = np.where(reached, -np.log(epsilons), 0.0)
    y = np.where(reached, np.log(np.where(reached, pulls, 1.0)), 0.0)
    x = np.where(reached, x - x.sum(axis=-1, keepdims=True) / count, 0.0)
    enough = reached.sum(axis=-1) >= FEWEST_POINTS
    spread = np.where(enough, (x * x).sum(axis=-1), 1.0)
    return np.where(enough, (x * y).sum(axis=-1) / spread, np.nan)[()]


def slope_of_runs(steps: np.ndarray, curves: Sequence[np.ndarray], epsilons: np.ndarray, weights: np.ndarray) -> Slope:
    """The slope of the mean curves' first passages, one array (runs, C) at `steps` (C,) for each epsilon (E,).

    weights (resamples, runs): run number i of every accuracy sees the same random numbers, so runs are resampled together.
    An array that serves several accuracies is resampled once.
    """
    resampled = {id(curve): weights @ curve for curve in curves}
    point = np.array([first_passage(steps, curve.mean(axis=0), e) for curve, e in zip(curves, epsilons, strict=True)])
    again = [first_passage(steps, resampled[id(curve)], e) for curve, e in zip(curves, epsilons, strict=True)]
    value = fitted_slope(epsilons, point)
    if np.isnan(value):
        return Slope(None, None, None)
    slopes = fitted_slope(epsilons, np.stack(again, axis=-1))
    known = slopes[np.isfinite(slopes)]
    if len(known) < LEVEL * len(slopes):
        return Slope(float(value), None, None)
    low, high = percentile_interval(known)
    return Slope(float(value), float(low), float(high))
