"""The numbers of eight runs side by side, read and written like an array of one run's.

    rows    (n, 8)     number i of each run: rows[i] are eight lanes; rows[arms], arms a whole number in each lane, is
                       number arms[lane] of run `lane`
    column  (n,)       those of one of the runs: column[i] is a number
    tables  (8, P, K)  a table for each run, one after the other: tables[row, arms] is what each run has in that row

A function written for the numbers of one run, handed lanes in place of numbers and rows in place of its memory, does eight runs
in the time of one. One that branches on them cannot be compiled so; it is called for one run after the other.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import register_model

from .integer_lanes import LANE_NUMBERS, IntegerLanesType, emit_gather, emit_scatter
from .lanes import WIDTH, LanesType, intrinsic, lanes_type, raised, repeated
from .pointers import PointerType

_numbers = ir.VectorType(ir.DoubleType(), WIDTH)


def new_rows(count: int, numbers: Any = 0.0) -> np.ndarray:
    """An array (count, 8) that begins with `numbers`, each row in one line of the cache: 64 bytes from a multiple of 64 on."""
    buffer = np.empty((count + 1) * WIDTH)
    first = -(buffer.ctypes.data // buffer.itemsize) % WIDTH
    rows = buffer[first : first + count * WIDTH].reshape(count, WIDTH)
    rows[:] = numbers
    return rows


class LaneArrayType(types.Type):
    """Numba's name for rows, whose elements are lanes, or for a column, whose elements are numbers."""

    def __init__(self, element: Any) -> None:
        self.element = element
        super().__init__(name=f"lane_array({element})")


rows_type, column_type = LaneArrayType(lanes_type), LaneArrayType(types.float64)


@register_model(LaneArrayType)
class _LaneArrayModel(models.PrimitiveModel):
    def __init__(self, manager: Any, front_end_type: Any) -> None:
        super().__init__(manager, front_end_type, ir.DoubleType().as_pointer())


@intrinsic
def rows_at(typing_context: Any, pointer: Any) -> Any:
    """rows_at(pointer): the rows that begin there."""
    return rows_type(pointer), lambda context, builder, signature, values: values[0]


@intrinsic
def column_of(typing_context: Any, rows: Any, lane: Any) -> Any:
    """column_of(rows, lane): those of one run."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.gep(values[0], [values[1]])

    return column_type(rows_type, types.intp), generate


def _is_index(kind: Any, index: Any) -> bool:
    return isinstance(index, types.Integer) or (kind == rows_type and isinstance(index, IntegerLanesType))


def _index(index: Any) -> Any:
    return types.intp if isinstance(index, types.Integer) else index


@infer_global(operator.getitem)
class _Get(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        kind, index = arguments
        if isinstance(kind, LaneArrayType) and _is_index(kind, index):
            return signature(kind.element, kind, _index(index))
        return None


@infer_global(operator.setitem)
class _Set(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        kind, index, value = arguments
        if (
            isinstance(kind, LaneArrayType)
            and _is_index(kind, index)
            and (value == kind.element or isinstance(value, types.Number))
        ):
            return signature(types.none, kind, _index(index), value)
        return None


def _address(builder: Any, kind: Any, beginning: Any, index: Any) -> Any:
    """Of row `index`, or of the element of a column."""
    address = builder.gep(beginning, [builder.mul(index, ir.Constant(index.type, WIDTH))])
    return builder.bitcast(address, _numbers.as_pointer()) if isinstance(kind.element, LanesType) else address


def _places(builder: Any, index: Any) -> Any:
    """Those of number index[lane] of each run."""
    return builder.add(builder.mul(index, repeated(builder, ir.Constant(ir.IntType(64), WIDTH), WIDTH)), LANE_NUMBERS)


@lower_builtin(operator.getitem, LaneArrayType, types.Integer)
def _get(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return builder.load(_address(builder, signature.args[0], *values), align=8)


@lower_builtin(operator.getitem, LaneArrayType, IntegerLanesType)
def _get_each(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return emit_gather(builder, values[0], _places(builder, values[1]))


@lower_builtin(operator.setitem, LaneArrayType, types.Integer, types.Any)
def _set(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    kind, _, given = signature.args
    value = raised(context, builder, values[2], given, kind.element)
    builder.store(value, _address(builder, kind, *values[:2]), align=8)
    return context.get_dummy_value()


@lower_builtin(operator.setitem, LaneArrayType, IntegerLanesType, types.Any)
def _set_each(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    value = raised(context, builder, values[2], signature.args[2], lanes_type)
    emit_scatter(builder, values[0], _places(builder, values[1]), value)
    return context.get_dummy_value()


class TablesType(types.Type):
    """Numba's name for a table of each of eight runs."""

    def __init__(self) -> None:
        super().__init__(name="tables")


@register_model(TablesType)
class _TablesModel(models.StructModel):
    def __init__(self, manager: Any, front_end_type: Any) -> None:
        members = [("data", PointerType(types.float64)), ("size", types.intp), ("columns", types.intp)]
        super().__init__(manager, front_end_type, members)


@intrinsic
def tables_at(typing_context: Any, pointer: Any, size: Any, columns: Any) -> Any:
    """tables_at(pointer, size, columns): eight tables of `size` numbers in so many columns."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        tables = cgutils.create_struct_proxy(signature.return_type)(context, builder)
        tables.data, tables.size, tables.columns = values
        return tables._getvalue()

    return TablesType()(pointer, types.intp, types.intp), generate


@infer_global(operator.getitem)
class _GetEntries(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        kind, place = arguments
        if isinstance(kind, TablesType) and isinstance(place, types.BaseTuple):
            row, column = getattr(place, "types", (None, None))
            if isinstance(row, types.Integer) and isinstance(column, IntegerLanesType):
                return signature(lanes_type, kind, types.Tuple((types.intp, column)))
        return None


@lower_builtin(operator.getitem, TablesType, types.BaseTuple)
def _get_entries(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    tables = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=values[0])
    row, column = (builder.extract_value(values[1], i) for i in range(2))
    first = builder.gep(tables.data, [builder.mul(row, tables.columns)])
    own = builder.mul(LANE_NUMBERS, repeated(builder, tables.size, WIDTH))
    return emit_gather(builder, first, builder.add(own, column))
