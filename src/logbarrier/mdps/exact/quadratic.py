"""A concave quadratic on the simplex, by an active set: the inner problem of Newton's method over mixtures."""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-13  # of the largest slope: what is left of a derivative that should be 0


def maximise_on_simplex(bends: np.ndarray, slopes: np.ndarray, start: np.ndarray) -> np.ndarray:
    """x (n,) >= 0, sum 1, that maximises slopes . (x - start) - (x - start)' bends (x - start)/2.

    bends (n, n) is symmetric and positive definite; start is a point of the simplex.

    >>> import numpy as np
    >>> maximise_on_simplex(np.eye(3), np.array([3.0, 0.0, 0.0]), np.full(3, 1 / 3)).tolist()
    [1.0, 0.0, 0.0]
    """
    x, free = start.copy(), (start > 0.0) | (slopes >= slopes.max())
    for _ in range(20 * len(x)):
        inside = np.flatnonzero(free)
        slope = slopes - bends @ (x - start)
        step, price = _step(bends[np.ix_(inside, inside)], slope[inside])
        reach = np.full(len(inside), np.inf)
        reach[step < 0.0] = -x[inside][step < 0.0] / step[step < 0.0]
        length = min(1.0, float(reach.min()))
        x[inside] += length * step
        if length < 1.0:  # one of them has reached 0
            x[inside[reach.argmin()]] = 0.0
            free[inside[reach.argmin()]] = False
            continue
        worth = np.where(free, -np.inf, slopes - bends @ (x - start) - price)
        if worth.max() <= ROUNDING * np.abs(slopes).max():
            break
        free[worth.argmax()] = True
    x = np.maximum(x, 0.0)
    return np.asarray(x / x.sum())


def _step(bends: np.ndarray, slopes: np.ndarray) -> tuple[np.ndarray, float]:
    """The step (n,), sum 0, to the maximum without bounds, and the multiplier of the sum."""
    solved = np.linalg.solve(bends, np.column_stack([slopes, np.ones(len(slopes))]))
    price = solved[:, 0].sum() / solved[:, 1].sum()
    return solved[:, 0] - price * solved[:, 1], float(price)
