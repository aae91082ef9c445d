"""Chebyshev fits by mpmath."""

from __future__ import annotations

import mpmath


def highest_first(function, interval, size):
    """The coefficients of a fit, highest power first, which mpmath 1.4 and older ones say in different ways."""
    try:
        return list(reversed(mpmath.chebyfit(function, interval, size, asc=True)))
    except TypeError:
        return list(mpmath.chebyfit(function, interval, size))
