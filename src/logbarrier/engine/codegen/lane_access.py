"""How lanes meet memory and numbers: load, store, fill, pick, sum and compare."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from .lanes import WIDTH, LanesType, common_type, emit_magnitude, half_lanes_type, intrinsic, lanes_type, raised, repeated

_double, _int64 = ir.DoubleType(), ir.IntType(64)


def _address(context: Any, builder: Any, kind: Any, value: Any, index: Any) -> Any:
    """Of an element of an array, or behind a pointer."""
    data = context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
    return builder.gep(data, [index])


def _load_as(kind: LanesType, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        vector = ir.VectorType(_double, kind.width)
        address = _address(context, builder, signature.args[0], values[0], values[1])
        return builder.load(builder.bitcast(address, vector.as_pointer()), align=8, typ=vector)

    return kind(array, types.intp), generate


@intrinsic
def load(typing_context: Any, array: Any, index: Any) -> Any:
    """load(array, index): array[index : index + 8] of a contiguous float64 array."""
    return _load_as(lanes_type, array)


@intrinsic
def load_half(typing_context: Any, array: Any, index: Any) -> Any:
    """load_half(array, index): array[index : index + 4] of a contiguous float64 array."""
    return _load_as(half_lanes_type, array)


@intrinsic
def store(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """store(array, index, lanes): array[index : index + 8] = lanes, or + 4 for half of them."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = _address(context, builder, signature.args[0], values[0], values[1])
        builder.store(values[2], builder.bitcast(address, values[2].type.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate


@intrinsic
def store_pairs(typing_context: Any, array: Any, index: Any, first: Any, second: Any) -> Any:
    """store_pairs(array, index, a, b): the sixteen numbers from array[index] on = a[0], b[0], a[1], b[1], ..."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        order = [lane // 2 + WIDTH * (lane % 2) for lane in range(2 * WIDTH)]
        pairs = builder.shuffle_vector(values[2], values[3], ir.Constant(ir.VectorType(ir.IntType(32), 2 * WIDTH), order))
        address = _address(context, builder, signature.args[0], values[0], values[1])
        builder.store(pairs, builder.bitcast(address, pairs.type.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes_type, lanes_type), generate


def _splat_as(kind: LanesType, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return raised(context, builder, values[0], signature.args[0], kind)

    return kind(number), generate


@intrinsic
def splat(typing_context: Any, number: Any) -> Any:
    """splat(x): x in each of the eight lanes."""
    return _splat_as(lanes_type, number)


@intrinsic
def splat_half(typing_context: Any, number: Any) -> Any:
    """splat_half(x): x in each of four lanes."""
    return _splat_as(half_lanes_type, number)


@intrinsic
def lane(typing_context: Any, value: Any, index: Any) -> Any:
    """lane(x, i): the number in lane i."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.extract_element(values[0], values[1])

    return types.float64(value, types.intp), generate


def _with_lane_numbers(builder: Any, lanes: Any, integer: Any) -> tuple[Any, Any]:
    """The integer in each of as many lanes, and 0, 1, 2, ... in these, to compare it with."""
    width = lanes.type.count
    return repeated(builder, integer, width), ir.Constant(ir.VectorType(_int64, width), list(range(width)))


@intrinsic
def with_lane(typing_context: Any, value: Any, index: Any, number: Any) -> Any:
    """with_lane(x, i, number): x with a number in lane i; x itself if there is no lane i."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        chosen, numbers = _with_lane_numbers(builder, values[0], values[1])
        there = builder.icmp_signed("==", chosen, numbers)
        return builder.select(there, raised(context, builder, values[2], types.float64, value), values[0])

    return value(value, types.int64, types.float64), generate


@intrinsic
def first_lanes(typing_context: Any, value: Any, count: Any, otherwise: Any) -> Any:
    """first_lanes(x, n, otherwise): x in the first n lanes, `otherwise` in the rest."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        counts, numbers = _with_lane_numbers(builder, values[0], values[1])
        among = builder.icmp_signed("<", numbers, counts)
        return builder.select(among, values[0], raised(context, builder, values[2], otherwise, value))

    return value(value, types.int64, otherwise), generate


@intrinsic
def lane_sum(typing_context: Any, value: Any) -> Any:
    """lane_sum(x): the sum of the eight lanes as ((0+4)+(2+6)) + ((1+5)+(3+7)), of four as (0+2) + (1+3)."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        partial, width = values[0], value.width
        while width > 1:
            width //= 2
            low, high = (ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(i, i + width))) for i in (0, width))
            partial = builder.fadd(
                builder.shuffle_vector(partial, partial, low), builder.shuffle_vector(partial, partial, high)
            )
        return builder.extract_element(partial, ir.Constant(ir.IntType(32), 0))

    return types.float64(value), generate


@intrinsic
def lanes_above(typing_context: Any, a: Any, b: Any) -> Any:
    """lanes_above(a, b): an integer whose bit i says whether a > b in lane i."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        common = common_type(*signature.args)
        left, right = (raised(context, builder, v, t, common) for v, t in zip(values, signature.args, strict=True))
        bits = builder.bitcast(builder.fcmp_ordered(">", left, right), ir.IntType(common.width))
        return builder.zext(bits, _int64)

    return types.int64(a, b), generate


@intrinsic
def lanes_within(typing_context: Any, x: Any, bound: Any) -> Any:
    """lanes_within(x, bound): an integer whose bit i says whether |x| <= bound in lane i; not so where x is not a number."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        limit = raised(context, builder, values[1], bound, x)
        there = builder.fcmp_ordered("<=", emit_magnitude(builder, values[0]), limit)
        return builder.zext(builder.bitcast(there, ir.IntType(x.width)), _int64)

    return types.int64(x, bound), generate
