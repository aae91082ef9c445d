"""Arguments of compiled code in a row of eight-byte numbers: how Python hands tuples, numbers and arrays to machine code.

A kernel takes one pointer. Behind it lie its arguments one after the other:

    number    a float64 or int64
    array     the address, the lengths and, unless it is contiguous, the strides
    fields    (fields.py) the address
    tuple     its members, one after the other

`describe` gives the values and their kind in Python; `unpacker` reads them back in compiled code.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

import numba
import numba.extending
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

from .fields import Fields, FieldsType
from .pointers import PointerType

# "f", "q" or "?" for a number, ("array", dtype, dimensions, contiguous), ("fields", names), ("tuple", class, kinds), and of
# what a kernel returns ("tuple", kinds).
Kind = Any
intrinsic: Any = numba.extending.intrinsic
row_pointer = PointerType(types.float64)
_int64, _double, _i8 = ir.IntType(64), ir.DoubleType(), ir.IntType(8)


def describe(owner: str, value: Any, values: list[Any]) -> Kind:
    """The kind of an argument; appends its numbers to `values`."""
    if isinstance(value, np.ndarray):
        values.append(value.__array_interface__["data"][0])
        values.extend(value.shape)
        contiguous = value.flags.c_contiguous
        if not contiguous:
            values.extend(value.strides)
        return "array", value.dtype.str, value.ndim, contiguous
    if isinstance(value, tuple):
        made = type(value) if hasattr(value, "_fields") else tuple
        return "tuple", made, tuple([describe(owner, member, values) for member in value])
    if isinstance(value, float | np.floating):
        values.append(float(value))
        return "f"
    if isinstance(value, bool | np.bool_):
        values.append(int(value))
        return "?"
    if isinstance(value, int | np.integer):
        values.append(int(value))
        return "q"
    if isinstance(value, Fields):
        values.append(value._address)
        return "fields", value._names
    raise ValueError(f"{owner}: arguments must be numbers, arrays, or tuples of these, got {value!r}")


@cache
def layout(kind: Kind) -> struct.Struct:
    """How the numbers of a kind lie in memory."""
    return struct.Struct("@" + _format(kind))


def _format(kind: Kind) -> str:
    match kind:
        case ("array", _, dimensions, contiguous):
            return "q" * int(1 + dimensions * (1 if contiguous else 2))
        case ("tuple", *_, members):
            return "".join(_format(member) for member in members)
        case "f":
            return "d"
    return "q"


def packed(owner: str, value: Any) -> tuple[Kind, np.ndarray]:
    """A tuple of numbers as its kind and its row, a float64 array of at least one number."""
    values: list[Any] = []
    kind = describe(owner, value, values)
    form = layout(kind)
    row = np.zeros(max(form.size // 8, 1))
    form.pack_into(row.data.cast("B"), 0, *values)
    return kind, row


def type_of(kind: Kind) -> Any:
    """Numba's type of a kind."""
    match kind:
        case ("array", dtype, dimensions, contiguous):
            return types.Array(from_dtype(np.dtype(dtype)), dimensions, "C" if contiguous else "A")
        case ("tuple", made, members):
            return types.BaseTuple.from_types([type_of(member) for member in members], made)
        case ("fields", names):
            return FieldsType(names, row_pointer)
    return {"f": types.float64, "?": types.boolean}.get(kind, types.int64)


def unpacker(kind: Kind) -> Any:
    """A compiled function from a pointer to a row to the value of a kind."""
    wanted = type_of(kind)

    @intrinsic
    def unpack(typing_context: Any, row: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _read(context, builder, kind, wanted, arguments[0], 0)[0]

        return wanted(row), generate

    return unpack


def _read(context: Any, builder: Any, kind: Kind, wanted: Any, row: Any, place: int) -> tuple[Any, int]:
    """The value of a kind at a place, and the place behind it."""

    def at(index: int, as_type: Any) -> Any:
        address = builder.gep(row, [_int64(index)])
        return builder.load(builder.bitcast(address, as_type.as_pointer()), typ=as_type)

    match kind:
        case ("array", _, dimensions, contiguous):
            array = make_array(wanted)(context, builder)
            element = context.get_data_type(wanted.dtype)
            size = context.get_abi_sizeof(element)
            shape = [at(place + 1 + d, _int64) for d in range(dimensions)]
            strides = [at(place + 1 + dimensions + d, _int64) for d in range(0 if contiguous else dimensions)]
            if contiguous:
                stride = _int64(size)
                for length in reversed(shape):
                    strides.insert(0, stride)
                    stride = builder.mul(stride, length)
            data = builder.inttoptr(at(place, _int64), element.as_pointer())
            populate_array(array, data=data, shape=shape, strides=strides, itemsize=_int64(size), meminfo=None)
            return array._getvalue(), place + 1 + dimensions * (1 if contiguous else 2)
        case ("tuple", _, members):
            values = []
            for member, member_type in zip(members, wanted, strict=True):
                value, place = _read(context, builder, member, member_type, row, place)
                values.append(value)
            return context.make_tuple(builder, wanted, values), place
        case ("fields", _):
            return at(place, _double.as_pointer()), place + 1
        case "f":
            return at(place, _double), place + 1
        case "?":
            return cgutils.is_not_null(builder, at(place, _int64)), place + 1
    return at(place, _int64), place + 1


def writer(kinds: list[Kind]) -> Any:
    """A compiled function that writes what a kernel returns behind a pointer; notes its kind in `kinds` when it is compiled."""

    @intrinsic
    def write(typing_context: Any, row: Any, value: Any) -> Any:
        kind = _kind_of(value)
        kinds.append(kind)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _write(context, builder, signature.args[1], arguments[1], arguments[0], 0)
            return context.get_dummy_value()

        return types.void(row, value), generate

    return write


def _kind_of(value: Any) -> Kind:
    match value:
        case types.BaseTuple():
            members: Any = value
            return "tuple", tuple(_kind_of(member) for member in members)
        case types.NoneType():
            return None
        case types.Boolean():
            return "?"
        case types.Float():
            return "f"
        case types.Integer():
            return "q"
    raise TypingError(f"a kernel must return numbers or tuples of numbers, got {value}")


def _write(context: Any, builder: Any, kind: Any, value: Any, row: Any, place: int) -> int:
    if isinstance(kind, types.BaseTuple):
        members: Any = kind
        for i, member in enumerate(members):
            place = _write(context, builder, member, builder.extract_value(value, i), row, place)
        return place
    if isinstance(kind, types.NoneType):
        return place
    target = types.float64 if isinstance(kind, types.Float) else types.int64
    number = context.cast(builder, value, kind, target)
    address = builder.gep(row, [_int64(place)])
    builder.store(number, builder.bitcast(address, number.type.as_pointer()))
    return place + 1


def unpacked(kind: Kind, values: list[Any]) -> Any:
    """What a kernel returned, from its kind and its numbers in order; takes them out of `values`."""
    if kind is None:
        return None
    if isinstance(kind, str):
        number = values.pop(0)
        return bool(number) if kind == "?" else number
    return tuple(unpacked(member, values) for member in kind[-1])
