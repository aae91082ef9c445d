"""The theory of the spectral barrier with features, as functions that give both sides.

F(mu) = sum mu g g', g = phi - E_pi phi, h = log det F, b = g' F^-1 g (docs/features.md).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..theory.sides import Sides, equality
from .mdp_points import ANY_SIZE, Chain, MDPInstances, MDPPoints
from .mdp_statements import COMPLEX_STEP, ROUNDING
from .statements import Form, Statement

MOST_FEATURES = 3
SPREAD = 0.15  # how far features are from those that mark one action each


@dataclass(frozen=True)
class FeatureCases(MDPInstances):
    """MDPs with features (n, S, K, m) and features of states (n, S, m)."""

    features: np.ndarray
    of_states: np.ndarray

    def describe(self, index: int) -> dict[str, Any]:
        own = {"features": self.features[index].tolist(), "of_states": self.of_states[index].tolist()}
        return {**super().describe(index), **own}


@dataclass(frozen=True)
class FeaturePoints(MDPPoints):
    """Points with min(S (K - 1), 3) features, so that F has an inverse."""

    def draw(self, generator: np.random.Generator, count: int, size: tuple[int, int], /) -> np.ndarray:
        S, K = size
        bare = super().draw(generator, count, size)
        return np.concatenate([bare, generator.normal(size=(count, (S * K + S) * n_features(size)))], axis=1)

    def decode(self, free: np.ndarray, size: tuple[int, int], /) -> FeatureCases:
        S, K = size
        m = n_features(size)
        cut = free.shape[1] - (S * K + S) * m
        bare = super().decode(free[:, :cut], size)
        features, of_states = np.split(SPREAD * np.tanh(free[:, cut:]), [S * K * m], axis=1)
        known = {field.name: getattr(bare, field.name) for field in fields(bare)}
        marked = np.zeros((S, K, m))  # each feature marks an action of its own, so that F has an inverse
        marked.reshape(S * K, m)[[K * (j // (K - 1)) + 1 + j % (K - 1) for j in range(m)], np.arange(m)] = 1.0
        states = np.eye(S, m) + of_states.reshape(-1, S, m)
        return FeatureCases(**known, features=marked + features.reshape(-1, S, K, m), of_states=states)


def n_features(size: tuple[int, int]) -> int:
    """m for MDPs of S states and K actions."""
    return min(size[0] * (size[1] - 1), MOST_FEATURES)


def centred(x: FeatureCases, mu: np.ndarray) -> np.ndarray:
    """g (n, S, K, m) at measures mu (n, S, K)."""
    policy = mu / mu.sum(axis=2, keepdims=True)
    return np.asarray(x.features - np.einsum("nsa,nsam->nsm", policy, x.features)[:, :, None])


def fisher(x: FeatureCases, mu: np.ndarray) -> np.ndarray:
    """F (n, m, m)."""
    g = centred(x, mu)
    return np.asarray(np.einsum("nsa,nsam,nsak->nmk", mu, g, g))


def bonus(x: FeatureCases, mu: np.ndarray) -> np.ndarray:
    """b (n, S, K)."""
    g = centred(x, mu)
    return np.asarray(np.einsum("nsam,nmk,nsak->nsa", g, np.linalg.inv(fisher(x, mu)), g))


def _log_det(matrices: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.slogdet(matrices)[1])


def _condition(x: FeatureCases, mu: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.cond(fisher(x, mu)))


def matrix_concavity(x: FeatureCases) -> Sides:
    """(F(mu) + F(mu'))/2 <= F((mu + mu')/2) as matrices: the largest eigenvalue of the difference is at most 0."""
    middle = fisher(x, 0.5 * (x.here.mu + x.there.mu))
    ends = 0.5 * (fisher(x, x.here.mu) + fisher(x, x.there.mu))
    size = np.trace(middle, axis1=1, axis2=2)
    return Sides(1.0 + np.linalg.eigvalsh(ends - middle)[:, -1] / size, 1.0, rounding=ROUNDING)


def concavity(x: FeatureCases) -> Sides:
    """h(mu') - h(mu) <= sum (mu' - mu) b = sum mu' b - m: h is concave in mu. As exp(left - right) <= 1."""
    gain = _log_det(fisher(x, x.there.mu)) - _log_det(fisher(x, x.here.mu))
    promised = (x.there.mu * bonus(x, x.here.mu)).sum(axis=(1, 2)) - x.features.shape[3]
    rounding = 1e-15 * _condition(x, x.here.mu) * (1.0 + np.abs(promised))
    return Sides(np.exp(np.clip(gain - promised, -50.0, 50.0)), 1.0, rounding=ROUNDING + rounding)


def bonus_is_the_gradient(x: FeatureCases) -> Sides:
    """dh/dmu = b along a direction; the left side by a complex step in tr F^-1 dF."""
    mu, v = x.here.mu, x.direction * x.here.mu
    moved = fisher(x, mu + 1j * COMPLEX_STEP * v).imag / COMPLEX_STEP
    left = np.einsum("nmk,nkm->n", np.linalg.inv(fisher(x, mu)), moved)
    terms = v * bonus(x, mu)
    return equality(left, terms.sum(axis=(1, 2)), (1.0 + 1e-5 * _condition(x, mu)) * np.abs(terms).sum(axis=(1, 2)))


def bonus_adds_up(x: FeatureCases) -> Sides:
    """sum mu b = m."""
    return equality(
        (x.here.mu * bonus(x, x.here.mu)).sum(axis=(1, 2)), x.features.shape[3], 1.0 + 1e-5 * _condition(x, x.here.mu)
    )


def _reward_of_maximum(x: FeatureCases) -> np.ndarray:
    """R for which theta maximises J + h/eta: lambda - gamma P lambda - b/eta."""
    bare = x.multipliers[..., None] - x.next_values(x.multipliers)
    return np.asarray(bare - bonus(x, x.here.mu) / x.eta[:, None, None])


def bias_and_coverage(x: FeatureCases) -> Sides:
    """eta (J' - J) + sum mu' b <= m for every policy, where theta is the maximum: bias at most m/eta, coverage at most m."""
    m, R = x.features.shape[3], _reward_of_maximum(x)
    terms = x.eta[:, None, None] * (x.there.mu - x.here.mu) * R
    covered = (x.there.mu * bonus(x, x.here.mu)).sum(axis=(1, 2))
    size = np.abs(terms).sum(axis=(1, 2)) + covered
    return Sides(
        terms.sum(axis=(1, 2)) + covered, float(m), rounding=(ROUNDING + 1e-15 * _condition(x, x.here.mu)) * (m + size)
    )


def bias_bound(x: FeatureCases) -> Sides:
    """eta (J' - J) <= m at the maximum, whatever the number of states."""
    m, R = x.features.shape[3], _reward_of_maximum(x)
    terms = x.eta[:, None, None] * (x.there.mu - x.here.mu) * R
    rounding = (ROUNDING + 1e-15 * _condition(x, x.here.mu)) * np.abs(terms).sum(axis=(1, 2))
    return Sides(terms.sum(axis=(1, 2)), float(m), rounding=rounding)


def ridge_dimension(x: FeatureCases) -> Sides:
    """sum mu g' (F + I)^-1 g = m - tr (F + I)^-1: a ridge makes the bound smaller."""
    mu, g = x.here.mu, centred(x, x.here.mu)
    m = x.features.shape[3]
    inverse = np.linalg.inv(fisher(x, mu) + np.eye(m))
    left = np.einsum("nsa,nsam,nmk,nsak->n", mu, g, inverse, g)
    return equality(left, m - np.trace(inverse, axis1=1, axis2=2), 1.0 + m)


def state_part(x: FeatureCases) -> Sides:
    """log det B' - log det B <= sum d' z' B^-1 z - p, B = sum d z z': the part of states alone is concave too."""
    S, p = x.of_states.shape[1:]
    z = x.of_states[..., : min(S, p)]

    def second_moment(chain: Chain) -> np.ndarray:
        return np.asarray(np.einsum("ns,nsm,nsk->nmk", chain.occupancy, z, z))

    B = second_moment(x.here)
    paid = np.einsum("ns,nsm,nmk,nsk->n", x.there.occupancy, z, np.linalg.inv(B), z) - z.shape[2]
    gain = _log_det(second_moment(x.there)) - _log_det(B)
    rounding = ROUNDING + 1e-15 * np.linalg.cond(B) * (1.0 + np.abs(paid))
    return Sides(np.exp(np.clip(gain - paid, -50.0, 50.0)), 1.0, rounding=rounding)


POINTS = FeaturePoints(ANY_SIZE.RANDOM_SIZES, ANY_SIZE.SEARCHED_SIZES)


def _statement(name: str, point: int, form: Form[FeatureCases], **further: Any) -> Statement[FeatureCases]:
    return Statement(name, f"features, point {point}", form, **{"points": POINTS, **further})


STATEMENTS: tuple[Statement[FeatureCases], ...] = (
    _statement("F is matrix-concave", 1, matrix_concavity),
    _statement("log det F is concave", 1, concavity),
    _statement("its gradient is the bonus", 2, bonus_is_the_gradient, equation=True),
    _statement("the bonus adds up to m", 2, bonus_adds_up, equation=True),
    _statement("bias at most m/eta", 3, bias_bound),
    _statement("coverage at most m", 4, bias_and_coverage),
    _statement("state part", 6, state_part),
    _statement("ridge", 6, ridge_dimension, equation=True),
)
