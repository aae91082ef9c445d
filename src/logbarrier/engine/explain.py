"""One line for a user's function that does not compile, in place of the hundred that Numba writes."""

from __future__ import annotations

import dis
import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

from numba.core.errors import NumbaError, UnsupportedBytecodeError

from ..base.failure import RuleError

REFUSED = (NumbaError, UnsupportedBytecodeError)  # what Numba raises for code that it cannot compile
PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PLACE = re.compile(r"\bat (\S.*?) \((\d+)\)")
_NO_NAME = re.compile(r"name '(\w+)' is not defined")


class CompileError(RuleError, NumbaError):
    """A user's function does not compile; `__context__` is the exception of Numba."""

    def __init__(self, sentence: str) -> None:
        RuntimeError.__init__(self, sentence)


def explained(error: Exception, functions: tuple[Any, ...]) -> Exception:
    """The exception as `file:line: reason`; as it came where no function of a user is called from `functions`."""
    text = _COLOUR.sub("", str(error))
    users = [each for function in functions for each in _reachable(function, set()) if _is_users(each.__code__.co_filename)]
    if not users:
        return error
    file, line = _place(text, users)
    near = os.path.relpath(file)
    return CompileError(f"{file if near.startswith('..') else near}:{line}: {_reason(text)}")


def _is_users(file: str) -> bool:
    return not os.path.abspath(file).startswith(PACKAGE)


def _reachable(thing: Any, seen: set[int]) -> Iterator[FunctionType]:
    """A function and the compiled ones that it calls, whoever wrote them."""
    function = getattr(thing, "py_func", thing)
    if not isinstance(function, FunctionType) or id(function) in seen:
        return
    seen.add(id(function))
    yield function
    named = [function.__globals__.get(name) for name in function.__code__.co_names]
    for value in (*(cell.cell_contents for cell in function.__closure__ or ()), *named):
        if hasattr(value, "py_func"):
            yield from _reachable(value, seen)


def _reason(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Failed in ")]
    first = lines[0].removeprefix("NameError: ").partition(". Raised from")[0]
    return f"{first} {lines[1].removeprefix('>>> ')}" if first.endswith(":") and len(lines) > 1 else first


def _place(text: str, users: list[FunctionType]) -> tuple[str, int]:
    """The file and line of the mistake; Numba names no line for an unknown name."""
    missing = _NO_NAME.search(text)
    for function in users if missing else ():
        for step in dis.get_instructions(function):
            if missing and step.argval == missing[1] and step.positions is not None and step.positions.lineno:
                return function.__code__.co_filename, step.positions.lineno
    for file, line in _PLACE.findall(text):
        if _is_users(file):
            return file, int(line)
    return users[0].__code__.co_filename, users[0].__code__.co_firstlineno
