"""What a class of your own computes, as a short hash: its compiled functions, what they call, and the constants they use.

Two versions of a rule that could give other numbers have other fingerprints; comments, docstrings, the file's place and
other classes in the file do not count. It is taken from the code that runs, not from a file that may have been edited after
it was imported. Functions of this package are covered by the version of its kernels, and those of NumPy, SciPy and the like by
their names.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import re
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

PACKAGE = __name__.partition(".")[0]
FOREIGN = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib"))
PLAIN = (int, float, complex, str, bytes, type(None), type(Ellipsis))
MADE_BY_PYTHON = {"__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__firstlineno__",
                  "__static_attributes__", "__dataclass_params__", "__match_args__", "__abstractmethods__", "_abc_impl",
                  "__annotations_cache__", "__annotate_func__", "__parameters__", "__repr__", "__eq__", "__hash__",
                  "__setattr__", "__delattr__", "__replace__"}  # fmt: skip


def fingerprint(kind: type[Any]) -> str:
    """Sixteen hexadecimal digits."""
    digest = hashlib.sha256()
    for word in _Walk(kind).of_class(kind):
        digest.update(word.encode() + b"\0")
    return digest.hexdigest()[:16]


class _Walk:
    """Words that describe a class and all it leads to; whatever was met before is not described twice."""

    def __init__(self, kind: type[Any]) -> None:
        self._home = kind.__module__.partition(".")[0]
        self._met: set[int] = set()

    def of_class(self, kind: type[Any]) -> Iterator[str]:
        if not self._is_own(kind.__module__):
            yield f"class {kind.__qualname__}"
        elif id(kind) not in self._met:
            self._met.add(id(kind))
            yield f"own class {kind.__qualname__}"
            for base in kind.__bases__:
                yield from self.of_class(base)
            for name, value in sorted(vars(kind).items()):
                if name not in MADE_BY_PYTHON and not _generated(name, value):
                    yield name
                    yield from self.of(value)

    def of(self, value: Any) -> Iterator[str]:
        """Words for any value that a function can refer to."""
        function = _python_function(value)
        if function is not None:
            yield from self._of_function(function)
        elif isinstance(value, PLAIN):
            yield f"{type(value).__name__} {value!r}"
        elif isinstance(value, np.ndarray):
            yield f"array {value.dtype} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
        elif isinstance(value, type):
            yield from self.of_class(value)
        elif isinstance(value, ModuleType):
            yield f"module {'own' if self._is_own(value.__name__) else value.__name__}"
        elif isinstance(value, property):
            for part in (value.fget, value.fset):
                yield from self.of(part)
        elif isinstance(value, dataclasses.Field):
            yield from self.of(value.default if value.default is not dataclasses.MISSING else None)
            yield from self.of(value.default_factory if value.default_factory is not dataclasses.MISSING else None)
        else:
            yield from self._of_container(value)

    def _of_container(self, value: Any) -> Iterator[str]:
        yield type(value).__qualname__
        if id(value) in self._met:
            return
        self._met.add(id(value))
        if isinstance(value, list | tuple):
            for entry in value:
                yield from self.of(entry)
        elif isinstance(value, set | frozenset):
            yield from sorted(" ".join(self.of(entry)) for entry in value)
        elif isinstance(value, dict):
            for key, entry in value.items():
                yield from self.of(key)
                yield from self.of(entry)
        elif hasattr(value, "__dict__") and (dataclasses.is_dataclass(value) or self._is_own(type(value).__module__)):
            yield from self.of(vars(value))
        else:
            yield re.sub(r" at 0x[0-9a-f]+", "", repr(value))

    def _of_function(self, function: Any) -> Iterator[str]:
        if not self._is_own(function.__module__ or ""):
            yield f"function {function.__module__}.{function.__qualname__}"
            return
        if id(function) in self._met:
            yield f"function {function.__qualname__} again"
            return
        self._met.add(id(function))
        yield f"function {function.__qualname__}"
        yield from self._of_code(function.__code__, function.__doc__)
        yield from self.of(function.__defaults__)
        yield from self.of(function.__kwdefaults__)
        for content in inspect.getclosurevars(function).nonlocals.values():
            yield from self.of(content)
        names = sorted(_names(function.__code__))
        for name in names:
            if name in function.__globals__:
                value = function.__globals__[name]
                yield name
                yield from self.of(value)
                if isinstance(value, ModuleType) and self._is_own(value.__name__):
                    for part in names:
                        if hasattr(value, part):
                            yield from self.of(getattr(value, part))

    def _of_code(self, code: CodeType, doc: str | None) -> Iterator[str]:
        yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars}"
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from self._of_code(constant, None)
            elif doc is None or constant != doc:
                yield from self.of(constant)

    def _is_own(self, module: str) -> bool:
        top = module.partition(".")[0]
        if top in (PACKAGE, "builtins"):
            return False
        if top == self._home:
            return True
        file = getattr(sys.modules.get(module), "__file__", None)
        return file is not None and not any(Path(file).resolve().is_relative_to(folder) for folder in FOREIGN)


def _python_function(value: Any) -> Any:
    """The function inside a compiled, static, class or plain one; None for what is not a function."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    value = getattr(value, "py_func", value)
    return value if inspect.isfunction(value) else None


def _generated(name: str, value: Any) -> bool:
    """Written by `dataclass`, from the fields that are described themselves."""
    function = _python_function(value)
    return name == "__init__" and function is not None and function.__code__.co_filename == "<string>"


def _names(code: CodeType) -> set[str]:
    """Global and attribute names that a function or one inside it uses."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))
