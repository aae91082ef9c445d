"""docs/features.md quotes the tables that the benchmarks with features wrote."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "features.md").read_text()


def benchmark(name: str) -> tuple[ModuleType, Any]:
    """A benchmark's module and its results."""
    path = ROOT / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, json.loads(path.with_suffix(".json").read_text())


def test_the_page_quotes_the_bandits():
    module, results = benchmark("features_bandits")
    assert module.regret_table(results) in PAGE
    assert module.cost_table(results) in PAGE
    ucb, thompson = (results["regret"][name] for name in ("LinUCB", "LinThompson"))
    assert f"LinUCB (c = 1) has regret {ucb['regret']} and {ucb['stuck']:.2f} stuck runs" in PAGE
    assert f"LinThompson {thompson['regret']} and {thompson['stuck']:.2f}." in PAGE


def test_the_page_quotes_the_exploration():
    module, results = benchmark("features_exploration")
    assert set(Counter((row["problem"], row["rule"]) for row in results["runs"]).values()) == {30}
    assert module.table(results) in PAGE


def test_the_page_quotes_the_maxima():
    _, results = benchmark("features_maxima")
    n_starts = results["mdps"] * results["starts"]
    assert f"{results['mdps']} random MDPs with {results['starts']} starts each" in PAGE
    assert results["refused"] == {}
    assert f"all {n_starts} starts are solved" in PAGE
    assert results["certified"] == results["mdps"]
    assert results["largest_range"] < 1e-8
