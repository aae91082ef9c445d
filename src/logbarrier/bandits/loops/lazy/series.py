"""The composed map of the arms that were not pulled, as a power series kept for each of twelve classes of arms.

An arm that is not pulled goes through w -> w exp(-c w) with the same c = drain / total for all. Since the last refresh of
its class it has gone through one composed map

    F(x) = x + k2 x^2 + ... + k7 x^7

where x, its base, is the arm's weight at that refresh. Of each class k = 0 .. 11 `numbers` (see layout.py) holds, in place k
of a row each, the coefficients k2 .. k7 and the moments, the sums of x, x^2, .. x^7 over the arms of the class.

Error: while |k2| x <= REACH and |k3| x^2 <= 2 REACH^2 for the heaviest arm, the first term left out of F(x)/x is of order
REACH^7 = 2.3e-13. A class is refreshed before it moves further.
"""

from __future__ import annotations

from ....engine.codegen.lane_access import load_half, splat_half, store, with_lane
from ....engine.codegen.lanes import HALF, fma
from ....engine.compiled import inlined
from .layout import (
    CLASSES,
    K2,
    K3,
    K4,
    K5,
    K6,
    K7,
    MASSES,
    MOMENTS,
    ORDER,
    P1,
    P2,
    P3,
    P4,
    P5,
    P6,
    P7,
)

REACH = 1.0 / 64.0


@inlined
def compose(numbers, first, c):
    """F <- F exp(-c F) in classes first .. first + 3: all terms up to x^7, each coefficient a polynomial in c."""
    k2, k3, k4 = load_half(numbers, K2 + first), load_half(numbers, K3 + first), load_half(numbers, K4 + first)
    k5, k6, k7 = load_half(numbers, K5 + first), load_half(numbers, K6 + first), load_half(numbers, K7 + first)
    c = splat_half(-c)
    k22, k23 = k2 * k2, k2 * k3
    # the coefficients of F^2 / 1!, F^3 / 2!, F^4 / 3!, F^5 / 4!, F^6 / 5! that each power of x receives
    x4_c1, x4_c2 = fma(2.0, k3, k22), 1.5 * k2
    x5_c1, x5_c2, x5_c3 = 2.0 * (k4 + k23), 1.5 * (k3 + k22), (2.0 / 3.0) * k2
    x6_c1 = fma(2.0, fma(k2, k4, k5), k3 * k3)
    x6_c2 = fma(1.5, k4, fma(3.0, k23, 0.5 * k22 * k2))
    x6_c3, x6_c4 = fma(2.0 / 3.0, k3, k22), (5.0 / 24.0) * k2
    x7_c1 = 2.0 * fma(k3, k4, fma(k2, k5, k6))
    x7_c2 = 1.5 * (fma(k3, k3, k5) + fma(2.0 * k2, k4, k22 * k3))
    x7_c3, x7_c4, x7_c5 = fma(2.0 / 3.0, fma(k22, k2, k4), 2.0 * k23), (5.0 / 24.0) * fma(2.0, k22, k3), 0.05 * k2
    store(numbers, K2 + first, k2 + c)
    store(numbers, K3 + first, fma(c, fma(c, 0.5, 2.0 * k2), k3))
    store(numbers, K4 + first, fma(c, fma(c, fma(c, 1.0 / 6.0, x4_c2), x4_c1), k4))
    store(numbers, K5 + first, fma(c, fma(c, fma(c, fma(c, 1.0 / 24.0, x5_c3), x5_c2), x5_c1), k5))
    store(numbers, K6 + first, fma(c, fma(c, fma(c, fma(c, fma(c, 1.0 / 120.0, x6_c4), x6_c3), x6_c2), x6_c1), k6))
    x7_high = fma(c, fma(c, fma(c, 1.0 / 720.0, x7_c5), x7_c4), x7_c3)
    store(numbers, K7 + first, fma(c, fma(c, fma(c, x7_high, x7_c2), x7_c1), k7))


@inlined
def class_masses(numbers, first):
    """The masses of classes first .. first + 3 = sum of F(x) over their arms = P1 + k2 P2 + ... + k7 P7: kept and returned."""
    k2, k3, k4 = load_half(numbers, K2 + first), load_half(numbers, K3 + first), load_half(numbers, K4 + first)
    k5, k6, k7 = load_half(numbers, K5 + first), load_half(numbers, K6 + first), load_half(numbers, K7 + first)
    p1, p2, p3 = load_half(numbers, P1 + first), load_half(numbers, P2 + first), load_half(numbers, P3 + first)
    p4, p5 = load_half(numbers, P4 + first), load_half(numbers, P5 + first)
    p6, p7 = load_half(numbers, P6 + first), load_half(numbers, P7 + first)
    masses = p1 + (fma(k3, p3, k2 * p2) + (fma(k5, p5, k4 * p4) + fma(k7, p7, k6 * p6)))
    store(numbers, MASSES + first, masses)
    return masses


@inlined
def value_at(numbers, k, x):
    """F(x) in class k, for a number or lanes."""
    xx = x * x
    high = fma(numbers[K7 + k], x, numbers[K6 + k])
    middle = fma(numbers[K5 + k], x, numbers[K4 + k])
    low = fma(numbers[K3 + k], x, numbers[K2 + k])
    return fma(fma(fma(high, xx, middle), xx, low), xx, x)


@inlined
def base_of(numbers, k, weight):
    """The x with F(x) = weight in class k.

    F is close to x/(1 - k2 x), whose inverse is weight/(1 + k2 weight). Corrected for the cubic term, the inverse is off by
    about reach^3 times the small part of F that is not x/(1 - k2 x). One Newton step squares that error. As e = k2 weight is
    at most REACH, its quotients are short geometric sums.
    """
    k2, k3 = numbers[K2 + k], numbers[K3 + k]
    e = k2 * weight
    ee = e * e
    x = fma(weight, fma(fma(ee, 1.0 - e, 1.0 - e), ee, -e), weight)
    x -= (k3 - k2 * k2) * weight * weight * weight
    xx = x * x
    k4, k5, k6, k7 = numbers[K4 + k], numbers[K5 + k], numbers[K6 + k], numbers[K7 + k]
    value = fma(fma(fma(k7, x, k6), xx, fma(k5, x, k4)), xx, fma(k3, x, k2))
    slope = x * fma(fma(5.0 * k5, x, 4.0 * k4), xx, fma(3.0 * k3, x, 2.0 * k2))
    slope2 = slope * slope
    return x - (fma(value, xx, x) - weight) * fma(slope2, fma(slope2, 1.0, 1.0 - slope), 1.0 - slope)


@inlined
def reset(numbers, k):
    """F(x) = x in class k."""
    for j in range(ORDER - 1):
        numbers[j * CLASSES + k] = 0.0


@inlined
def add_to_moments(numbers, k, x, sign):
    """Count an arm of base x into class k (sign 1) or out of it (sign -1)."""
    power = x
    for j in range(ORDER):
        numbers[MOMENTS + j * CLASSES + k] += sign * power
        power *= x


@inlined
def replace_in_moments(numbers, k, old, new):
    """An arm of class k has another base.

    Half rows are written, as the next step reads them: where only a number was written they would have to wait until that
    is in the cache.
    """
    lane = k % HALF
    power_old, power_new = old, new
    for j in range(ORDER):
        row = MOMENTS + j * CLASSES + k - lane
        store(numbers, row, load_half(numbers, row) + with_lane(splat_half(0.0), lane, power_new - power_old))
        power_old *= old
        power_new *= new
