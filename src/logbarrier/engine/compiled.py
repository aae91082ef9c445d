"""Compilation: `@compiled` for the small functions, `kernel` for the loops built from them, kept on disk between processes.

A kernel is translated with all that it calls, optimised once as a whole (drafts.py), and kept as an object file (kept.py)
under the hash of everything its machine code depends on (identity.py): a second process compiles nothing, and an edit anywhere
in what it calls compiles it anew. A function can also be made an `entry` of its own, which kernels call by its address: so one
loop, compiled once, runs every rule.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from typing import Any

import llvmlite.binding as llvm
import numba

from . import kept, slots
from .identity import UnknownError, identity
from .watched import watched

_njit: Any = numba.njit  # its declared type does not know every option
_OPTIONS = {"nogil": True, "error_model": "numpy"}  # IEEE arithmetic as written: nothing is reordered or contracted
_compiling = threading.RLock()


class Compiled:
    """A function that kernels call. From Python it is called as Numba compiles it, apart from any kernel."""

    def __init__(self, function: Callable[..., Any], inlined: bool) -> None:
        self.py_func, self.inlined = function, inlined
        update_wrapper(self, function)

    @cached_property
    def dispatcher(self) -> Any:
        """For compiled code: without the wrappers that only Python calls."""
        wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        return _njit(forceinline=self.inlined, **_OPTIONS, **wrappers)(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        return self.dispatcher._numba_type_

    @cached_property
    def _from_python(self) -> Any:
        return _njit(**_OPTIONS)(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        return self._from_python(*arguments)


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a small function that kernels call. IEEE arithmetic as written: nothing is reordered or contracted."""
    return Compiled(function, False)


def inlined(function: Callable[..., Any]) -> Any:
    """The same for a function of a hot loop: it is always expanded where it is called."""
    return Compiled(function, True)


def entry(label: str, function: Callable[..., Any], *signature: Any) -> int:
    """The address of a Python function of numbers and pointers, compiled for compiled code to call.

    signature: Numba's types of its arguments. Called with them and a pointer to a float64, which is set to drafts.RAISED if
    the function raises an exception, it returns what the function returns.
    """
    return _address(label, function, signature, dict)[0]


class Kernel:
    """A compiled function for Python to call with numbers, arrays and tuples of these."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = Compiled(function, False)
        self.__name__ = function.__name__
        self._label = getattr(function, "label", function.__name__)
        self._entries: dict[Any, tuple[Any, Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        values: list[Any] = []
        kind = slots.describe(self._label, arguments, values)
        call, returned = self._entries.get(kind) or self._prepare(kind)
        fault, result = ctypes.c_double(0.0), ctypes.create_string_buffer(64)
        call(slots.layout(kind).pack(*values), result, fault)
        if fault.value:
            raise RuntimeError(f"{self._label}: compiled code raised an exception")
        return slots.unpacked(returned, list(slots.layout(returned).unpack_from(result))) if returned is not None else None

    def prepare(self, *arguments: Any) -> None:
        """Compile or load it for such arguments."""
        kind = slots.describe(self._label, arguments, [])
        if kind not in self._entries:
            self._prepare(kind)

    def _prepare(self, kind: slots.Kind) -> tuple[Any, Any]:
        kinds: list[slots.Kind] = []
        function, unpack, keep = self._function, slots.unpacker(kind), slots.keeper(kinds)

        def from_slots(arguments, result):
            keep(result, function(*unpack(arguments)))

        with _compiling:
            if kind not in self._entries:
                pointers = (slots.slot_pointer, slots.slot_pointer)
                address, found = _address(self._label, from_slots, pointers, lambda: {"returns": kinds[-1]}, kind)
                prototype = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_double))
                self._entries[kind] = prototype(address), _hashable(found["returns"])
        return self._entries[kind]


@cache
def kernel(factory: Callable[..., Callable[..., Any]], *parts: Any) -> Any:
    """The compiled function `factory(*parts)`, where the parts are `compiled` functions that it calls.

    It is kept on disk, and compiled again when it, anything it calls or any constant it reads has changed. Only where that
    cannot be known, as with a plain Python object that is none of these, is it compiled once per process.
    """
    return Kernel(factory(*parts))


@cache
def from_python(part: Any) -> Any:
    """A `compiled` function for calls from Python, its machine code kept on disk like a kernel's."""
    return Kernel(part.py_func)


def _hashable(kind: Any) -> Any:
    return tuple(_hashable(member) for member in kind) if isinstance(kind, list | tuple) else kind


def _address(label: str, function: Any, signature: Any, header: Callable[[], dict[str, Any]], *more: Any) -> tuple[int, Any]:
    """The address of a function and its header: loaded if it was kept, else compiled and, if it can be known again, kept."""
    with _compiling:
        try:
            name = identity(function, tuple(str(kind) for kind in signature), *more)
        except UnknownError:
            name = None
        found = kept.read(name) if name else None
        address = _load(*found) if found else None
        if found and address:
            return address, found[0]
        from .drafts import object_code

        dispatcher = _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function)
        code, needed = watched(f"compiling {label} (once)", lambda: object_code(dispatcher, signature))
        description = {"needed": needed, **header()}
        if name:
            kept.write(name, description, code)
        return _load(description, code) or 0, description


_alive: list[Any] = []  # machine code stays where it is as long as the process lives


def _load(header: dict[str, Any], code: bytes) -> int | None:
    """The address of the entry of object code; None if it is no object code."""
    if set(header["needed"]) - {"sqrt", "memset", "memcpy", "memmove"}:
        from numba.core.registry import cpu_target
        from numba.core.runtime.nrt import rtsys

        rtsys.initialize(cpu_target.target_context)  # tells LLVM where Numba's own functions are
    try:
        file = llvm.ObjectFileRef.from_data(code)
    except RuntimeError:
        return None
    engine = _new_engine()
    engine.add_object_file(file)
    engine.finalize_object()
    _alive.append(engine)
    return int(engine.get_function_address("entry"))


def _new_engine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
