"""One hash of the code that numbers depend on: for stored cells of a study and for cached machine code alike.

The walk starts at functions or classes and follows every name that their bytecode reads: to other functions, to classes with
their bases and attributes, to constants and arrays. Two versions that could compute other numbers have other hashes. Comments,
docstrings and code that is never reached do not count. The hash is taken from the code that was imported, not from a file that
may have been edited since; it differs between versions of Python.

Three kinds of code are not followed. Functions of NumPy, SciPy, Numba and the standard library count by name. So does the code
of this package in `BY_NAME`, which moves no number: validation, files, records, the cache of machine code, and the choice of
an engine. The result of that choice is a root of the walk instead. Modules that generate code (`GENERATORS`) register
operators with Numba that no name leads to, so they count as a whole.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import hashlib
import inspect
import re
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np

from .bytecode import global_paths, words_of_code

PACKAGE = __name__.partition(".")[0]
ENGINE = f"{PACKAGE}.engine"
GENERATED_BY = ("arguments", "fields", "integer_lanes", "lane_access", "lane_arrays", "lanes", "linking", "pointers")
GENERATORS = (f"{ENGINE}.compiled", *(f"{ENGINE}.codegen.{name}" for name in GENERATED_BY))
OF_BASE = ("background", "conformance", "failure", "file_lock", "files", "parameters", "plain", "progress", "validate")
IN_BASE = tuple(f"base.{name}" for name in OF_BASE)
CHOICE = ("bandits.engines.choose", "bandits.engines.make_ready")
BY_NAME = tuple(
    f"{PACKAGE}.{name}"
    for name in ("record", "version", "engine.compiled", "engine.object_cache", "engine.interruptible", *IN_BASE, *CHOICE)
)
KNOWN_TO_NUMBA = ("math", "numpy", "numba", "operator", "builtins")
INSTALLED = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib"))
MADE_BY_PYTHON = {"__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__firstlineno__",
                  "__static_attributes__", "__dataclass_params__", "__match_args__", "__abstractmethods__", "_abc_impl",
                  "__annotations_cache__", "__annotate_func__", "__parameters__", "__repr__", "__eq__", "__hash__",
                  "__setattr__", "__delattr__", "__replace__", "_is_protocol", "__protocol_attrs__", "__subclasshook__",
                  "__non_callable_proto_members__", "__orig_bases__", "__slots__", "__slotnames__"}  # fmt: skip
_Intrinsic: Any = numba.core.extending._Intrinsic


class UnknownError(Exception):
    """A compiled function reads something that cannot be hashed."""


def code_hash(*things: Any, strict: bool = False) -> str:
    """Return the hash of functions, classes and plain values, 64 hexadecimal digits.

    strict: raise `UnknownError` where a function reads an object that is neither code nor a constant. Machine code is cached
    under a strict hash only.
    """
    return Walk(things, strict).digest


def classes_of(thing: Any) -> Iterator[type[Any]]:
    """Yield the class of an object and, for a dataclass, of the dataclasses in its fields, such as a schedule."""
    yield type(thing)
    for field in dataclasses.fields(thing) if dataclasses.is_dataclass(thing) else ():
        value = getattr(thing, field.name)
        if dataclasses.is_dataclass(value):
            yield from classes_of(value)


def is_user_defined(*things: Any) -> bool:
    """Return whether the class of an object, or one in its fields, is not of this package."""
    package = __name__.partition(".")[0]
    return any(kind.__module__.partition(".")[0] != package for thing in things for kind in classes_of(thing))


class Walk:
    """The code that some things lead to: its `digest`, and the code objects in it.

    Whatever was met before counts as a reference to it.
    """

    def __init__(self, things: tuple[Any, ...], strict: bool = False) -> None:
        self.codes: set[CodeType] = set()
        self._strict, self._met = strict, dict[int, int]()
        self._alive: list[Any] = []  # an object that is gone could leave its id to another one
        self._roots = {str(getattr(thing, "__module__", "")).partition(".")[0] for thing in things} - {"builtins"}
        words = hashlib.sha256("\0".join(map(_generator, GENERATORS)).encode())
        for thing in things:
            for word in self._of(thing, root=True):
                words.update(word.encode() + b"\0")
        self.digest = words.hexdigest()

    def _first_time(self, thing: Any) -> bool:
        if id(thing) in self._met:
            return False
        self._met[id(thing)] = len(self._met)
        self._alive.append(thing)
        return True

    def _of(self, thing: Any, root: bool = False) -> Iterator[str]:
        function = _function_in(thing)
        if isinstance(thing, _Intrinsic):
            yield from self._of_intrinsic(thing)
        elif function is not None:
            yield from self._of_function(thing, function, root)
        elif thing is None or thing is Ellipsis or isinstance(thing, bool | int | str | bytes | complex):
            yield f"{type(thing).__name__} {thing!r}"
        elif isinstance(thing, float):
            yield thing.hex()
        elif isinstance(thing, np.ndarray | np.generic) and not thing.dtype.hasobject:
            content = hashlib.sha256(np.ascontiguousarray(thing).tobytes()).hexdigest()
            yield f"array {thing.dtype.str} {thing.shape} {content}"
        elif isinstance(thing, numba.types.Type):
            yield f"type {thing}"
        elif isinstance(thing, type):
            yield from self._of_class(thing)
        elif isinstance(thing, tuple | list):
            yield f"{type(thing).__name__} {len(thing)}"
            for member in thing:
                yield from self._of(member)
        elif isinstance(thing, BuiltinFunctionType | np.ufunc):
            yield from self._of_foreign(thing)
        elif isinstance(thing, ModuleType) and not (self._strict and not _is_in(thing.__name__, KNOWN_TO_NUMBA)):
            yield f"module {thing.__name__}"
        elif self._strict:
            raise UnknownError(repr(thing))
        else:
            yield from self._of_object(thing)

    def _of_function(self, thing: Any, function: FunctionType, root: bool) -> Iterator[str]:
        """A function of Numba's, of Python's, or in a method, property or cache."""
        in_numba = hasattr(thing, "py_func")
        if not in_numba and not root and (self._strict or not self._is_followed(f"{function.__module__}.{function.__name__}")):
            yield from self._of_foreign(function)
            return
        if not self._first_time(function):
            yield f"function {self._met[id(function)]}"
            return
        options = getattr(thing, "targetoptions", None)
        yield f"function {function.__name__} {sorted(options.items()) if options else getattr(thing, 'inlined', '')}"
        self._note(function.__code__)
        yield from words_of_code(function.__code__)
        yield from self._of(function.__defaults__)
        for name, value in sorted((function.__kwdefaults__ or {}).items()):
            yield name
            yield from self._of(value)
        for cell in function.__closure__ or ():
            yield from self._of(_content(cell))
        for path in global_paths(function.__code__):
            yield from self._of_path(path, function.__globals__)

    def _of_path(self, path: tuple[str, ...], names: dict[str, Any]) -> Iterator[str]:
        """What a global name stands for; of a module that is followed, what the attribute does."""
        name, *attributes = path
        if name not in names:
            if not hasattr(builtins, name) and self._strict:
                raise UnknownError(name)
            return
        value = names[name]
        while isinstance(value, ModuleType) and self._is_followed(value.__name__) and attributes:
            value = getattr(value, attributes.pop(0), None)
        if not isinstance(value, ModuleType):
            yield name
        yield from self._of(value)

    def _of_intrinsic(self, thing: Any) -> Iterator[str]:
        """A code generator; what it reads are objects of the compiler, so it is never strict."""
        strict, self._strict = self._strict, False
        yield f"intrinsic {thing._defn.__module__}.{thing._name}"
        if thing._defn.__module__ in GENERATORS:
            yield from self._of(tuple(map(_content, thing._defn.__closure__ or ())))
        else:
            yield from self._of(thing._defn)
        self._strict = strict

    def _of_class(self, kind: type[Any]) -> Iterator[str]:
        yield f"class {kind.__qualname__}"
        if self._strict and issubclass(kind, tuple) and hasattr(kind, "_fields"):
            yield f"{kind.__module__} {kind._fields}"
        elif self._strict:
            yield from self._of_foreign(kind)
        elif self._is_followed(kind.__module__) and self._first_time(kind):
            for base in kind.__bases__:
                yield from self._of_class(base)
            for name, value in sorted(vars(kind).items()):
                if name not in MADE_BY_PYTHON and not _is_generated(name, value):
                    yield name
                    yield from self._of(value)

    def _of_foreign(self, thing: Any) -> Iterator[str]:
        module = str(getattr(thing, "__module__", None) or "numpy")
        if self._strict and not _is_in(module, KNOWN_TO_NUMBA):
            raise UnknownError(repr(thing))
        yield f"{module}.{thing.__name__}"

    def _of_object(self, thing: Any) -> Iterator[str]:
        kind = type(thing)
        yield kind.__qualname__
        if not self._first_time(thing):
            return
        if isinstance(thing, property):
            yield from self._of((thing.fget, thing.fset))
        elif isinstance(thing, functools.partial):
            yield from self._of((thing.func, *thing.args, *sorted(thing.keywords.items())))
        elif isinstance(thing, dataclasses.Field):
            defaults = (thing.default, thing.default_factory)
            yield from self._of(tuple(None if each is dataclasses.MISSING else each for each in defaults))
        elif isinstance(thing, set | frozenset):
            yield from sorted(" ".join(self._of(member)) for member in thing)
        elif isinstance(thing, dict):
            yield from self._of(tuple(thing.items()))
        elif hasattr(thing, "__dict__") and (dataclasses.is_dataclass(thing) or self._is_followed(kind.__module__)):
            yield from self._of_class(kind)
            yield from self._of(tuple(sorted(vars(thing).items())))
        else:
            yield re.sub(r" at 0x[0-9a-f]+", "", repr(thing))

    def _note(self, code: CodeType) -> None:
        self.codes.add(code)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._note(constant)

    def _is_followed(self, module: str) -> bool:
        """Whether a module, or a function in it, is this package's or the user's; not that of a library."""
        if _is_in(module, BY_NAME):
            return False
        top = module.partition(".")[0]
        return top == PACKAGE or top in self._roots or not _is_installed(module)


def _is_in(module: str, places: tuple[str, ...]) -> bool:
    return module in places or module.startswith(tuple(f"{place}." for place in places))


@cache
def _is_installed(name: str) -> bool:
    """Whether a module, or a function in it, belongs to Python or to an installed package."""
    module = sys.modules.get(name) or sys.modules.get(name.rpartition(".")[0])
    file = getattr(module, "__file__", None)
    return file is None or any(Path(file).resolve().is_relative_to(folder) for folder in INSTALLED)


def _function_in(thing: Any) -> FunctionType | None:
    """The Python function inside a compiled, cached, static or class one; None for what is not a function."""
    if isinstance(thing, staticmethod | classmethod):
        thing = thing.__func__
    elif isinstance(thing, functools.cached_property):
        thing = thing.func
    elif isinstance(thing, functools._lru_cache_wrapper):
        thing = thing.__wrapped__
    thing = getattr(thing, "py_func", thing)
    return thing if isinstance(thing, FunctionType) else None


def _is_generated(name: str, value: Any) -> bool:
    """Whether `dataclass` wrote a method, from fields that count themselves."""
    return name == "__init__" and inspect.isfunction(value) and value.__code__.co_filename == "<string>"


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing was bound yet
        return None


@cache
def _generator(module: str) -> str:
    """The hash of all code of a module."""
    code = import_module(module).__loader__.get_code(module)  # type: ignore[union-attr]
    return hashlib.sha256("\0".join(words_of_code(code)).encode()).hexdigest()
