"""A bare pointer into an array, for inner loops.

Numba counts references whenever an array is handed on, a call each; in a step of a hundred nanoseconds that is most of the
time. A pointer is read and written like an array, knows no length, and is not counted: whoever makes it keeps the array alive.
"""

from __future__ import annotations

import operator
from typing import Any

import numba.extending
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.extending import overload, register_model

intrinsic: Any = numba.extending.intrinsic


class TableType(types.Type):
    """Numba's name for a pointer to a table of numbers, row after row."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"table({dtype})")


@register_model(TableType)
class _TableModel(models.StructModel):
    def __init__(self, manager: Any, front_end_type: Any) -> None:
        members = [("data", PointerType(front_end_type.dtype)), ("columns", types.intp)]
        super().__init__(manager, front_end_type, members)


class PointerType(types.Type):
    """Numba's name for a pointer to numbers of one dtype."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"pointer({dtype})")


@register_model(PointerType)
class _PointerModel(models.PrimitiveModel):
    def __init__(self, manager: Any, front_end_type: Any) -> None:
        element = manager.lookup(front_end_type.dtype).get_data_type()
        super().__init__(manager, front_end_type, element.as_pointer())


@intrinsic
def pointer_to(typing_context: Any, array: Any) -> Any:
    """pointer_to(array): the first element of a contiguous array."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, values[0]).data

    return PointerType(array.dtype)(array), generate


@intrinsic
def pointer_behind(typing_context: Any, array: Any, offset: Any) -> Any:
    """pointer_behind(array, i): element i of a contiguous array, counted row after row."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, values[0]).data
        return builder.gep(data, [values[1]])

    return PointerType(array.dtype)(array, types.intp), generate


@intrinsic
def table_behind(typing_context: Any, array: Any, offset: Any, columns: Any) -> Any:
    """table_behind(array, i, columns): the table that begins at element i of a contiguous array; read as table[row, column]."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        table = cgutils.create_struct_proxy(signature.return_type)(context, builder)
        data = context.make_array(signature.args[0])(context, builder, values[0]).data
        table.data = builder.gep(data, [values[1]])
        table.columns = values[2]
        return table._getvalue()

    return TableType(array.dtype)(array, types.intp, types.intp), generate


@intrinsic
def _get_from_table(typing_context: Any, table: Any, row: Any, column: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        view = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=values[0])
        index = builder.add(builder.mul(values[1], view.columns), values[2])
        return builder.load(builder.gep(view.data, [index]))

    return table.dtype(table, types.intp, types.intp), generate


@intrinsic
def _get(typing_context: Any, pointer: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(builder.gep(values[0], [values[1]]))

    return pointer.dtype(pointer, types.intp), generate


@intrinsic
def _set(typing_context: Any, pointer: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        builder.store(values[2], builder.gep(values[0], [values[1]]))
        return context.get_dummy_value()

    return types.void(pointer, types.intp, pointer.dtype), generate


@intrinsic
def prefetch(typing_context: Any, pointer: Any, index: Any) -> Any:
    """prefetch(pointer, i): begin to fetch element i into the cache; changes nothing."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        flag = ir.IntType(32)
        address = builder.bitcast(builder.gep(values[0], [values[1]]), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [address, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(pointer, types.intp), generate


@overload(operator.getitem, strict=False)
def _getitem(pointer: Any, index: Any) -> Any:
    if isinstance(pointer, PointerType):
        return lambda pointer, index: _get(pointer, index)
    if isinstance(pointer, TableType):
        return lambda pointer, index: _get_from_table(pointer, index[0], index[1])
    return None


@overload(operator.setitem, strict=False)
def _setitem(pointer: Any, index: Any, value: Any) -> Any:
    if isinstance(pointer, PointerType):
        return lambda pointer, index, value: _set(pointer, index, value)
    return None
