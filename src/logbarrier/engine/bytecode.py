"""What bytecode says of a function: its instructions, constants and the global names it reads, without its docstring."""

from __future__ import annotations

import dis
import inspect
import sys
from functools import cache
from itertools import pairwise
from types import CodeType
from typing import Any

HAS_DOCSTRING = 0x4000000  # the flag of code objects since Python 3.13
OPERATIONS = {number: name for name, number in dis.opmap.items()}
CACHE = dis.opmap["CACHE"]
GLOBALS = {"LOAD_GLOBAL": 1, "LOAD_NAME": 0}  # instruction -> by how many bits the number of the name is shifted
ATTRIBUTES = {"LOAD_ATTR": 1 if sys.version_info >= (3, 12) else 0, "LOAD_METHOD": 0}


@cache
def words_of_code(code: CodeType) -> tuple[str, ...]:
    """Bytecode, names and constants; not the docstring."""
    words = [
        f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars} {code.co_cellvars} {code.co_argcount}"
    ]
    docstring = _docstring_in(code)
    for number, constant in enumerate(code.co_consts):
        if isinstance(constant, CodeType):
            words += words_of_code(constant)
        elif number != docstring:
            words.append(f"{type(constant).__name__} {_written(constant)}")
    return tuple(words)


def _written(constant: Any) -> str:
    if isinstance(constant, frozenset):
        return str(sorted(map(repr, constant)))
    return constant.hex() if isinstance(constant, float) else repr(constant)


def _docstring_in(code: CodeType) -> int | None:
    """The number of the constant that is the docstring."""
    if not code.co_flags & inspect.CO_NEWLOCALS:  # a module's or a class's, which assign it to __doc__
        stored = ("STORE_NAME", code.co_names.index("__doc__")) if "__doc__" in code.co_names else None
        return next((number for (_, number), following in pairwise(_instructions(code)) if following == stored), None)
    if sys.version_info >= (3, 13):
        return 0 if code.co_flags & HAS_DOCSTRING else None
    return 0 if code.co_consts and isinstance(code.co_consts[0], str) and not code.co_name.startswith("<") else None


def _instructions(code: CodeType) -> list[tuple[str, int]]:
    """Names and arguments of all instructions; `dis` takes ten times as long."""
    found, high, content = [], 0, code.co_code
    for place in range(0, len(content), 2):
        name, number = OPERATIONS.get(content[place]), high | content[place + 1]
        high = number << 8 if content[place] == dis.EXTENDED_ARG else 0
        if name is not None and content[place] not in (CACHE, dis.EXTENDED_ARG):
            found.append((name, number))
    return found


@cache
def global_paths(code: CodeType) -> tuple[tuple[str, ...], ...]:
    """Every global name that code reads, each with the attributes read from it in turn."""
    found: dict[tuple[str, ...], None] = {}
    path: list[str] = []
    for name, number in [*_instructions(code), ("end", 0)]:
        if path and name in ATTRIBUTES:
            path.append(code.co_names[number >> ATTRIBUTES[name]])
            continue
        if path:
            found[tuple(path)] = None
        path = [code.co_names[number >> GLOBALS[name]]] if name in GLOBALS else []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found.update(dict.fromkeys(global_paths(constant)))
    return tuple(found)
