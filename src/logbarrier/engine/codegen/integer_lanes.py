"""Eight whole numbers side by side, 64 bits each and unsigned: counters, places in memory, the bits of random numbers.

What `lanes` is for float64 this is for uint64. Sums and products are modulo 2**64, and each lane is what it would be alone.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.extending import register_model

from .lanes import WIDTH, define_operator, intrinsic, lanes_type, repeated

_int64, _i32 = ir.IntType(64), ir.IntType(32)
_vector = ir.VectorType(_int64, WIDTH)
_numbers = ir.VectorType(ir.DoubleType(), WIDTH)
_every = ir.Constant(ir.VectorType(ir.IntType(1), WIDTH), [1] * WIDTH)
LANE_NUMBERS = ir.Constant(_vector, list(range(WIDTH)))


class IntegerLanesType(types.Type):
    """Numba's name for eight uint64 side by side."""

    def __init__(self) -> None:
        super().__init__(name=f"uint64x{WIDTH}")


whole_lanes_type = IntegerLanesType()


@register_model(IntegerLanesType)
class _WholeLanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, front_end_type: Any) -> None:
        super().__init__(manager, front_end_type, _vector)


def _raise(context: Any, builder: Any, value: Any, given: Any) -> Any:
    """A whole number where lanes are wanted is repeated in each lane."""
    return value if given == whole_lanes_type else repeated(builder, context.cast(builder, value, given, types.uint64), WIDTH)


def _raise_all(context: Any, builder: Any, signature: Any, values: Any) -> list[Any]:
    return [_raise(context, builder, value, given) for value, given in zip(values, signature.args, strict=True)]


def _define(symbol: Any, name: str) -> None:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return getattr(builder, name)(*_raise_all(context, builder, signature, values))

    define_operator(symbol, IntegerLanesType, types.Integer, generate)


for _symbol, _name in (
    (operator.add, "add"),
    (operator.mul, "mul"),
    (operator.and_, "and_"),
    (operator.or_, "or_"),
    (operator.xor, "xor"),
    (operator.lshift, "shl"),
    (operator.rshift, "lshr"),
):
    _define(_symbol, _name)


@intrinsic
def splat_whole(typing_context: Any, number: Any) -> Any:
    """splat_whole(n): n in each lane."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _raise(context, builder, values[0], signature.args[0])

    return whole_lanes_type(number), generate


@intrinsic
def lane_numbers(typing_context: Any) -> Any:
    """lane_numbers(): 0, 1, ..., 7."""
    return whole_lanes_type(), lambda context, builder, signature, values: LANE_NUMBERS


@intrinsic
def load_integers(typing_context: Any, pointer: Any, index: Any) -> Any:
    """load_integers(pointer, index): the eight whole numbers from there on."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = builder.gep(values[0], [values[1]])
        return builder.load(builder.bitcast(address, _vector.as_pointer()), align=8, typ=_vector)

    return whole_lanes_type(pointer, types.intp), generate


@intrinsic
def store_whole(typing_context: Any, pointer: Any, index: Any, value: Any) -> Any:
    """store_whole(pointer, index, lanes): writes the eight whole numbers from there on."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = builder.gep(values[0], [values[1]])
        builder.store(values[2], builder.bitcast(address, _vector.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(pointer, types.intp, whole_lanes_type), generate


@intrinsic
def as_float(typing_context: Any, whole: Any) -> Any:
    """as_float(n): the float64 nearest to n < 2**63, of a number or in each lane."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.sitofp(values[0], _numbers if whole == whole_lanes_type else ir.DoubleType())

    return (lanes_type if whole == whole_lanes_type else types.float64)(whole), generate


@intrinsic
def whole_if_above(typing_context: Any, x: Any, bound: Any, above: Any, otherwise: Any) -> Any:
    """whole_if_above(x, bound, above, otherwise): the whole number `above` where x > bound, else `otherwise`."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        there = builder.fcmp_ordered(">", values[0], values[1])
        choices = [_raise(context, builder, value, given) for value, given in zip(values[2:], signature.args[2:], strict=True)]
        return builder.select(there, *choices)

    return whole_lanes_type(x, bound, above, otherwise), generate


@intrinsic
def select_equal(typing_context: Any, a: Any, b: Any, equal: Any, otherwise: Any) -> Any:
    """select_equal(a, b, equal, otherwise): the lanes `equal` where a = b, else the lanes `otherwise`."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.select(builder.icmp_unsigned("==", values[0], values[1]), values[2], values[3])

    return lanes_type(whole_lanes_type, whole_lanes_type, lanes_type, lanes_type), generate


@intrinsic
def lanes_from(typing_context: Any, a: Any, bound: Any) -> Any:
    """lanes_from(a, bound): an integer whose bit i says whether a >= bound in lane i."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        there = builder.icmp_unsigned(">=", *_raise_all(context, builder, signature, values))
        return builder.zext(builder.bitcast(there, ir.IntType(WIDTH)), _int64)

    return types.int64(a, bound), generate


def _addresses(builder: Any, pointer: Any, places: Any) -> Any:
    """Those of eight elements, as LLVM's vector of pointers."""
    base = repeated(builder, builder.ptrtoint(pointer, _int64), WIDTH)
    bytes_away = builder.shl(places, ir.Constant(_vector, [3] * WIDTH))
    return builder.inttoptr(builder.add(base, bytes_away), ir.VectorType(ir.DoubleType().as_pointer(), WIDTH))


def emit_gather(builder: Any, pointer: Any, places: Any) -> Any:
    """Code that reads the eight float64 pointer[places]."""
    addresses = _addresses(builder, pointer, places)
    kind = ir.FunctionType(_numbers, [addresses.type, _i32, _every.type, _numbers])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.gather.v{WIDTH}f64.v{WIDTH}p0")
    return builder.call(function, [addresses, _i32(8), _every, ir.Constant(_numbers, ir.Undefined)])


def emit_scatter(builder: Any, pointer: Any, places: Any, numbers: Any) -> None:
    """Code that writes the eight float64 pointer[places]; no two places may be the same."""
    addresses = _addresses(builder, pointer, places)
    kind = ir.FunctionType(ir.VoidType(), [_numbers, addresses.type, _i32, _every.type])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.scatter.v{WIDTH}f64.v{WIDTH}p0")
    builder.call(function, [numbers, addresses, _i32(8), _every])
