"""Who may import whom, module by module."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import import_graph
from import_graph import FILES, ROW, imports, package

ONLY_IN = {
    "deep": {"torch", "stable_baselines3", "sb3_contrib", "jax"},
    "service": {"starlette", "uvicorn"},
    "lab_page": {"bokeh"},
}


def foreign(path: Path) -> set[str]:
    """Top-level names of other packages that a file imports, at any depth of the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_every_package_has_a_row():
    assert {package(name) for name in FILES} == set(ROW)


@pytest.mark.parametrize("name", [name for name in FILES if name != "__init__"])
def test_no_module_imports_a_higher_or_a_neighbouring_package(name):
    for other in imports(name):
        if other and package(other) != package(name):
            assert ROW[package(other)] < ROW[package(name)], f"{name} imports {other}"


def test_no_modules_import_one_another_in_a_circle():
    graph = {name: {other for other, at_once in imports(name).items() if at_once and other != name} for name in FILES}
    list(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("name", FILES)
def test_heavy_packages_stay_in_their_packages(name):
    for owner, packages in ONLY_IN.items():
        assert package(name) == owner or not foreign(FILES[name]) & packages


def test_the_architecture_page_shows_the_real_imports():
    page = import_graph.PAGE.read_text()
    assert import_graph.BEGIN in page
    assert page == import_graph.with_table(page), "run 'python tools/import_graph.py'"
