"""Named numbers: a row of float64 that compiled code reads and writes by name.

    memory = fields_of(("baseline", "pulls"))(pointer)
    memory.pulls += 1.0                                     # pointer[1] += 1.0

The row is a pointer, or a lane array (lane_arrays.py), rows or a column; a field is what row[i] is. A last name with a star,
such as "*history", stands for the rest of the row: memory.history[i].
In Python, `Fields` gives the same names to an array.
"""

from __future__ import annotations

import operator
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.errors import TypingError
from numba.core.imputils import lower_cast, lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr, signature
from numba.extending import NativeValue, register_model, typeof_impl, unbox

from .lane_arrays import LaneArrayType
from .lanes import WIDTH, LanesType, intrinsic, raised
from .pointers import PointerType

_place = ir.IntType(64)


class FieldsType(types.Type):
    """Numba's name for a row with names."""

    def __init__(self, names: tuple[str, ...], row: Any) -> None:
        self.row, self.places = row, {name.lstrip("*"): i for i, name in enumerate(names)}
        self.rest = names[-1].lstrip("*") if names and names[-1].startswith("*") else None
        self.element = row.element if isinstance(row, LaneArrayType) else row.dtype
        super().__init__(name=f"fields({', '.join(names)} of {row})")


@register_model(FieldsType)
class _FieldsModel(models.PrimitiveModel):
    def __init__(self, manager: Any, front_end_type: Any) -> None:
        super().__init__(manager, front_end_type, manager.lookup(front_end_type.row).get_value_type())


@cache
def fields_of(names: tuple[str, ...]) -> Any:
    """A compiled function from a row to the row with these names."""

    @intrinsic
    def fields_at(typing_context: Any, row: Any) -> Any:
        return FieldsType(names, row)(row), lambda context, builder, signature, values: values[0]

    return fields_at


@infer_getattr
class _Field(AttributeTemplate):
    key = FieldsType

    def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]
        """The type of a field, to read it and to write it."""
        if name not in kind.places:
            known = f"has {', '.join(kind.places)}" if kind.places else "is empty"
            raise TypingError(f"memory.{name} must be declared among the fields in `memory` of the class, which {known}")
        return kind.row if name == kind.rest else kind.element


@lower_getattr_generic(FieldsType)
def _get(context: Any, builder: Any, kind: Any, row: Any, name: str) -> Any:
    place = kind.places[name]
    if name == kind.rest:
        return builder.gep(row, [_place(place * WIDTH if isinstance(kind.row, LaneArrayType) else place)])
    get = context.get_function(operator.getitem, signature(kind.element, kind.row, types.intp))
    return get(builder, (row, _place(place)))


@lower_setattr_generic(FieldsType)
def _set(context: Any, builder: Any, typed: Any, values: Any, name: str) -> None:
    kind, (row, value) = typed.args[0], values
    put = context.get_function(operator.setitem, signature(types.none, kind.row, types.intp, kind.element))
    put(builder, (row, _place(kind.places[name]), value))


@lower_cast(types.Number, LanesType)
def _number_to_lanes(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    """A number that is written to a field of eight runs."""
    return raised(context, builder, value, given, wanted)


class Fields:
    """The same for an array in Python, which compiled code takes: (n,), or (K, n) whose fields have shape (K,).

    >>> memory = Fields(("baseline", "*history"), np.zeros(4))
    >>> memory.baseline = 0.5
    >>> memory.history.tolist(), memory
    ([0.0, 0.0, 0.0], Fields(baseline=0.5, history=[0. 0. 0.]))
    """

    def __init__(self, names: tuple[str, ...], numbers: np.ndarray) -> None:
        places = {name: i for i, name in enumerate(names) if not name.startswith("*")}
        rest = {name[1:]: slice(i, None) for i, name in enumerate(names) if name.startswith("*")}
        self.__dict__.update(_names=names, _numbers=numbers, _places={**places, **rest})  # any other attribute is a field

    def __getattr__(self, name: str) -> Any:
        places = self.__dict__.get("_places", {})
        if name not in places:
            raise AttributeError(f"memory has no field {name}; it has {', '.join(places) or 'none'}")
        return self._numbers.T[places[name]].T  # a number, not an array without dimensions, where there is one row

    def __setattr__(self, name: str, value: Any) -> None:
        getattr(self, name)  # raises where there is no such field
        self._numbers[..., self._places[name]] = value

    def __getitem__(self, row: int) -> Fields:
        return Fields(self._names, self._numbers[row])

    def __copy__(self) -> Fields:
        return Fields(self._names, self._numbers.copy())

    def __repr__(self) -> str:
        return f"Fields({', '.join(f'{name}={getattr(self, name)}' for name in self._places)})"

    @property
    def _address(self) -> int:
        numbers = self._numbers
        if numbers.ndim != 1 or numbers.dtype != np.float64 or not numbers.flags.c_contiguous:
            raise ValueError(f"memory: must be a contiguous row of float64, got {numbers.dtype} of shape {numbers.shape}")
        return int(numbers.ctypes.data)


@typeof_impl.register(Fields)
def _typeof(fields: Fields, context: Any) -> Any:
    return FieldsType(fields._names, PointerType(types.float64))


@unbox(FieldsType)
def _unbox(kind: Any, fields: Any, compiler: Any) -> Any:
    address = compiler.pyapi.object_getattr_string(fields, "_address")
    with compiler.builder.if_then(cgutils.is_null(compiler.builder, address), likely=False):
        compiler.builder.ret(compiler.pyapi.get_null_object())
    number = compiler.unbox(types.intp, address)
    compiler.pyapi.decref(address)
    pointer = compiler.builder.inttoptr(number.value, compiler.context.get_value_type(kind))
    return NativeValue(pointer, is_error=number.is_error)
