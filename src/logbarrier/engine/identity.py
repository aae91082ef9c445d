"""What the machine code of a function depends on, as one hash: its bytecode, the functions it calls, the constants it reads.

Numba compiles bytecode and takes globals and closed-over values as constants. So a function is what its bytecode says, with
each name that it reads from outside followed: to a compiled function, whose own identity counts; to a number, a tuple, an
array; to `math`, `numpy` or `numba`, which the versions stand for. Whatever else a name leads to raises `UnknownError`: such a
function is compiled, never guessed to be the same.

The code generators of the package (this folder, and the files of intrinsics elsewhere) count with their full text.
"""

from __future__ import annotations

import builtins
import dis
import hashlib
import platform
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy as np

HERE = Path(__file__).resolve().parent
PACKAGE = __name__.partition(".")[0]
_Intrinsic: Any = numba.core.extending._Intrinsic
KNOWN_MODULES = frozenset({"math", "numpy", "numba", "operator", "builtins", PACKAGE + ".engine"})


class UnknownError(Exception):
    """A function whose machine code depends on something that cannot be told apart by a hash."""


def identity(*things: Any) -> str:
    """The hash of functions and plain values."""
    digest = hashlib.sha256("\0".join((*_machine(), _text_of(str(HERE)))).encode())
    seen: dict[int, int] = {}
    for thing in things:
        for piece in _pieces(thing, seen):
            digest.update(piece.encode() + b"\0")
    return digest.hexdigest()


@cache
def _machine() -> tuple[str, ...]:
    """The processor, and the compiler with its settings."""
    settings: Any = numba.config
    chosen = (settings.CPU_NAME, settings.CPU_FEATURES, settings.ENABLE_AVX, settings.OPT, settings.LOOP_VECTORIZE)
    host = (llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    versions = (platform.python_version(), numba.__version__, llvmlite.__version__, np.__version__)
    return tuple(str(each) for each in (*chosen, settings.SLP_VECTORIZE, *host, *versions))


@cache
def _text_of(path: str) -> str:
    """The hash of a source file, or of all in a folder."""
    place, digest = Path(path), hashlib.sha256()
    for source in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()


def _pieces(thing: Any, seen: dict[int, int]) -> Iterator[str]:
    """All that a thing depends on, in a fixed order; `seen` holds the functions already followed, and their numbers."""
    function = getattr(thing, "py_func", thing)
    if isinstance(function, FunctionType) and (thing is not function or not seen):
        if id(function) in seen:
            yield f"function {seen[id(function)]}"
            return
        seen[id(function)] = len(seen)
        options = getattr(thing, "targetoptions", None)
        yield f"function {function.__name__} {sorted(options.items()) if options else getattr(thing, 'inlined', '')}"
        yield from _pieces_of_code(function.__code__)
        yield from _pieces(function.__defaults__ or (), seen)
        for cell in function.__closure__ or ():
            yield from _pieces(cell.cell_contents, seen)
        for value in _outside(function.__code__, function.__globals__):
            yield from _pieces(value, seen)
    elif isinstance(thing, tuple):
        yield f"tuple {len(thing)}"
        for member in thing:
            yield from _pieces(member, seen)
    else:
        yield _plain(thing)


def _plain(thing: Any) -> str:
    if thing is None or thing is Ellipsis or isinstance(thing, bool | int | str | bytes | complex):
        return repr(thing)
    if isinstance(thing, float):
        return thing.hex()
    if isinstance(thing, np.ndarray | np.generic) and not thing.dtype.hasobject:
        return f"array {thing.dtype.str} {thing.shape} {hashlib.sha256(thing.tobytes()).hexdigest()}"
    if isinstance(thing, numba.types.Type):
        return f"type {thing}"
    if isinstance(thing, type) and issubclass(thing, tuple) and hasattr(thing, "_fields"):
        return f"named tuple {thing.__module__}.{thing.__qualname__} {thing._fields}"
    if isinstance(thing, _Intrinsic):
        module = sys.modules.get(thing._defn.__module__)
        if module is not None and module.__name__.startswith(PACKAGE + ".") and module.__file__:
            return f"intrinsic {module.__name__}.{thing._name} {_text_of(module.__file__)}"
    if isinstance(thing, BuiltinFunctionType | FunctionType | type | np.ufunc):
        module_name = str(getattr(thing, "__module__", None) or "numpy")
        if module_name.partition(".")[0] in KNOWN_MODULES:
            return f"known {module_name}.{thing.__name__}"
    if isinstance(thing, ModuleType) and _is_known(thing):
        return f"module {thing.__name__}"
    raise UnknownError(repr(thing))


def _is_known(module: ModuleType) -> bool:
    name = module.__name__
    return name.partition(".")[0] in KNOWN_MODULES or any(name.startswith(known) for known in KNOWN_MODULES)


def _pieces_of_code(code: CodeType) -> Iterator[str]:
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars} {code.co_cellvars} {code.co_argcount}"
    for constant in code.co_consts[1:] if isinstance(code.co_consts[0], str) else code.co_consts:  # but a docstring
        if isinstance(constant, CodeType):
            yield from _pieces_of_code(constant)
        else:
            yield from _pieces(constant, {0: 0})


def _outside(code: CodeType, names: dict[str, Any]) -> Iterator[Any]:
    """The values of the globals that code reads; of an attribute of a module that is not known, the attribute's."""
    steps = list(dis.get_instructions(code))
    for place, step in enumerate(steps):
        if step.opname not in ("LOAD_GLOBAL", "LOAD_NAME"):
            continue
        if step.argval not in names:
            if hasattr(builtins, step.argval):
                continue
            raise UnknownError(step.argval)
        value, following = names[step.argval], place + 1
        while isinstance(value, ModuleType) and not _is_known(value):
            if not steps[following].opname.startswith(("LOAD_ATTR", "LOAD_METHOD")):
                raise UnknownError(repr(value))
            value = getattr(value, steps[following].argval)
            following += 1
        yield value
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _outside(constant, names)
