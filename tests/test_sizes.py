"""No file is above 300 lines and no function above 60."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(file for folder in ("src", "tools", "benchmarks", "examples") for file in (ROOT / folder).rglob("*.py"))
MOST_LINES, MOST_LINES_OF_FUNCTION = 300, 60


def too_long(source):
    """What is above its limit: ("file", lines), or (name of the function, lines)."""
    found = [("file", count)] if (count := len(source.splitlines())) > MOST_LINES else []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            found += [(node.name, lines)] if lines > MOST_LINES_OF_FUNCTION else []
    return found


def test_files_and_functions_are_short():
    assert {str(file.relative_to(ROOT)): found for file in FILES if (found := too_long(file.read_text()))} == {}


@pytest.mark.parametrize(("lines", "found"), [(59, []), (60, [("long", 61)]), (300, [("file", 301), ("long", 301)])])
def test_what_is_too_long_is_found(lines, found):
    assert too_long("def long():\n" + lines * "    pass\n") == found
