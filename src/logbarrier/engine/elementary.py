"""exp and log from IEEE operations alone, so that their bits are the same on every machine.

Both take numbers or `Lanes`. Accuracy is within 2 units in the last place (tests compare with 50-digit arithmetic).
"""

from __future__ import annotations

from .codegen.lanes import exponent_of, fma, mantissa_of, select_above, times_power_of_two
from .compiled import inlined

ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer, held in the low bits
LOG2_E = 1.4426950408889634
LN2_HIGH = 0.6931471803691238  # the leading bits of log 2: n * LN2_HIGH is exact
LN2_LOW = 1.9082149292705877e-10
SQRT2 = 1.4142135623730951
EXP_LOWEST = -708.0  # below, exp gives 0; the result would soon stop being a normal number
EXP_HIGHEST = 709.0  # above, exp stays at exp(709) = 8.2e307

# Chebyshev fit of exp on [-log(2)/2, log(2)/2], highest power first; relative error 3e-18 before rounding.
_E11, _E10, _E9, _E8 = 2.5110037605963777e-08, 2.763263963904103e-07, 2.755724091857897e-06, 2.4801485482328494e-05
_E7, _E6, _E5, _E4 = 0.00019841269890047113, 0.0013888888952314775, 0.008333333333319601, 0.0416666666664881
_E3, _E2 = 0.1666666666666668, 0.5000000000000019


@inlined
def exp(x):
    """exp(x), 0 for x <= -708 and exp(709) for x >= 709: never infinite, never denormal."""
    y = select_above(x, EXP_LOWEST, x, EXP_LOWEST)
    y = select_above(y, EXP_HIGHEST, EXP_HIGHEST, y)
    return select_above(x, EXP_LOWEST, moderate_exp(y), 0.0)


@inlined
def moderate_exp(x):
    """exp(x) for -708 < x <= 709, to the bit what exp gives.

    x = n log 2 + r with |r| <= log(2)/2, so exp(x) = 2**n exp(r), a polynomial in r.
    """
    shifted = fma(x, LOG2_E, ROUND)
    n = shifted - ROUND
    return times_power_of_two(small_exp(fma(n, -LN2_LOW, fma(n, -LN2_HIGH, x))), shifted)


@inlined
def small_exp(r):
    """exp(r) for |r| <= log(2)/2, to the bit what exp gives."""
    r2 = r * r  # in pairs, then pairs of pairs: shorter chains than one power after the other
    r4 = r2 * r2
    low = fma(fma(_E3, r, _E2), r2, r + 1.0)
    middle = fma(fma(_E7, r, _E6), r2, fma(_E5, r, _E4))
    high = fma(fma(_E11, r, _E10), r2, fma(_E9, r, _E8))
    return fma(fma(high, r4, middle), r4, low)


@inlined
def log(x):
    """log(x) for a normal x > 0.

    x = 2**n m with m in [1/sqrt 2, sqrt 2), s = (m - 1)/(m + 1), log x = n log 2 + 2 (s + s^3/3 + s^5/5 + ...).
    """
    m = mantissa_of(x)  # in [1, 2)
    n = exponent_of(x)
    n = select_above(m, SQRT2, n + 1.0, n)
    m = select_above(m, SQRT2, m * 0.5, m)
    f = m - 1.0
    s = f / (m + 1.0)
    z = s * s
    p = fma(fma(fma(1 / 23, z, 1 / 21), z, 1 / 19), z, 1 / 17)
    p = fma(fma(fma(p, z, 1 / 15), z, 1 / 13), z, 1 / 11)
    p = fma(fma(fma(p, z, 1 / 9), z, 1 / 7), z, 1 / 5)
    p = fma(p, z, 1 / 3) * z
    # 2 s = f - s f, so log m = f - s (f - 2 p): the large term stays exact
    return fma(n, LN2_HIGH, f - (s * (f - 2.0 * p) - n * LN2_LOW))
