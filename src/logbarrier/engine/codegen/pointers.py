"""A bare pointer into an array, for inner loops.

Numba counts references whenever an array is handed on, a call each; in a step of a hundred nanoseconds that is most of the
time. A pointer is read and written like an array, knows no length, and is not counted: whoever makes it keeps the array alive.
"""

from __future__ import annotations

import operator
from typing import Any, ClassVar

import numba.extending
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import register_model
from numba.np.arrayobj import make_array, populate_array

intrinsic: Any = numba.extending.intrinsic


class _NumbersType(types.Type):
    """Where numbers of one dtype are; two of the same kind and dtype are the same type."""

    kind: ClassVar[str]

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"{self.kind}({dtype})")


class TableType(_NumbersType):
    """Numba's name for a pointer to a table of numbers, row after row."""

    kind = "table"


@register_model(TableType)
class _TableModel(models.StructModel):
    def __init__(self, manager: Any, front_end_type: Any) -> None:
        members = [("data", PointerType(front_end_type.dtype)), ("columns", types.intp)]
        super().__init__(manager, front_end_type, members)


class PointerType(_NumbersType):
    """Numba's name for a pointer to numbers of one dtype."""

    kind = "pointer"


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
def pointer_at(typing_context: Any, pointer: Any, offset: Any) -> Any:
    """pointer_at(pointer, i): the pointer to element i."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.gep(values[0], [values[1]])

    return pointer(pointer, types.intp), generate


@intrinsic
def table_at(typing_context: Any, pointer: Any, columns: Any) -> Any:
    """table_at(pointer, columns): the table that begins there; read as table[row, column]."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        table = cgutils.create_struct_proxy(signature.return_type)(context, builder)
        table.data, table.columns = values
        return table._getvalue()

    return TableType(pointer.dtype)(pointer, types.intp), generate


@intrinsic
def array_at(typing_context: Any, pointer: Any, shape: Any) -> Any:
    """array_at(pointer, (rows, columns)): an array that begins there, of any number of dimensions."""
    kind = types.Array(pointer.dtype, len(shape), "C")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = make_array(kind)(context, builder)
        size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        lengths = [builder.extract_value(values[1], d) for d in range(len(shape))]
        stride = size
        strides: list[Any] = []
        for length in reversed(lengths):
            strides.insert(0, stride)
            stride = builder.mul(stride, length)
        populate_array(array, data=values[0], shape=lengths, strides=strides, itemsize=size, meminfo=None)
        return array._getvalue()

    return kind(pointer, types.UniTuple(types.intp, len(shape))), generate


def buffer_of(count: int, dtype: Any = types.float64) -> Any:
    """A compiled function of no arguments that gives a pointer to a buffer of `count` numbers until its caller returns."""

    @intrinsic
    def buffer(typing_context: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            kind = ir.ArrayType(context.get_data_type(dtype), count)
            place = cgutils.alloca_once(builder, kind)
            place.align = 64
            return builder.bitcast(place, context.get_data_type(dtype).as_pointer())

        return PointerType(dtype)(), generate

    return buffer


def caller_of(returned: Any, *arguments: Any) -> Any:
    """A compiled function (address, (argument, ...)) that calls the `compiled.entry` of these types at an address.

    The last argument points to a float64 that is set if the function there raises an exception.
    """
    wanted = (*arguments, PointerType(types.float64))

    @intrinsic
    def call(typing_context: Any, address: Any, given: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            kind = ir.FunctionType(context.get_value_type(returned), [context.get_value_type(each) for each in wanted])
            function = builder.inttoptr(values[0], kind.as_pointer())
            given_values = [builder.extract_value(values[1], i) for i in range(len(wanted))]
            return builder.call(
                function, [context.cast(builder, v, g, w) for v, g, w in zip(given_values, given, wanted, strict=True)]
            )

        return returned(types.int64, given), generate

    return call


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


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        if isinstance(arguments[0], PointerType) and isinstance(arguments[1], types.Integer):
            return signature(arguments[0].dtype, arguments[0], types.intp)
        if isinstance(arguments[0], TableType) and isinstance(arguments[1], types.BaseTuple):
            return signature(arguments[0].dtype, arguments[0], types.UniTuple(types.intp, 2))
        return None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        if isinstance(arguments[0], PointerType) and isinstance(arguments[1], types.Integer):
            return signature(types.none, arguments[0], types.intp, arguments[0].dtype)
        return None


@lower_builtin(operator.getitem, PointerType, types.Integer)
def _get(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return builder.load(builder.gep(values[0], [values[1]]))


@lower_builtin(operator.getitem, TableType, types.BaseTuple)
def _get_from_table(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    view = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=values[0])
    row, column = (builder.extract_value(values[1], i) for i in range(2))
    return builder.load(builder.gep(view.data, [builder.add(builder.mul(row, view.columns), column)]))


@lower_builtin(operator.setitem, PointerType, types.Integer, types.Any)
def _set(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    builder.store(values[2], builder.gep(values[0], [values[1]]))
    return context.get_dummy_value()
