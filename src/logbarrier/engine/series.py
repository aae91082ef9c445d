"""The composed map of the arms that were not pulled, as a power series kept for eight classes of arms at once.

An arm that is not pulled goes through w -> w exp(-c w) with the same c = drain / total for all. Since the last refresh of
its class it has gone through one composed map

    F(x) = x + k2 x^2 + ... + k7 x^7

where x, its base, is the arm's weight at that refresh. Of each class k = 0 .. 7 the `page` (see classes.py) holds, in lane k,
the coefficients k2 .. k7 and the moments, the sums of x, x^2, .. x^7 over the arms of the class.

Error: while |k2| x <= REACH and |k3| x^2 <= 2 REACH^2 for the heaviest arm, the first term left out of F(x)/x is of order
REACH^7 = 2.3e-13; a class is refreshed before it moves further.
"""

from __future__ import annotations

from .compiled import inlined
from .lanes import HALF, WIDTH, fma, load_half, splat_half, store, with_lane

ORDER = 7
REACH = 1.0 / 64.0
COEFFICIENTS = 0  # where in the page: k2 in 0 .. 7, k3 in 8 .. 15, ...
MOMENTS = COEFFICIENTS + (ORDER - 1) * WIDTH
MASSES = MOMENTS + ORDER * WIDTH


@inlined
def compose(page, half, c):
    """F <- F exp(-c F) in classes half .. half + 3: all terms up to x^7, each coefficient a polynomial in c."""
    k2, k3, k4 = load_half(page, half), load_half(page, half + 8), load_half(page, half + 16)
    k5, k6, k7 = load_half(page, half + 24), load_half(page, half + 32), load_half(page, half + 40)
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
    store(page, half, k2 + c)
    store(page, half + 8, fma(c, fma(c, 0.5, 2.0 * k2), k3))
    store(page, half + 16, fma(c, fma(c, fma(c, 1.0 / 6.0, x4_c2), x4_c1), k4))
    store(page, half + 24, fma(c, fma(c, fma(c, fma(c, 1.0 / 24.0, x5_c3), x5_c2), x5_c1), k5))
    store(page, half + 32, fma(c, fma(c, fma(c, fma(c, fma(c, 1.0 / 120.0, x6_c4), x6_c3), x6_c2), x6_c1), k6))
    x7_high = fma(c, fma(c, fma(c, 1.0 / 720.0, x7_c5), x7_c4), x7_c3)
    store(page, half + 40, fma(c, fma(c, fma(c, x7_high, x7_c2), x7_c1), k7))


@inlined
def class_masses(page, half):
    """The masses of classes half .. half + 3 = sum of F(x) over their arms = P1 + k2 P2 + ... + k7 P7: kept and returned."""
    k2, k3, k4 = load_half(page, half), load_half(page, half + 8), load_half(page, half + 16)
    k5, k6, k7 = load_half(page, half + 24), load_half(page, half + 32), load_half(page, half + 40)
    first = half + MOMENTS
    p1, p2, p3 = load_half(page, first), load_half(page, first + 8), load_half(page, first + 16)
    p4, p5 = load_half(page, first + 24), load_half(page, first + 32)
    p6, p7 = load_half(page, first + 40), load_half(page, first + 48)
    masses = p1 + (fma(k3, p3, k2 * p2) + (fma(k5, p5, k4 * p4) + fma(k7, p7, k6 * p6)))
    store(page, half + MASSES, masses)
    return masses


@inlined
def value_at(page, k, x):
    """F(x) in class k, for a number or lanes."""
    xx = x * x
    high = fma(page[40 + k], x, page[32 + k])
    middle = fma(page[24 + k], x, page[16 + k])
    low = fma(page[8 + k], x, page[k])
    return fma(fma(fma(high, xx, middle), xx, low), xx, x)


@inlined
def base_of(page, k, weight):
    """The x with F(x) = weight in class k.

    F is close to x/(1 - k2 x), whose inverse is weight/(1 + k2 weight); that, corrected for the cubic term, is off by about
    reach^3 times the small part of F that is not x/(1 - k2 x), and one Newton step squares it. As e = k2 weight is at most
    REACH, its quotients are short geometric sums.
    """
    k2, k3 = page[k], page[8 + k]
    e = k2 * weight
    ee = e * e
    x = fma(weight, fma(fma(ee, 1.0 - e, 1.0 - e), ee, -e), weight)
    x -= (k3 - k2 * k2) * weight * weight * weight
    xx = x * x
    k4, k5, k6, k7 = page[16 + k], page[24 + k], page[32 + k], page[40 + k]
    value = fma(fma(fma(k7, x, k6), xx, fma(k5, x, k4)), xx, fma(k3, x, k2))
    slope = x * fma(fma(5.0 * k5, x, 4.0 * k4), xx, fma(3.0 * k3, x, 2.0 * k2))
    slope2 = slope * slope
    return x - (fma(value, xx, x) - weight) * fma(slope2, fma(slope2, 1.0, 1.0 - slope), 1.0 - slope)


@inlined
def reset(page, k):
    """F(x) = x in class k."""
    for j in range(ORDER - 1):
        page[j * WIDTH + k] = 0.0


@inlined
def add_to_moments(page, k, x, sign):
    """Count an arm of base x into class k (sign 1) or out of it (sign -1)."""
    power = x
    for j in range(ORDER):
        page[MOMENTS + j * WIDTH + k] += sign * power
        power *= x


@inlined
def replace_in_moments(page, k, old, new):
    """An arm of class k has another base.

    Half rows are written, as the next step reads them: where only a number was written they would have to wait until that
    is in the cache.
    """
    lane = k % HALF
    power_old, power_new = old, new
    for j in range(ORDER):
        row = MOMENTS + j * WIDTH + k - lane
        store(page, row, load_half(page, row) + with_lane(splat_half(0.0), lane, power_new - power_old))
        power_old *= old
        power_new *= new
