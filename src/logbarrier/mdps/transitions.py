"""An MDP laid out for sampling, because a step in a large MDP waits for memory and for little else.

Row s K + a of the table of moves, 32 bytes, holds up to three successors of (s, a). That the episode ends counts as one of
them, ENDED. Seen as float64 (S K, 4) it begins with

    UPTO     P(first successor) and P(first or second); where there is no further one, CERTAIN

and seen as int32 (S K, 8) it goes on with

    LEADS    the first, second and third successor
    MORE     0; where there are more than three, how many come after the second, and in place of the third where in `others`
             they begin: a row of `others` (n, 2) is P(this one or one before it), and the successor
"""

from __future__ import annotations

from typing import Any

import numba.extending
import numpy as np
from llvmlite import ir
from numba import uint64
from numba.core import cgutils, types

from ..engine.compiled import compiled, inlined
from .episode import ENDED, aligned
from .problem import FiniteMDP

UPTO = 0  # columns of eight bytes
LEADS, MORE = 4, 7  # columns of four
INLINE = 3  # successors that a row has room for
CERTAIN = 2.0  # above every uniform
intrinsic: Any = numba.extending.intrinsic

Transitions = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]


def transitions_of(mdp: FiniteMDP) -> Transitions:
    """The table of moves as float64 and as int32, others, rewards (S K,), first states (n, 2) like `others`, gamma."""
    upto, successors, offsets = _with_ends(mdp)
    counts = np.diff(offsets)
    reals = aligned(len(counts), 4)
    wholes = reals.view(np.int32)
    reals[:, UPTO : UPTO + 2] = CERTAIN
    for i in range(INLINE):
        rows = np.flatnonzero(counts > i)
        wholes[rows, LEADS + i] = successors[offsets[rows] + i]
        if i < INLINE - 1:
            reals[rows, UPTO + i] = upto[offsets[rows] + i]
    rows = np.flatnonzero(counts > INLINE)
    wholes[rows, MORE] = counts[rows] - (INLINE - 1)
    wholes[rows, LEADS + INLINE - 1] = np.cumsum(wholes[rows, MORE]) - wholes[rows, MORE]
    far = np.repeat(counts > INLINE, counts) & (np.arange(len(upto)) - np.repeat(offsets[:-1], counts) >= INLINE - 1)
    others = np.column_stack([upto, successors])[far]
    first = np.flatnonzero(mdp.rho)
    start = np.column_stack([np.cumsum(mdp.rho[first]), first])
    start[-1, 0] = CERTAIN
    return reals, wholes, others, np.ascontiguousarray(mdp.R).ravel(), start, mdp.gamma


def _with_ends(mdp: FiniteMDP) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cumulative probabilities, successors and offsets of all rows, ENDED being the last successor where one can end."""
    ends = (mdp.missing.ravel() > 0.0) | (np.diff(mdp.offsets) == 0)
    cumulative = np.cumsum(mdp.probabilities)
    cumulative -= np.repeat(np.concatenate([[0.0], cumulative])[mdp.offsets[:-1]], np.diff(mdp.offsets))
    places = mdp.offsets[1:][ends]
    upto, successors = np.insert(cumulative, places, CERTAIN), np.insert(mdp.successors, places, ENDED)
    offsets = mdp.offsets + np.concatenate([[0], np.cumsum(ends)])
    upto[offsets[1:] - 1] = CERTAIN
    return upto, successors, offsets


@compiled
def searched(ways, first, last, u):
    """The state in ways[first : last + 1] that the uniform number u draws; the last probability is CERTAIN."""
    while first < last:
        middle = (first + last) // 2
        if ways[middle, 0] > u:
            last = middle
        else:
            first = middle + 1
    return int(ways[first, 1])


@inlined
def successor_of(reals, wholes, others, row, u):
    """The state, or ENDED, that the uniform number u draws after row s K + a; row is unsigned."""
    i = (0 if reals[row, UPTO] > u else 1) + (0 if reals[row, UPTO + 1] > u else 1)
    leads = np.int64(wholes[row, uint64(LEADS + i)])
    if wholes[row, MORE] > 0 and i == INLINE - 1:  # in this order: the first is nearly always as before, the second chance
        return searched(others, leads, leads + wholes[row, MORE] - 1, u)
    return leads


@intrinsic
def fetch_ahead(typing_context: Any, array: Any, row: Any) -> Any:
    """fetch_ahead(array, row): begin to load a row of a contiguous table, which will be needed soon."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        table = context.make_array(signature.args[0])(context, builder, values[0])
        width = cgutils.unpack_tuple(builder, table.shape)[1]
        address = builder.bitcast(builder.gep(table.data, [builder.mul(values[1], width)]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(call, [address, *(ir.Constant(number, i) for i in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
