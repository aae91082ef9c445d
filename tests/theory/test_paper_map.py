"""docs/paper-map.md and docs/errata.md are complete and name what exists."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from logbarrier.verify import STATEMENTS

ROOT = Path(__file__).parents[2]
MAP = (ROOT / "docs" / "paper-map.md").read_text()
ERRATA = (ROOT / "docs" / "errata.md").read_text()
TESTS = (ROOT / "tests" / "theory" / "test_errata.py").read_text()


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.name)
def test_every_row_of_verify_is_in_the_map(statement):
    short = re.sub(r"^(barrier difference|descent), ", "", statement.name)
    short = re.sub(r"^rho (falls|rises) to its fixed point$", r"rho \1", short)
    assert short in MAP


def test_every_name_of_the_theory_in_the_map_exists():
    for name in re.findall(r"`theory\.([A-Za-z_.]+)`", MAP):
        module, _, attribute = f"logbarrier.theory.{name}".rpartition(".")
        assert hasattr(import_module(module), attribute), name


def test_every_test_file_in_the_map_exists():
    for name in re.findall(r"`((?:tests|benchmarks)/[a-z_/]+\.py)`", MAP):
        assert (ROOT / name).exists(), name


def test_errata_are_numbered_without_a_hole_and_every_witness_has_a_test():
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]+) \|$", ERRATA, flags=re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    for number, shown in rows:
        if "witness" in shown:
            assert re.search(rf"^def test_(\d+_and_)?{number}_", TESTS, flags=re.MULTILINE), number
        for letter in re.findall(r"derivation ([A-Z])", shown):
            assert f"**{letter}. " in ERRATA
    assert {statement.erratum for statement in STATEMENTS} - {None} <= {int(number) for number, _ in rows}
