"""The state of the lazy engine: which number lies where.

Arms are sorted by weight into heavy ones, twelve classes of light ones, and arms too light for float64. The total weight is
between 0.4 and 2.4 units; when it leaves that range, the unit changes by a factor 4 and each class becomes its neighbour.
    heavy              weight above HEAVY units: few, as their weights sum to at most 2.4 units; each is kept exactly
    class k = 0 .. 11  weight at most HEAVY / 4^k units, kept as a base x with weight F_k(x) (see series.py)
    dead               weight below 1e-250, kept as its logarithm; it does not move while it is there
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....engine.codegen.lanes import WIDTH
from ....engine.codegen.pointers import pointer_to
from ....engine.compiled import inlined

CLASSES = 12
ORDER = 7  # of the series
RATIO = 4.0  # of the ceilings of two classes side by side
HEAVY = 1.0 / 96.0
SMALLEST_TOTAL, LARGEST_TOTAL = 0.4, 0.6 * RATIO  # in units; beyond, the unit changes by a factor RATIO
HEAVY_CAPACITY = 2048  # weights sum to at most 2.4 units, a heavy one is at least HEAVY / 2 or came in since the last look
LIGHTEST = 1e-250
LOG_DEAD = -575.0  # about log(LIGHTEST)

# Places in `numbers`: rows with a number for each class, then scalars, then the heavy weights.
K2, K3, K4, K5, K6, K7 = (row * CLASSES for row in range(ORDER - 1))  # coefficients of the series
MOMENTS = K7 + CLASSES
P1, P2, P3, P4, P5, P6, P7 = (MOMENTS + row * CLASSES for row in range(ORDER))  # sums of x, x^2, .. x^7 over the arms
MASSES = P7 + CLASSES  # the weight of each class
TOPS = MASSES + CLASSES  # the largest base of each class, or above
LIMITS = TOPS + CLASSES  # the ceilings
SQUARES = LIMITS + CLASSES  # of the ceilings
TOTAL = SQUARES + CLASSES  # the sum of all weights
HEAVY_TOTAL, LIGHT_TOTAL, SCALE, UNIT, REFRESHES, REBUILDS, SLOW_STEPS = range(TOTAL + 1, TOTAL + 8)
HEAVY_WEIGHTS = TOTAL + WIDTH  # zero beyond the last

# Places in `borders`: class k is borders[k] .. borders[k + 1], 12 the dead; then three numbers, then which arms are heavy.
N_HEAVY = CLASSES + 2
N_ARMS = N_HEAVY + 1
CAPACITY = N_ARMS + 1
HEAVY_ARMS = CAPACITY + 1


class Classes(NamedTuple):
    """The state of one run as compiled code sees it: pointers.

    bases, arms (K,)  the light arms, class after class, then the dead. An arm changes class by one swap at each border between.
                      bases has room for eight more, so that any may be read eight at a time.
    numbers           coefficients, moments, masses, tops and ceilings of the classes, scalars, heavy weights;
                      theta = log weight + numbers[SCALE]
    borders           the borders, the number of heavy arms, and which arms these are
    levels (K,)       scratch, where all arms are written out by arm: a weight, or the (negative) logarithm of a dead one's
    """

    bases: Any
    arms: Any
    numbers: Any
    borders: Any
    levels: Any


def empty_classes(n_arms: int) -> tuple[np.ndarray, ...]:
    """The arrays of `Classes` for K arms."""
    capacity = min(n_arms, HEAVY_CAPACITY) + WIDTH
    numbers = np.zeros(HEAVY_WEIGHTS + capacity + WIDTH)
    numbers = numbers[-numbers.ctypes.data // numbers.itemsize % WIDTH :]  # no four of a row lie across two cache lines
    borders = np.zeros(HEAVY_ARMS + capacity, dtype=np.int64)
    borders[N_ARMS], borders[CAPACITY] = n_arms, capacity
    return np.zeros(n_arms + WIDTH), np.empty(n_arms, dtype=np.int32), numbers, borders, np.empty(n_arms)


@inlined
def opened_classes(arrays):
    """The pointers into the arrays of `empty_classes`."""
    bases, arms, numbers, borders, levels = arrays
    return Classes(pointer_to(bases), pointer_to(arms), pointer_to(numbers), pointer_to(borders), pointer_to(levels))


@inlined
def class_size(state, k):
    """How many arms class k has."""
    return state.borders[k + 1] - state.borders[k]
