"""Who may import whom, module by module."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import logbarrier

ROOT = Path(logbarrier.__file__).parent

# Lowest first; a room imports itself and lower rows only.
ROWS = [
    {"version", "base"},
    {"engine", "record"},
    {"bandits"},
    {"theory", "testing", "studies"},
    {"verify", "plots"},
    {"planning", "report", "comparison"},
    {"paper"},
    {"lab"},
    {"cli"},
    {"__main__", "__init__"},
]
ROW = {name: row for row, names in enumerate(ROWS) for name in names}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


FILES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def imports(name: str) -> dict[str, bool]:
    """Modules of the package that a module imports -> whether it does so when it is loaded itself."""
    path = FILES[name]
    package = path.relative_to(ROOT).parts[:-1]
    tree = ast.parse(path.read_text())
    for outer in ast.walk(tree):
        for inner in ast.iter_child_nodes(outer):
            inner.inside = isinstance(outer, ast.FunctionDef) or _type_checking(outer) or getattr(outer, "inside", False)
    found: dict[str, bool] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            base = [*package[: len(package) - (node.level - 1)], *(node.module.split(".") if node.module else [])]
            for alias in node.names:
                target = ".".join([*base, alias.name])
                target = target if target in FILES else ".".join(base)
                found[target] = found.get(target, False) or not node.inside
    return found


def _type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def foreign(path: Path) -> set[str]:
    """Top-level names of other packages that a file imports, at any depth of the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
    return found


def room(name: str) -> str:
    return name.partition(".")[0]


def test_every_room_has_a_row():
    assert {room(name) for name in FILES} == set(ROW)


@pytest.mark.parametrize("name", [name for name in FILES if name != "__init__"])
def test_no_module_imports_a_higher_or_a_neighbouring_room(name):
    for other in imports(name):
        if other and room(other) != room(name):
            assert ROW[room(other)] < ROW[room(name)], f"{name} imports {other}"


def test_no_modules_import_one_another_in_a_circle():
    graph = {name: {other for other, loaded in imports(name).items() if loaded and other != name} for name in FILES}
    list(TopologicalSorter(graph).static_order())


ONLY_IN = {
    "deep": {"torch", "stable_baselines3", "sb3_contrib", "jax"},
    "service": {"starlette", "uvicorn"},
    "lab": {"bokeh"},
}


@pytest.mark.parametrize("name", FILES)
def test_heavy_packages_stay_in_their_rooms(name):
    for owner, packages in ONLY_IN.items():
        assert room(name) == owner or not foreign(FILES[name]) & packages
