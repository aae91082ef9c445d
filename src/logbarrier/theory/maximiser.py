"""Where LB-SGB is heading: the maximiser of Phi_eta, exact up to one scalar root.

Setting grad Phi_eta to zero gives p(a) = 1/(K + eta (J - r(a))). With g(a) = r* - r(a) and the one unknown
d = K - eta (r* - J) = 1/p(a*) this is p(a) = 1/(d + eta g(a)). d in [1, K] is the root of sum_a p(a) = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base import validate


@dataclass(frozen=True)
class Maximiser:
    """The maximiser of Phi_eta and what it means.

    policy                p (K,); theta = log p is one maximising parameter
    performance           J there
    plateau               p(a*): the level an LB-SGB curve settles at
    bias                  J* - J, at most (K - 1)/eta
    smallest_probability  min_a p(a): how much exploration is left for ever
    """

    policy: np.ndarray
    performance: float
    plateau: float
    bias: float
    smallest_probability: float


def maximiser(means: Any, eta: float) -> Maximiser:
    """The maximiser of Phi_eta for mean rewards (K,).

    >>> import numpy as np
    >>> best = maximiser([1.0, 0.9, *np.linspace(-1, 0.8, 8)], eta=1000)
    >>> round(best.plateau, 2), best.bias <= 9 / 1000
    (0.98, True)
    """
    checked = validate.vector("maximiser", "means", means)
    policy = maximising_policy(checked, validate.positive("maximiser", "eta", eta))
    gaps = checked.max() - checked
    bias = float(policy @ gaps)
    return Maximiser(
        policy=policy,
        performance=float(checked.max() - bias),
        plateau=float(policy[np.argmax(checked)]),
        bias=bias,
        smallest_probability=float(policy.min()),
    )


def maximising_policy(means: np.ndarray, eta: Any) -> np.ndarray:
    """The policy that maximises Phi_eta, (..., K), for a stack of mean rewards (..., K) and eta (...).

    f(d) = sum_a 1/(d + eta g(a)) - 1 falls and is convex, and f(1) >= 0, so Newton's steps from d = 1 climb to the root.
    """
    scaled = (np.max(means, axis=-1, keepdims=True) - means) * np.asarray(eta)[..., None]
    d = np.ones_like(scaled[..., :1])
    while True:
        p = 1.0 / (d + scaled)
        further = d + (p.sum(axis=-1, keepdims=True) - 1.0) / (p * p).sum(axis=-1, keepdims=True)
        if not (further > d * (1.0 + 4e-16)).any():
            return np.asarray(p / p.sum(axis=-1, keepdims=True))
        d = np.maximum(further, d)
