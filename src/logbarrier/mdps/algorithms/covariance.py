"""The covariance of features over all visits, and its inverse, for compiled rules.

`square` holds two m x m matrices, one after the other: G, the sum of covariances, and the inverse of G + I. The inverse is as
old as the last `refresh`. The covariance C of a state is a sum of at most K - 1 products v v'. These roots v are packed:
the places of the entries that are not 0, and their values. So one-hot features cost next to nothing.
"""

from __future__ import annotations

import numpy as np

from ...engine.compiled import compiled


def packed_roots(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places and values (S, r, w) of roots v with C(s) = sum_k v_k v_k', C the covariance of phi(s, .) under uniform actions.

    features (S, K, m) give contrasts of an action with the mean of the actions before it: r is K - 1, less where some are 0
    in every state. w is the most entries of any root that are not 0.
    """
    K = features.shape[1]
    before = np.cumsum(features, axis=1)[:, :-1] / np.arange(1, K)[:, None]
    roots = (features[:, 1:] - before) * np.sqrt(np.arange(1, K) / (K * np.arange(2, K + 1)))[:, None]
    roots = roots[:, (roots != 0.0).any(axis=(0, 2))]
    width = max(int((roots != 0.0).sum(axis=2).max(initial=0)), 1)
    places = np.argsort(roots == 0.0, axis=2, kind="stable")[:, :, :width]
    return np.ascontiguousarray(places), np.ascontiguousarray(np.take_along_axis(roots, places, axis=2))


@compiled
def spread_of(square, m, places, values):
    """tr[C (G + I)^-1] of a state, from its roots."""
    total = 0.0
    for k in range(places.shape[0]):
        for i in range(places.shape[1]):
            row, part = m * m + places[k, i] * m, 0.0
            for j in range(places.shape[1]):
                part += square[row + places[k, j]] * values[k, j]
            total += values[k, i] * part
    return max(total, 0.0)


@compiled
def add_covariance(square, m, places, values):
    """G += C."""
    for k in range(places.shape[0]):
        for i in range(places.shape[1]):
            for j in range(places.shape[1]):
                square[places[k, i] * m + places[k, j]] += values[k, i] * values[k, j]


@compiled
def refresh(square, m):
    """Compute the inverse of G + I; returns tr(G A)/tr(G A^3), A that inverse: a mean of squared numbers of observations.

    It is dominated by the directions that were observed least. Directions that no feature has do not count.
    """
    inverse = np.zeros((m, m))
    for i in range(m):  # Gauss-Jordan on a positive definite matrix needs no pivots
        for j in range(m):
            inverse[i, j] = square[i * m + j]
        inverse[i, i] += 1.0
    for k in range(m):
        pivot = 1.0 / inverse[k, k]
        inverse[k, k] = 1.0
        for j in range(m):
            inverse[k, j] *= pivot
        for i in range(m):
            if i != k:
                factor = inverse[i, k]
                inverse[i, k] = 0.0
                for j in range(m):
                    inverse[i, j] -= factor * inverse[k, j]
    once, twice, thrice = 0.0, 0.0, 0.0  # traces of A, A^2 and A^3; G A = I - A
    for i in range(m):
        once += inverse[i, i]
        for j in range(m):
            square[m * m + i * m + j] = inverse[i, j]
            product = 0.0
            for k in range(m):
                product += inverse[i, k] * inverse[k, j]
            twice += inverse[i, j] * inverse[j, i]
            thrice += product * inverse[j, i]
    return (m - once) / (twice - thrice) if twice > thrice else 0.0
