"""Compilation: `@compiled` for the small functions, `kernel` for the loops built from them, cached on disk between processes.

A kernel is translated with all that it calls and optimised once as a whole (codegen/linking.py). It is cached as an object file
(object_cache.py) under the hash of everything its machine code depends on (code_hash.py). A second process compiles nothing,
and an edit anywhere in what it calls compiles it again. A function can also be made an `entry` of its own, which kernels call
by its address: so one loop, compiled once, runs every rule.
"""

from __future__ import annotations

import contextlib
import ctypes
import platform
import threading
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from struct import Struct
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy as np

from ..engine import object_cache
from .code_hash import UnknownError, code_hash
from .codegen import arguments
from .explain import REFUSED, explained
from .interruptible import interruptible

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
        try:
            return self._from_python(*arguments)
        except REFUSED as error:
            raise explained(error, (self,)) from None


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a small function that kernels call. IEEE arithmetic as written: nothing is reordered or contracted."""
    return Compiled(function, False)


def inlined(function: Callable[..., Any]) -> Any:
    """The same for a function of a hot loop: it is always expanded where it is called."""
    return Compiled(function, True)


def entry(label: str, function: Callable[..., Any], signature: tuple[Any, ...], *more: Any, otherwise: Any = None) -> int:
    """The address of a Python function of numbers and pointers, compiled for compiled code to call.

    signature: Numba's types of its arguments. Called with them and a pointer to a float64, which is set to
    codegen.linking.RAISED if the function raises an exception, it returns what the function returns. more: what else its
    machine code depends on. otherwise: a function that does the same, in place of one that cannot be compiled.
    """
    functions = (function,) if otherwise is None else (function, otherwise)
    return _address(_Work(label, functions, signature, True), dict, *more)[0]


class Kernel:
    """A compiled function for Python to call with numbers, arrays and tuples of these."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = Compiled(function, False)
        self.__name__ = function.__name__
        self._label, self._near = getattr(function, "label", function.__name__), getattr(function, "near", False)
        self._entries: dict[Any, tuple[Any, Any]] = {}

    def __call__(self, *given: Any) -> Any:
        values: list[Any] = []
        kind = arguments.describe(self._label, given, values)
        call, returned = self._entries.get(kind) or self._prepare(kind)
        fault, result = ctypes.c_double(0.0), ctypes.create_string_buffer(64)
        call(arguments.layout(kind).pack(*values), result, fault)
        if fault.value:
            raise RuntimeError(f"{self._label}: compiled code raised an exception")
        return (
            arguments.unpacked(returned, list(arguments.layout(returned).unpack_from(result))) if returned is not None else None
        )

    def bound(self, before: tuple[Any, ...], numbers: tuple[float, ...], after: tuple[Any, ...]) -> Bound:
        """The kernel with all arguments fixed but the numbers in the middle, which are examples of what will come."""
        values: list[Any] = []
        kind = arguments.describe(self._label, (*before, *numbers, *after), values)
        call, returned = self._entries.get(kind) or self._prepare(kind)
        members = kind[-1]
        fixed, changing = members[: len(before)], members[len(before) : len(before) + len(numbers)]
        place, middle = arguments.layout(("tuple", fixed)).size, arguments.layout(("tuple", changing))
        buffer = ctypes.create_string_buffer(arguments.layout(kind).pack(*values))
        return Bound(call, buffer, place, middle, arguments.layout(returned), (before, after))

    def _prepare(self, kind: arguments.Kind) -> tuple[Any, Any]:
        kinds: list[arguments.Kind] = []
        function, unpack, write = self._function, arguments.unpacker(kind), arguments.writer(kinds)

        def from_numbers(numbers, result):
            write(result, function(*unpack(numbers)))

        with _compiling:
            if kind not in self._entries:
                pointers = (arguments.row_pointer, arguments.row_pointer)
                work = _Work(self._label, (from_numbers,), pointers, self._near)
                address, found = _address(work, lambda: {"returns": kinds[-1]}, kind)
                prototype = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_double))
                self._entries[kind] = prototype(address), _hashable(found["returns"])
        return self._entries[kind]


class Bound:
    """A kernel that is handed a few numbers a call, its arrays staying where they are: a microsecond rather than twenty.

    For one thread at a time. It returns the kernel's numbers as one flat tuple.
    """

    def __init__(self, call: Any, buffer: Any, place: int, middle: Struct, returned: Struct, alive: Any) -> None:
        self._buffer, self._place, self._pack = buffer, place, middle.pack_into
        self._result, self._fault = ctypes.create_string_buffer(64), ctypes.c_double(0.0)
        self._unpack = returned.unpack_from
        self._alive = alive  # the arrays behind the addresses
        address = ctypes.cast(call, ctypes.c_void_p).value
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(address or 0)
        self._addresses = tuple(ctypes.addressof(each) for each in (buffer, self._result, self._fault))

    def __call__(self, *numbers: float) -> tuple[Any, ...]:
        self._pack(self._buffer, self._place, *numbers)
        self._call(*self._addresses)
        if self._fault.value:
            self._fault.value = 0.0
            raise RuntimeError("compiled code raised an exception")
        return self._unpack(self._result)


@cache
def kernel(factory: Callable[..., Callable[..., Any]], *parts: Any) -> Any:
    """The compiled function `factory(*parts)`, where the parts are `compiled` functions that it calls.

    It is cached on disk, and compiled again when it, anything it calls or any constant it reads has changed. Only where that
    cannot be known, as with a plain Python object that is none of these, is it compiled once per process.
    """
    return Kernel(factory(*parts))


@cache
def from_python(part: Any) -> Any:
    """A `compiled` function for calls from Python, its machine code cached on disk like a kernel's."""
    return Kernel(part.py_func)


def _hashable(kind: Any) -> Any:
    return tuple(_hashable(member) for member in kind) if isinstance(kind, list | tuple) else kind


class _Work(NamedTuple):
    """What is to be compiled: the first of some functions that can be, and whether near its constants (codegen/linking.py)."""

    label: str
    functions: tuple[Any, ...]
    signature: tuple[Any, ...]
    near: bool

    def object_code(self) -> Any:
        """Of the first function that can be compiled; the last one's error if none can."""
        from .codegen.linking import object_code

        def code_of(function: Any) -> Any:
            dispatcher = _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function)
            return object_code(dispatcher, self.signature, self.near)

        for function in self.functions[:-1]:
            with contextlib.suppress(*REFUSED):
                return code_of(function)
        return code_of(self.functions[-1])


def _address(work: _Work, header: Callable[[], dict[str, Any]], *more: Any) -> tuple[int, Any]:
    """The address of machine code and its header: loaded from the cache, else compiled and, if its hash is known, cached."""
    with _compiling:
        try:
            kinds = tuple(str(kind) for kind in work.signature)
            name = code_hash(*work.functions, _machine(), kinds, work.near, more, strict=True)
        except UnknownError:
            name = None
        found = object_cache.read(name) if name else None
        address = _load(*found) if found else None
        if found and address:
            return address, found[0]
        try:
            code, needed = interruptible(f"compiling {work.label} (once)", work.object_code)
        except REFUSED as error:
            raise explained(error, work.functions) from None
        description = {"needed": needed, **header()}
        if name:
            object_cache.write(name, description, code)
        return _load(description, code) or 0, description


@cache
def _machine() -> tuple[str, ...]:
    """The processor, and the compiler with its settings."""
    settings: Any = numba.config
    chosen = (settings.CPU_NAME, settings.CPU_FEATURES, settings.ENABLE_AVX, settings.OPT, settings.LOOP_VECTORIZE)
    host = (llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    versions = (platform.python_version(), numba.__version__, llvmlite.__version__, np.__version__)
    return tuple(str(each) for each in (*chosen, settings.SLP_VECTORIZE, *host, *versions))


_alive: list[Any] = []  # machine code stays where it is as long as the process lives


def _load(header: dict[str, Any], code: bytes) -> int | None:
    """The address of the entry of object code; None if it is no object code."""
    if set(header["needed"]) - {"sqrt", "memset", "memcpy", "memmove"}:
        from numba.core.registry import cpu_target
        from numba.core.runtime.nrt import rtsys

        rtsys.initialize(cpu_target.target_context)  # gives LLVM the addresses of the functions of Numba
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
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine, use_lmm=True)
