"""Eight float64 side by side, or four: the vector types that the engine's inner loops are written in.

The compiler maps a `Lanes` value to whatever registers the machine has: one AVX-512, two AVX, or four SSE2.
Each lane always sees the same IEEE operations in the same order. So results do not depend on the CPU, which
cannot be said of a loop that the compiler vectorises by itself and sums as it likes.

Every operation here takes numbers and lanes alike: a function written with them, such as `elementary.exp`, serves both.
"""

from __future__ import annotations

import math
import operator
from inspect import Parameter, Signature
from typing import Any

import numba.extending
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import register_model

WIDTH = 8
HALF = 4  # for work that seldom fills eight
intrinsic: Any = numba.extending.intrinsic  # its declared type knows only what Python calls, not what kernels call

_double = ir.DoubleType()
_int64 = ir.IntType(64)


class LanesType(types.Type):
    """Numba's name for some float64 side by side."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"float64x{width}")


lanes_type, half_lanes_type = LanesType(WIDTH), LanesType(HALF)


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, front_end_type: Any) -> None:
        super().__init__(manager, front_end_type, ir.VectorType(_double, front_end_type.width))


def common_type(*operands: Any) -> Any:
    return next((kind for kind in operands if isinstance(kind, LanesType)), types.float64)


def repeated(builder: Any, number: Any, width: int) -> Any:
    """A number in each of so many lanes."""
    lanes = ir.Constant(ir.VectorType(number.type, width), ir.Undefined)
    for lane in range(width):
        lanes = builder.insert_element(lanes, number, ir.Constant(ir.IntType(32), lane))
    return lanes


def raised(context: Any, builder: Any, value: Any, given: Any, wanted: Any) -> Any:
    """A number where lanes are wanted is repeated in each lane."""
    if given == wanted:
        return value
    if wanted == types.float64:
        return context.cast(builder, value, given, wanted)
    return repeated(builder, context.cast(builder, value, given, types.float64), wanted.width)


def _elementwise(name: str, emit: Any, n_operands: int) -> Any:
    """An intrinsic that applies `emit` to numbers, or lane by lane as soon as one operand is lanes."""

    def build(typing_context: Any, *operands: Any) -> Any:
        common = common_type(*operands)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return emit(builder, *(raised(context, builder, v, t, common) for v, t in zip(values, signature.args, strict=True)))

        return common(*operands), generate

    defined: Any = build
    defined.__name__ = name
    names = ("typing_context", *"abcd"[:n_operands])  # Numba reads the number of operands from the signature
    defined.__signature__ = Signature([Parameter(each, Parameter.POSITIONAL_OR_KEYWORD) for each in names])
    return intrinsic(defined)


def _integer_type(value: Any) -> Any:
    return ir.VectorType(_int64, value.type.count) if isinstance(value.type, ir.VectorType) else _int64


def _constant_like(value: Any, number: int) -> Any:
    kind = _integer_type(value)
    return ir.Constant(kind, [number] * kind.count if isinstance(kind, ir.VectorType) else number)


def _emit_times_power_of_two(builder: Any, value: Any, shifted: Any) -> Any:
    kind = _integer_type(value)
    exponent = builder.shl(builder.bitcast(shifted, kind), _constant_like(value, 52))
    if kind == _int64:  # 2**n is ready before x is, and a number waits longer to become an integer than for a product
        power = builder.bitcast(builder.add(exponent, _constant_like(value, 1023 << 52)), value.type)
        return builder.fmul(value, power)
    return builder.bitcast(builder.add(builder.bitcast(value, kind), exponent), value.type)


def _emit_mantissa(builder: Any, x: Any) -> Any:
    kind = _integer_type(x)
    fraction = builder.and_(builder.bitcast(x, kind), _constant_like(x, (1 << 52) - 1))
    return builder.bitcast(builder.or_(fraction, _constant_like(x, 1023 << 52)), x.type)


def _emit_exponent(builder: Any, x: Any) -> Any:
    raw = builder.lshr(builder.bitcast(x, _integer_type(x)), _constant_like(x, 52))
    return builder.sitofp(builder.sub(raw, _constant_like(x, 1023)), x.type)


def _emit_fma(builder: Any, a: Any, b: Any, c: Any) -> Any:
    name = f"llvm.fma.v{a.type.count}f64" if isinstance(a.type, ir.VectorType) else "llvm.fma.f64"
    signature = ir.FunctionType(a.type, [a.type] * 3)
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, name), [a, b, c])


def _emit_select_above(builder: Any, x: Any, bound: Any, above: Any, otherwise: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", x, bound), above, otherwise)


fma = _elementwise("fma", _emit_fma, 3)
"""fma(a, b, c) = a b + c with one rounding, on any machine: IEEE defines the result, hardware only makes it fast."""

times_power_of_two = _elementwise("times_power_of_two", _emit_times_power_of_two, 2)
"""times_power_of_two(x, n + 1.5 * 2**52) = x 2**n, by adding n to the exponent bits; the result must be normal."""

select_above = _elementwise("select_above", _emit_select_above, 4)
"""select_above(x, bound, above, otherwise): `above` where x > bound, else `otherwise`, without a branch."""

mantissa_of = _elementwise("mantissa_of", _emit_mantissa, 1)
"""mantissa_of(x): m in [1, 2) with x = m 2**n, for a positive normal x."""

exponent_of = _elementwise("exponent_of", _emit_exponent, 1)
"""exponent_of(x): that n, as a float."""


def define_operator(symbol: Any, lanes: Any, number: Any, generate: Any) -> None:
    """a symbol b, as soon as one of them is of the type of lanes and the other that or a number."""

    @infer_global(symbol)
    class Typed(AbstractTemplate):
        def generic(self, arguments: Any, keywords: Any) -> Any:
            common = next((kind for kind in arguments if isinstance(kind, lanes)), None)
            return signature(common, *arguments) if common and all(isinstance(a, (lanes, number)) for a in arguments) else None

    for operands in ((lanes, lanes), (lanes, number), (number, lanes)):
        lower_builtin(symbol, *operands)(generate)


def _define_arithmetic(symbol: Any, name: str) -> None:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        wanted = signature.return_type
        return getattr(builder, name)(
            *(raised(context, builder, v, t, wanted) for v, t in zip(values, signature.args, strict=True))
        )

    define_operator(symbol, LanesType, types.Number, generate)


for _name, _symbols in {
    "fadd": (operator.add, operator.iadd),
    "fsub": (operator.sub, operator.isub),
    "fmul": (operator.mul, operator.imul),
    "fdiv": (operator.truediv, operator.itruediv),
}.items():
    for _symbol in _symbols:
        _define_arithmetic(_symbol, _name)


def _emit_sqrt(builder: Any, x: Any) -> Any:
    function = ir.FunctionType(x.type, [x.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, function, f"llvm.sqrt.v{x.type.count}f64"), [x])


def emit_magnitude(builder: Any, x: Any) -> Any:
    cleared = builder.and_(builder.bitcast(x, _integer_type(x)), _constant_like(x, (1 << 63) - 1))
    return builder.bitcast(cleared, x.type)


def _define_function(symbol: Any, emit: Any) -> None:
    """A function of Python's for lanes: in each of them what it is for a number."""

    @infer_global(symbol)
    class Typed(AbstractTemplate):
        def generic(self, arguments: Any, keywords: Any) -> Any:
            return signature(arguments[0], *arguments) if [type(kind) for kind in arguments] == [LanesType] else None

    lower_builtin(symbol, LanesType)(lambda context, builder, signature, values: emit(builder, values[0]))


_define_function(math.sqrt, _emit_sqrt)
_define_function(abs, emit_magnitude)
_define_function(operator.neg, lambda builder, x: builder.fneg(x))
