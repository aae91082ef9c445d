"""A lower layer never imports a higher one."""

from __future__ import annotations

import ast
from pathlib import Path

import logbarrier

ROOT = Path(logbarrier.__file__).parent

# Lowest first; modules of one row may import one another.
LAYERS = [
    {"version", "files", "validate"},
    {"engine"},
    {"schedules", "softmax"},
    {"problems", "algorithms", "starts", "record", "progress"},
    {"engines", "learners", "plots"},
    {"agent"},
    {"simulator"},
    {"theory", "studies", "testing", "deep"},
    {"paper", "systems"},
    {"report"},
    {"cli"},
    {"__main__", "__init__"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def imported_modules(path: Path) -> set[str]:
    """Top-level names inside the package that a file imports, at any depth of the file."""
    package = path.relative_to(ROOT).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            base = package[: len(package) - (node.level - 1)]
            full = [*base, *(node.module.split(".") if node.module else [])]
            found |= {full[0]} if full else {alias.name for alias in node.names}
    return found & set(RANK)


def test_every_module_has_a_layer():
    assert {path.relative_to(ROOT).with_suffix("").parts[0] for path in ROOT.rglob("*.py")} == set(RANK)


def test_no_layer_imports_a_higher_one():
    for path in ROOT.rglob("*.py"):
        own = path.relative_to(ROOT).with_suffix("").parts[0]
        if own == "__init__":
            continue
        for other in imported_modules(path):
            assert RANK[other] <= RANK[own], f"{path.relative_to(ROOT)} imports {other}"
