"""README.md and docs/service.md quote the figures that benchmarks wrote."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULTS = json.loads((ROOT / "benchmarks" / "readme_results.json").read_text())
README = (ROOT / "README.md").read_text()
ROWS = [line for line in README.splitlines() if line.startswith("|")]


def results_of(words: str) -> list[str]:
    """The last cell of the rows of the results table that contain some words."""
    return [row.strip("| ").rpartition(" | ")[2] for row in ROWS if words in row]


def ratios(rival: str) -> str:
    found = RESULTS["panel"][rival]
    return (
        f"median {found['median']:.2f} times its regret; less in {found['below_one']} of {found['of']}; "
        f"at most {found['largest']:.2f} times"
    )


def test_readme_quotes_the_panel():
    assert results_of("Thompson sampling, given") == [ratios("thompson")]
    assert results_of("epsilon-greedy") == [ratios("epsilon_greedy")]


def test_the_summary_of_the_panel_is_that_of_its_cells():
    for rival in ("thompson", "epsilon_greedy"):
        cells = sorted(row[rival] for row in RESULTS["panel"]["cells"].values())
        middle = (cells[(len(cells) - 1) // 2] + cells[len(cells) // 2]) / 2
        stated = RESULTS["panel"][rival]
        assert abs(stated["median"] - middle) < 0.006
        assert abs(stated["largest"] - cells[-1]) < 0.006
        assert (stated["below_one"], stated["of"]) == (sum(ratio < 1 for ratio in cells), len(cells))


def test_readme_quotes_changes_mdps_and_networks():
    swaps, solved, score = RESULTS["swaps"], RESULTS["deep_sea"], RESULTS["collapsed"]
    assert results_of("swapped") == [f"regret {swaps['optimistic_barrier']:,.0f} against {swaps['window_ucb']:,.0f}"]
    runs = RESULTS["runs"]
    assert results_of("DeepSea") == [f"solved in {solved['spectral_pg']} of {runs} runs against {solved['entropy_pg']}"]
    assert results_of("collapsed PPO, trained on") == [
        f"score {score['annealed']:.2f} against {score['entropy']:.2f}; {score['none']:.2f}"
    ]


def test_readme_says_where_the_figures_come_from():
    assert f"({RESULTS['date']}, commit {RESULTS['commit']}, {RESULTS['machine']})" in README


def test_the_service_page_quotes_coverage_and_winners():
    found = json.loads((ROOT / "benchmarks" / "summary_coverage.json").read_text())
    page = (ROOT / "docs" / "service.md").read_text()
    for row in found["coverage"]:
        shares = " | ".join(f"{row[name]:.3f}" for name in ("covered", "naive", "winner", "wrong"))
        assert f"| {row['problem']} | {row['rule']} | {row['floor']:g} | {shares} |" in page
        assert (row["runs"], row["covered"] >= 0.94) == (1000, True)
    for row in found["winners"]:
        quartiles = " | ".join("more" if value is None else f"{value:,.0f}" for value in row["quartiles"])
        assert f"| {row['problem']} | {row['rule']} | {row['floor']:g} | {row['declared']:.2f} | {quartiles} |" in page
