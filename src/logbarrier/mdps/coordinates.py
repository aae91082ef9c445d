"""Smooth features of the cells of a grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..base import validate
from ..base.failure import WrongTypeError
from .problem import FiniteMDP

Basis = Callable[[np.ndarray], np.ndarray]


def cosines(x: np.ndarray) -> np.ndarray:
    """cos(pi j x) for j = 0 to 5: (n, 6) from coordinates x (n,) in (0, 1)."""
    return np.asarray(np.cos(np.pi * x[:, None] * np.arange(6)))


def grid_features(mdp: FiniteMDP, basis: Basis = cosines) -> np.ndarray:
    """Return features phi (S, K, m): the products of a basis in the row and in the column of a state's cell.

    They explore large grids faster than counts, since they extrapolate to cells that were not visited.

    mdp    with a grid (`shape`); one row or one column alone gives the basis in the other coordinate
    basis  functions (n, p) of coordinates (n,) in (0, 1): six cosines by default, m = 36

    The products stand at the first action alone. Their covariance under uniform actions is a multiple of z z', z the products,
    as with one copy of z per action, and m is smaller.

    >>> from logbarrier import mdps
    >>> mdps.grid_features(mdps.DeepSea(10)).shape
    (55, 2, 36)
    """
    validate.instance("grid_features", "mdp", mdp, FiniteMDP, "a FiniteMDP; of a family, one of its problems")
    if not callable(basis):
        raise WrongTypeError(f"grid_features: basis must be a function of coordinates, got {basis!r}")
    if mdp.shape is None:
        raise ValueError(f"grid_features: the MDP must have a grid, shape=(rows, columns), got none for {mdp.name}")
    down, right = (
        basis((cell + 0.5) / size) if size > 1 else np.ones((len(cell), 1))
        for cell, size in zip(np.divmod(mdp.states, mdp.shape[1]), mdp.shape, strict=True)
    )
    z = np.einsum("si,sj->sij", down, right).reshape(mdp.n_states, -1)
    return np.concatenate([z[:, None], np.zeros((mdp.n_states, mdp.n_actions - 1, z.shape[1]))], axis=1)
