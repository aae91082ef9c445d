"""The covariance of features over all visits, and its inverse, for compiled rules.

`square` holds two m x m matrices, one after the other: G, the sum of covariances, and the inverse of G + I. The inverse is as
old as the last `refresh`. Features are packed: for every state and action the places of the entries that are not 0, and their
values, so that one-hot features cost next to nothing.
"""

from __future__ import annotations

import numpy as np

from ...engine.compiled import compiled


def packed(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places and values (S, K, w) of the entries of features (S, K, m) that are not 0; w is the most of any pair."""
    width = max(int((features != 0.0).sum(axis=2).max()), 1)
    places = np.argsort(features == 0.0, axis=2, kind="stable")[:, :, :width]
    return np.ascontiguousarray(places), np.ascontiguousarray(np.take_along_axis(features, places, axis=2))


@compiled
def product_of(square, m, places, values, a, b):
    """phi_a' (G + I)^-1 phi_b for two actions of a state, places and values (K, w)."""
    total = 0.0
    for i in range(places.shape[1]):
        row = m * m + places[a, i] * m
        part = 0.0
        for j in range(places.shape[1]):
            part += square[row + places[b, j]] * values[b, j]
        total += values[a, i] * part
    return total


@compiled
def spread_of(square, m, places, values):
    """tr[C (G + I)^-1], C the covariance of a state's features under uniform actions."""
    n_actions, own, all_pairs = places.shape[0], 0.0, 0.0
    for a in range(n_actions):
        own += product_of(square, m, places, values, a, a)
        for b in range(n_actions):
            all_pairs += product_of(square, m, places, values, a, b)
    return max((own - all_pairs / n_actions) / n_actions, 0.0)


@compiled
def add_covariance(square, m, places, values):
    """G += C = sum_ab ([a = b] - 1/K) phi_a phi_b'/K."""
    n_actions, width = places.shape
    for a in range(n_actions):
        for b in range(n_actions):
            weight = ((1.0 if a == b else 0.0) - 1.0 / n_actions) / n_actions
            for i in range(width):
                for j in range(width):
                    square[places[a, i] * m + places[b, j]] += weight * values[a, i] * values[b, j]


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
