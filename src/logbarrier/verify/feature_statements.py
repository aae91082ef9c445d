"""The theory of the spectral barrier with features, as functions that give both sides: points 1 to 4 and 6."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..theory.sides import Sides, equality
from . import feature_limits as limits
from .feature_points import BANDITS, FEWER, POINTS, FeatureCases, bonus, centred, condition, fisher, log_det
from .mdp_points import Chain
from .mdp_statements import COMPLEX_STEP, ROUNDING
from .statements import Form, Statement


def fisher_of_the_class(x: FeatureCases) -> Sides:
    """F is the Fisher matrix of softmax(w . phi): -E[d^2 log pi] along v is v' F v. The left side by a complex step."""
    w, v = limits.weights(x, x.theta), limits.weights(x, x.direction)
    moved = x.chain(np.einsum("nsam,nm->nsa", x.features, w + 1j * COMPLEX_STEP * v))
    here = x.chain(np.einsum("nsam,nm->nsa", x.features, w))
    score = x.features - np.einsum("nsa,nsam->nsm", moved.policy, x.features)[:, :, None]
    left = -np.einsum("nsa,nsam,nm->n", here.mu, score.imag / COMPLEX_STEP, v)
    size = np.einsum("nsa,nsam,nm->n", here.mu, x.features**2, v**2)
    return equality(left, np.einsum("nm,nmk,nk->n", v, fisher(x, here.mu), v), x.features.shape[3] * size)


def matrix_concavity(x: FeatureCases) -> Sides:
    """(F(mu) + F(mu'))/2 <= F((mu + mu')/2) as matrices: the largest eigenvalue of the difference is at most 0."""
    middle = fisher(x, 0.5 * (x.here.mu + x.there.mu))
    ends = 0.5 * (fisher(x, x.here.mu) + fisher(x, x.there.mu))
    size = np.trace(middle, axis1=1, axis2=2)
    return Sides(1.0 + np.linalg.eigvalsh(ends - middle)[:, -1] / size, 1.0, rounding=ROUNDING)


def concavity(x: FeatureCases) -> Sides:
    """h(mu') - h(mu) <= sum (mu' - mu) b = sum mu' b - m: h is concave in mu. As exp(left - right) <= 1."""
    gain = log_det(fisher(x, x.there.mu)) - log_det(fisher(x, x.here.mu))
    promised = (x.there.mu * bonus(x, x.here.mu)).sum(axis=(1, 2)) - x.features.shape[3]
    rounding = 1e-15 * condition(x, x.here.mu) * (1.0 + np.abs(promised))
    return Sides(np.exp(np.clip(gain - promised, -50.0, 50.0)), 1.0, rounding=ROUNDING + rounding)


def bonus_is_the_gradient(x: FeatureCases) -> Sides:
    """dh/dmu = b along a direction; the left side by a complex step in tr F^-1 dF."""
    mu, v = x.here.mu, x.direction * x.here.mu
    moved = fisher(x, mu + 1j * COMPLEX_STEP * v).imag / COMPLEX_STEP
    left = np.einsum("nmk,nkm->n", np.linalg.inv(fisher(x, mu)), moved)
    terms = v * bonus(x, mu)
    return equality(left, terms.sum(axis=(1, 2)), (1.0 + 1e-5 * condition(x, mu)) * np.abs(terms).sum(axis=(1, 2)))


def bonus_adds_up(x: FeatureCases) -> Sides:
    """sum mu b = m."""
    return equality(
        (x.here.mu * bonus(x, x.here.mu)).sum(axis=(1, 2)), x.features.shape[3], 1.0 + 1e-5 * condition(x, x.here.mu)
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
    return Sides(terms.sum(axis=(1, 2)) + covered, float(m), rounding=(ROUNDING + 1e-15 * condition(x, x.here.mu)) * (m + size))


def bias_bound(x: FeatureCases) -> Sides:
    """eta (J' - J) <= m at the maximum, whatever the number of states."""
    m, R = x.features.shape[3], _reward_of_maximum(x)
    terms = x.eta[:, None, None] * (x.there.mu - x.here.mu) * R
    rounding = (ROUNDING + 1e-15 * condition(x, x.here.mu)) * np.abs(terms).sum(axis=(1, 2))
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
    gain = log_det(second_moment(x.there)) - log_det(B)
    rounding = ROUNDING + 1e-15 * np.linalg.cond(B) * (1.0 + np.abs(paid))
    return Sides(np.exp(np.clip(gain - paid, -50.0, 50.0)), 1.0, rounding=rounding)


def _statement(name: str, point: int, form: Form[FeatureCases], **further: Any) -> Statement[FeatureCases]:
    return Statement(name, f"features, point {point}", form, **{"points": POINTS, **further})


STATEMENTS: tuple[Statement[FeatureCases], ...] = (
    _statement("F is matrix-concave", 1, matrix_concavity),
    _statement("log det F is concave", 1, concavity),
    _statement("F is the Fisher matrix", 1, fisher_of_the_class, equation=True),
    _statement("its gradient is the bonus", 2, bonus_is_the_gradient, equation=True),
    _statement("the bonus adds up to m", 2, bonus_adds_up, equation=True),
    _statement("bias at most m/eta", 3, bias_bound),
    _statement("coverage at most m", 4, bias_and_coverage),
    _statement(
        "maxima interior, or anywhere", 5, limits.interior_maximum, corrected=limits.maximum_on_the_boundary, points=FEWER
    ),
    _statement(
        "local maxima global, or in mu", 5, limits.local_maximum_of_the_class, corrected=limits.maximum_in_mu, points=FEWER
    ),
    _statement("state part", 6, state_part),
    _statement("sum form is concave", 6, limits.sum_form),
    _statement("sum form: bonus 2 p (K - 1)", 6, limits.sum_form_adds_up, equation=True),
    _statement("ridge", 6, ridge_dimension, equation=True),
    _statement(
        "layers below, or the last", 7, limits.gradient_of_layer_below, corrected=limits.gradient_of_last_layer, equation=True
    ),
    _statement("one state: bias at most m/eta", 8, bias_bound, points=BANDITS),
    _statement("one state, one-hot: log barrier", 8, limits.one_hot_is_the_log_barrier, equation=True, points=BANDITS),
)
