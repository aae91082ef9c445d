"""Every dependency declares a lower bound that tools/lowest_versions.py can install."""

from __future__ import annotations

import re

from lowest_versions import lowest


def test_every_dependency_has_a_lower_bound():
    pinned = lowest()
    assert len(pinned) > 10
    assert [each for each in pinned if not re.fullmatch(r"[\w-]+==\d+(\.\d+)*", each)] == []


def test_what_is_used_by_private_interfaces_has_an_upper_bound_too(pytestconfig):
    declared = (pytestconfig.rootpath / "pyproject.toml").read_text()
    for name in ("numba", "llvmlite"):
        assert re.search(rf'"{name}>=[\d.]+,<[\d.]+"', declared)
