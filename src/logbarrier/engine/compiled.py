"""Compilation: `@compiled` for the small functions, `kernel` for the loops built from them, kept on disk between processes.

Numba's own disk cache does not notice an edit in another file and never hits for a function that closes over another one.
Here a kernel's file is named by a hash of everything its machine code depends on: the package's compiled sources, the
functions it was built from, the argument types, the compiler and the CPU. One file a kernel, written whole and renamed
into place, checked by its hash when read: two processes may write at once, and a damaged or unwritable folder only
costs a compilation.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import llvmlite
import numba
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from ..files import whole_file

PACKAGE = Path(__file__).resolve().parent.parent
_MDPS = ("mdps/algorithms", "mdps/episode.py", "mdps/loop.py", "mdps/measure.py")
_COMPILED_SOURCES = ("engine", "algorithms", "problems.py", "schedules.py", *_MDPS)


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a small function that kernels call. IEEE arithmetic as written: nothing is reordered or contracted."""
    return numba.njit(nogil=True, error_model="numpy")(function)


def inlined(function: Callable[..., Any]) -> Any:
    """The same for a function of a hot loop: it is always expanded where it is called."""
    return numba.njit(nogil=True, error_model="numpy", forceinline=True)(function)


@cache
def kernel(factory: Callable[..., Callable[..., Any]], *parts: Any) -> Any:
    """The compiled function `factory(*parts)`, where the parts are `compiled` functions that it calls.

    A kernel made only of this package's functions is kept on disk; one with a function of yours, whose own
    dependencies cannot be known, is compiled once per process.
    """
    dispatcher = specialised(factory, *parts)
    if all(_is_ours(part) for part in parts):
        dispatcher._cache = _KernelCache(dispatcher.py_func.__qualname__)
    return dispatcher


def specialised(factory: Callable[..., Callable[..., Any]], *parts: Any) -> Any:
    """`factory(*parts)`, compiled under a name of its own.

    Two functions of one factory would otherwise get one symbol, and a kernel loaded from disk could be linked to the other.
    """
    function = factory(*parts)
    identity = "+".join(_identity(part) for part in (factory, *parts))
    function.__qualname__ = f"{function.__name__}_{hashlib.sha256(identity.encode()).hexdigest()[:24]}"
    return compiled(function)


@cache
def from_python(part: Any) -> Any:
    """A `compiled` function for calls from Python, its machine code kept on disk like a kernel's."""
    return kernel(_copy, part)


def _copy(part: Any) -> Any:
    function = _python_function(part)
    return FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)


def cache_folder() -> Path:
    """Where kernels are kept: $LOGBARRIER_CACHE_DIR, else `logbarrier` in the user's cache folder."""
    chosen = os.environ.get("LOGBARRIER_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "logbarrier"


def _python_function(part: Any) -> Any:
    return getattr(part, "py_func", part)


def _identity(part: Any) -> str:
    function = _python_function(part)
    origin = "" if _is_ours(part) else f"@{id(function):x}"  # two functions of a user may share a name
    return f"{function.__module__}.{function.__qualname__}{origin}"


def _is_ours(part: Any) -> bool:
    return Path(_python_function(part).__code__.co_filename).resolve().is_relative_to(PACKAGE)


@cache
def _source_hash() -> str:
    digest = hashlib.sha256()
    for name in _COMPILED_SOURCES:
        path = PACKAGE / name
        for source in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(source.relative_to(PACKAGE).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()


class _KernelCache(_Cache):
    """What a Numba dispatcher asks before it compiles, and tells after."""

    def __init__(self, identity: str) -> None:
        self._identity = identity

    @property
    def cache_path(self) -> str:
        return str(cache_folder())

    def _file(self, signature: Any, target_context: Any) -> Path:
        machine = target_context.codegen().magic_tuple()
        parts = (self._identity, _source_hash(), signature, machine, numba.__version__, llvmlite.__version__)
        return cache_folder() / (hashlib.sha256(repr(parts).encode()).hexdigest()[:40] + ".kernel")

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        target_context.refresh()
        try:
            content = self._file(signature, target_context).read_bytes()
        except OSError:
            return None
        checksum, payload = content[:32], content[32:]
        if hashlib.sha256(payload).digest() != checksum:
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(payload))

    def save_overload(self, signature: Any, result: Any) -> None:
        payload = dumps(result._reduce())
        target = self._file(signature, result.target_context)
        with contextlib.suppress(OSError):
            target.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(target) as file:
                file.write(hashlib.sha256(payload).digest() + payload)

    def enable(self) -> None: ...

    def disable(self) -> None: ...

    def flush(self) -> None: ...
