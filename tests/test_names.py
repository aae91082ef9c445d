"""Public names: one list, in __init__.pyi, that is what the package has and what type checkers see."""

from __future__ import annotations

import importlib

import pytest

import logbarrier as lb


@pytest.mark.parametrize("name", lb.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(lb, name) is not None


def test_every_rule_is_a_public_name():
    assert {rule.__name__ for rule in lb.RULES.values()} <= set(lb.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'logbarrier' has no attribute 'Sgd'"):
        lb.Sgd  # noqa: B018


def test_importing_the_package_loads_no_compiler(run_python):
    heavy = "numba", "scipy", "matplotlib", "torch", "bokeh", "starlette"
    code = f"import sys, logbarrier; print([name for name in {heavy} if name in sys.modules])"
    assert run_python(code) == "[]"
    assert importlib.import_module("logbarrier").__version__


def test_another_operating_system_is_refused_in_one_sentence(run_python):
    code = """
import os
os.name = "nt"
try:
    import logbarrier
except ImportError as error:
    print(error)
"""
    assert run_python(code) == "logbarrier: the operating system must be Linux or macOS, got nt"


@pytest.mark.parametrize("name", ["extend", "mdps", "plots", "theory"])
def test_subpackages_are_attributes(name, run_python):
    assert run_python(f"import logbarrier as lb; print(lb.{name}.__name__, '{name}' in dir(lb))") == f"logbarrier.{name} True"


def test_deep_without_torch_says_in_one_sentence_what_to_install(run_python):
    code = """
import sys
sys.modules["torch"] = None  # as if it were not installed
import logbarrier as lb
try:
    lb.deep
except ModuleNotFoundError as error:
    print(error)
"""
    assert run_python(code) == "deep: needs torch, which pip install 'logbarrier[rl]' installs"


def test_a_star_import_needs_no_torch(run_python):
    assert run_python("import sys; sys.modules['torch'] = None\nfrom logbarrier import *\nprint(SGB.__name__)") == "SGB"
