"""Occupancies of many policies on one MDP, compiled: by elimination in a band, or by sweeps that a Krylov method shortens.

Both are precise relative to each occupancy, however small it is, as they subtract nothing:

    elimination  to about 1e-14 (see `mdps.elimination`); its cost grows like S w^2 for states that fit into a band of width w
    sweeps       end when no occupancy changes by more than 1e-13 of itself, which leaves an error of about that times the mean
                 time of a visit, 1e-11 with gamma 0.99; their cost grows with the number of transitions
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..problem import FiniteMDP
from .band import Band, order_of
from .sweeps import Sweeps

LARGEST_BLOCK = 450  # states up to which elimination is the faster one, whatever the transitions
NARROW = 3.0  # a band of at most this times sqrt(S) is narrow: that of a grid is sqrt(S) wide, that of random transitions S

Solver = Callable[[np.ndarray], np.ndarray]


def solver_of(mdp: FiniteMDP) -> Solver:
    """Return the function that computes the occupancy d (S,) of a policy (S, K), by the faster of the two methods.

    >>> from logbarrier import mdps
    >>> river = mdps.RiverSwim(6)
    >>> d = solver_of(river)(river.uniform_policy)
    >>> bool(abs(d / river.occupancy(river.uniform_policy) - 1).max() < 1e-12)
    True
    """
    place, width = order_of(mdp)
    if mdp.n_states <= LARGEST_BLOCK or width <= NARROW * mdp.n_states**0.5:
        return Band(mdp, place, width)
    return Sweeps(mdp)
