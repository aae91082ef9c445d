"""Arms sorted by weight into heavy ones, twelve classes of light ones, and arms too light for float64.

The total weight is between 0.4 and 2.4 units; when it leaves that range, the unit changes by a factor 4 and
each class becomes its neighbour.
    heavy              weight above HEAVY units: few, as their weights sum to at most 2.4 units; each is kept exactly
    class k = 0 .. 11  weight at most HEAVY / 4^k units, kept as a base x with weight F_k(x) (see series.py)
    dead               weight below 1e-250, kept as its logarithm; it does not move while it is there

State of one run, a tuple (bases, arms, page, borders, levels):
    bases, arms (K,)  the light arms, class after class, then the dead: borders[k] .. borders[k + 1] is class k, 12 the dead.
                      An arm changes class by one swap at each border between. bases has room for eight more, so that any
                      may be read eight at a time.
    page              all other numbers in one array: coefficients, moments, masses, tops and ceilings of the classes, scalars,
                      heavy weights; theta = log weight + page[SCALE]
    borders           the borders, the number of heavy arms, and which arms these are
    levels (K,)       scratch, where all arms are written out by arm: a weight, or the (negative) logarithm of a dead one's
"""

from __future__ import annotations

import numpy as np

from ....engine.compiled import compiled, from_python
from ....engine.elementary import exp, log
from ....engine.lanes import WIDTH, first_lanes, lane, lane_sum, lanes_above, load, select_above, splat, store
from .series import CLASSES, MASSES, MOMENTS, ORDER, add_to_moments, base_of, reset, value_at

RATIO = 4.0
HEAVY = 1.0 / 96.0
SMALLEST_TOTAL, LARGEST_TOTAL = 0.4, 0.6 * RATIO  # in units; beyond, the unit changes by a factor RATIO
HEAVY_CAPACITY = 2048  # weights sum to at most 2.4 units, a heavy one is at least HEAVY / 2 or came in since the last look
LIGHTEST = 1e-250
LOG_DEAD = -575.0  # about log(LIGHTEST)
MARGIN = 1.0 / 16.0  # an arm enters a class only if it is this far below the ceiling
SLACK = 2.0 * RATIO  # an arm leaves its class for a lighter one when it is this far below the ceiling

# Places in the page, after those of series.py.
TOPS = MASSES + CLASSES  # the largest base of each class, or above
LIMITS = TOPS + CLASSES  # the ceilings
SQUARES = LIMITS + CLASSES  # of the ceilings
TOTAL = SQUARES + CLASSES  # the sum of all weights
HEAVY_TOTAL, LIGHT_TOTAL, SCALE, UNIT, REFRESHES, REBUILDS, SLOW_STEPS = range(TOTAL + 1, TOTAL + 8)
HEAVY_WEIGHTS = TOTAL + WIDTH  # zero beyond the last
# Places in borders.
N_HEAVY = CLASSES + 2
N_ARMS = N_HEAVY + 1
CAPACITY = N_ARMS + 1
HEAVY_ARMS = CAPACITY + 1


def new_classes(theta: np.ndarray) -> tuple[np.ndarray, ...]:
    """The state of softmax(theta)."""
    n_arms = len(theta)
    capacity = min(n_arms, HEAVY_CAPACITY) + WIDTH
    page = np.zeros(HEAVY_WEIGHTS + capacity + WIDTH)
    page = page[-page.ctypes.data // page.itemsize % WIDTH :]  # no four of a row lie across two cache lines
    borders = np.zeros(HEAVY_ARMS + capacity, dtype=np.int64)
    borders[N_ARMS], borders[CAPACITY] = n_arms, capacity
    state = (np.zeros(n_arms + WIDTH), np.empty(n_arms, dtype=np.int32), page, borders, np.empty(n_arms))
    from_python(from_theta)(state, theta)
    return state


@compiled
def class_for(page, weight):
    """The class a light weight belongs to."""
    k = 0
    while k < CLASSES - 1 and weight <= page[LIMITS + k + 1] * (1.0 - MARGIN):
        k += 1
    return k


@compiled
def set_unit(page, unit):
    """The ceilings for a unit of weight."""
    page[UNIT] = unit
    limit = HEAVY * unit
    for k in range(CLASSES):
        page[LIMITS + k] = limit
        page[SQUARES + k] = limit * limit
        limit /= RATIO


@compiled
def from_theta(state, theta):
    """Sort all arms anew from their preferences."""
    _, _, page, borders, levels = state
    top = theta[0]
    for a in range(borders[N_ARMS]):
        top = max(top, theta[a])
    for a in range(borders[N_ARMS]):
        below = theta[a] - top
        levels[a] = exp(below) if below > LOG_DEAD else below
    page[SCALE] = top
    rebuild(state)


@compiled
def to_theta(state, theta):
    """Preferences (K,) of all arms, up to no constant: theta = log weight + scale."""
    write_levels(state)
    _, _, page, borders, levels = state
    for a in range(borders[N_ARMS]):
        theta[a] = (log(levels[a]) if levels[a] > 0.0 else levels[a]) + page[SCALE]


@compiled
def write_levels(state):
    """Every arm's present level into scratch, by arm."""
    bases, arms, page, borders, levels = state
    for i in range(borders[N_HEAVY]):
        levels[borders[HEAVY_ARMS + i]] = page[HEAVY_WEIGHTS + i]
    for k in range(CLASSES):
        for j in range(borders[k], borders[k + 1]):
            levels[arms[j]] = value_at(page, k, bases[j])
    for j in range(borders[CLASSES], borders[CLASSES + 1]):
        levels[arms[j]] = bases[j]


@compiled
def rebuild(state):
    """Sort all arms anew from the levels in scratch, in units in which they sum to 1."""
    bases, arms, page, borders, levels = state
    n_arms = borders[N_ARMS]
    total = 0.0
    for a in range(n_arms):
        if levels[a] > 0.0:
            total += levels[a]
    log_total = log(total)
    page[SCALE] += log_total
    page[REBUILDS] += 1.0
    unit = 2.6 / (HEAVY * n_arms)  # a ceiling is well above the mean weight, and seldom refreshed: few arms outgrow it
    while unit < 0.5:
        unit *= RATIO
    while unit >= 0.5 * RATIO:
        unit /= RATIO
    set_unit(page, unit)
    counts = np.zeros(CLASSES + 1, dtype=np.int64)
    for a in range(n_arms):
        below = levels[a] - log_total if levels[a] <= 0.0 else 0.0
        if below < 0.0:
            levels[a] = exp(below) if below > LOG_DEAD else below
        else:
            weight = levels[a] / total
            levels[a] = weight if weight > LIGHTEST else log(levels[a]) - log_total
        if levels[a] <= 0.0:
            counts[CLASSES] += 1
        elif levels[a] <= page[LIMITS] * (1.0 - MARGIN):
            counts[class_for(page, levels[a])] += 1
    borders[0] = 0
    for k in range(CLASSES + 1):
        borders[k + 1] = borders[k] + counts[k]
        counts[k] = borders[k]
    borders[N_HEAVY] = 0
    for i in range(borders[CAPACITY]):
        page[HEAVY_WEIGHTS + i] = 0.0
    for i in range(LIMITS):
        page[i] = 0.0
    for a in range(n_arms):
        level = levels[a]
        if level > page[LIMITS] * (1.0 - MARGIN):
            page[HEAVY_WEIGHTS + borders[N_HEAVY]] = level
            borders[HEAVY_ARMS + borders[N_HEAVY]] = a
            borders[N_HEAVY] += 1
            continue
        k = class_for(page, level) if level > 0.0 else CLASSES
        bases[counts[k]] = level
        arms[counts[k]] = a
        counts[k] += 1
    for k in range(CLASSES):
        refresh(state, k)


@compiled
def refresh(state, k):
    """Make the present weights of class k its bases, sum up its moments and top; returns the smallest base."""
    bases, _, page, borders, _ = state
    p1, p2, p3, p4 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
    p5, p6, p7, top, low = splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(1.0)
    for j in range(borders[k], borders[k + 1], WIDTH):
        old, here = load(bases, j), borders[k + 1] - j
        new = value_at(page, k, old)
        store(bases, j, first_lanes(new, here, old))
        x = first_lanes(new, here, 0.0)
        xx = x * x
        x3 = xx * x
        x4 = xx * xx
        p1, p2, p3, p4 = p1 + x, p2 + xx, p3 + x3, p4 + x4
        p5, p6, p7 = p5 + x4 * x, p6 + x4 * xx, p7 + x4 * x3
        top, low = select_above(x, top, x, top), select_above(low, new, first_lanes(new, here, low), low)
    sums = (lane_sum(p1), lane_sum(p2), lane_sum(p3), lane_sum(p4), lane_sum(p5), lane_sum(p6), lane_sum(p7))
    for i in range(ORDER):
        page[MOMENTS + i * CLASSES + k] = sums[i]
    largest, smallest = 0.0, 1.0
    for i in range(WIDTH):
        largest, smallest = max(largest, lane(top, i)), min(smallest, lane(low, i))
    page[TOPS + k] = largest
    reset(page, k)
    return smallest


@compiled
def step_exactly(state, k, c):
    """Take a step too large for the series: w -> w exp(-c w) in class k, arm by arm."""
    bases, _, page, borders, _ = state
    for j in range(borders[k], borders[k + 1], WIDTH):
        old = load(bases, j)
        weight = value_at(page, k, old)
        store(bases, j, first_lanes(weight * exp(weight * -c), borders[k + 1] - j, old))
    reset(page, k)


@compiled
def resettle(state, k):
    """Refresh class k and move the arms that no longer belong to it."""
    bases, arms, page, borders, _ = state
    page[REFRESHES] += 1.0
    smallest = refresh(state, k)
    limit = page[LIMITS + k]
    floor = limit / SLACK if k < CLASSES - 1 else LIGHTEST
    again = page[TOPS + k] > limit or smallest < floor
    while again:
        again = False
        j = borders[k + 1]
        while j > borders[k]:  # from the end: a removal fills the hole with an arm already seen
            if j - WIDTH >= borders[k]:
                eight = load(bases, j - WIDTH)
                if lanes_above(eight, limit) | lanes_above(floor, eight) == 0:
                    j -= WIDTH
                    continue
            j -= 1
            weight = bases[j]
            if weight > limit or weight < floor:
                arm = arms[j]
                remove(state, k, j)
                insert(state, arm, weight)
                again = again or weight > limit  # going up shifts this class by one arm, which is then not yet seen


@compiled
def remove(state, k, position):
    """Take the arm at a position out of class k; the hole wanders to the end, one arm a class."""
    bases, arms, page, borders, _ = state
    if k < CLASSES:
        if borders[k + 1] - borders[k] == 1:
            for i in range(ORDER):
                page[MOMENTS + i * CLASSES + k] = 0.0
        else:
            add_to_moments(page, k, bases[position], -1.0)
    hole = position
    for border in range(k + 1, CLASSES + 2):
        last = borders[border] - 1
        bases[hole], arms[hole] = bases[last], arms[last]
        hole = last
        borders[border] -= 1


@compiled
def insert(state, arm, weight):
    """Put an arm of a present weight (or, if negative, a logarithm) where it belongs."""
    page, borders = state[2], state[3]
    if weight > page[LIMITS] * (1.0 - MARGIN):
        page[HEAVY_WEIGHTS + borders[N_HEAVY]], borders[HEAVY_ARMS + borders[N_HEAVY]] = weight, arm
        borders[N_HEAVY] += 1
        return
    if weight > LIGHTEST:
        k = class_for(page, weight)
        insert_light(state, k, arm, base_of(page, k, weight))
    else:
        insert_light(state, CLASSES, arm, log(weight) if weight > 0.0 else weight)


@compiled
def insert_light(state, k, arm, base):
    """Put an arm into class k (12: the dead) with a base; a hole wanders there from the end, one arm a class."""
    bases, arms, page, borders, _ = state
    hole = borders[CLASSES + 1]
    for border in range(CLASSES + 1, k + 1, -1):
        first = borders[border - 1]
        bases[hole], arms[hole] = bases[first], arms[first]
        borders[border] += 1
        hole = first
    borders[k + 1] += 1
    bases[hole], arms[hole] = base, arm
    if k < CLASSES:
        add_to_moments(page, k, base, 1.0)
        page[TOPS + k] = max(page[TOPS + k], base)


@compiled
def remove_heavy(state, i):
    """Take heavy arm number i out."""
    page, borders = state[2], state[3]
    last = borders[N_HEAVY] - 1
    page[HEAVY_WEIGHTS + i], borders[HEAVY_ARMS + i] = page[HEAVY_WEIGHTS + last], borders[HEAVY_ARMS + last]
    page[HEAVY_WEIGHTS + last] = 0.0
    borders[N_HEAVY] = last


@compiled
def demote_light_heavies(state):
    """Heavy arms that fell well below the border go to their classes."""
    page, borders = state[2], state[3]
    for i in range(borders[N_HEAVY] - 1, -1, -1):
        if page[HEAVY_WEIGHTS + i] < page[LIMITS] * 0.5:
            arm, weight = borders[HEAVY_ARMS + i], page[HEAVY_WEIGHTS + i]
            remove_heavy(state, i)
            insert(state, arm, weight)


@compiled
def change_unit(state):
    """Make the unit follow the total by factors of RATIO: the classes move up or down by one, hardly an arm is touched."""
    page = state[2]
    while page[TOTAL] < SMALLEST_TOTAL * page[UNIT]:
        shift_up(state)
    while page[TOTAL] > LARGEST_TOTAL * page[UNIT]:
        shift_down(state)
    if not 2.0**-150 < page[UNIT] < 2.0**150:
        write_levels(state)
        rebuild(state)


@compiled
def shift_up(state):
    """The unit shrinks: class k + 1 becomes class k; the arms of class 0 are placed anew, most of them as heavy ones."""
    bases, arms, page, borders, levels = state
    moved = borders[1]
    for j in range(moved):  # the arms of class 0 wait in scratch, by place
        levels[j] = value_at(page, 0, bases[j])
    waiting = np.empty(moved, dtype=np.int64)
    for j in range(moved):
        waiting[j] = arms[j]
    while borders[1] > 0:
        remove(state, 0, borders[1] - 1)
    for k in range(CLASSES):
        borders[k] = borders[k + 1]
    for row in range(0, LIMITS, CLASSES):
        for k in range(CLASSES - 1):
            page[row + k] = page[row + k + 1]
        page[row + CLASSES - 1] = 0.0
    set_unit(page, page[UNIT] / RATIO)
    for j in range(moved):
        insert(state, waiting[j], levels[j])


@compiled
def shift_down(state):
    """The unit grows: class k becomes class k + 1, the two lightest are joined, and light heavy arms leave."""
    page, borders = state[2], state[3]
    refresh(state, CLASSES - 2)
    refresh(state, CLASSES - 1)
    for k in range(CLASSES - 1, 0, -1):
        borders[k] = borders[k - 1]
    for row in range(0, LIMITS, CLASSES):
        for k in range(CLASSES - 1, 0, -1):
            page[row + k] = page[row + k - 1]
        page[row] = 0.0
    reset(page, CLASSES - 1)
    refresh(state, CLASSES - 1)
    set_unit(page, page[UNIT] * RATIO)
    demote_light_heavies(state)
