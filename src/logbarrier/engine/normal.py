"""The standard normal distribution from IEEE operations alone; on numbers or `Lanes`.

Its quantiles are `random.standard_normal`.
"""

from __future__ import annotations

from .codegen.lanes import fma, select_above
from .compiled import inlined
from .elementary import exp

FARTHEST = 40.0  # beyond, density and tail are 0 in float64
_INVERSE_ROOT_TWO_PI = 0.3989422804014327
_CENTRE = 4.0

# Chebyshev fit of (1 + x) tail(x)/density(x) in s = (x - 4)/(x + 4), 0 <= x <= 40, highest power first; relative error 1e-16.
_MILLS = (1.0260423394968977e-08, 3.042406221979518e-08, -4.473795176800698e-08, -2.569481134591266e-07,
          2.480176190022868e-09, 1.365137376784674e-06, 1.0124126448839707e-06, -6.539610748492043e-06,
          -8.601873418613353e-06, 3.415405971644218e-05, 5.326545368105833e-05, -0.00022021451979073063,
          -0.00023670144157147082, 0.001741848628397114, -0.0007159509434755352, -0.012539103608899841,
          0.04495912907948105, -0.08070800967950421, 0.07169048120137195, 0.03509188023475447,
          -0.24239967052180764, 1.1832619145678034)  # fmt: skip


@inlined
def distribution_and_density(z):
    """(P(Z <= z), density at z), each within a few units in the last place; 0 below z = -37.6.

    The tail beyond |z| is the density times Mills' ratio, which is smooth, so one polynomial serves every z.
    """
    x = abs(z)
    x = select_above(x, FARTHEST, FARTHEST, x)
    s = (x - _CENTRE) / (x + _CENTRE)
    mills = fma(_MILLS[0], s, _MILLS[1])
    for i in range(2, 22):
        mills = fma(mills, s, _MILLS[i])
    square = x * x
    lost = fma(x, x, 0.0 - square)  # by rounding the square: exp would magnify it
    density = exp(-0.5 * square) * fma(-0.5, lost, 1.0) * _INVERSE_ROOT_TWO_PI
    tail = density * mills / (x + 1.0)
    return select_above(z, 0.0, 1.0 - tail, tail), density
