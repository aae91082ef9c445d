"""README.md and the pages of docs quote the figures that the benchmarks wrote."""

from __future__ import annotations

import json
import re
from pathlib import Path

import systems_ranking

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


NETWORKS = list(json.loads((ROOT / "benchmarks" / "deep_study.json").read_text()).values())
METHODS = ("none", "entropy", "barrier", "symmetric", "annealed")


def interquartile_mean(scores: list[float]) -> float:
    """The mean without the lowest and highest quarter, of which a part is rounded down."""
    left_out = len(scores) // 4
    middle = sorted(scores)[left_out : len(scores) - left_out]
    return sum(middle) / len(middle)


def test_the_page_on_networks_quotes_its_study():
    page = (ROOT / "docs" / "deep-study.md").read_text()
    head = "| task | none | entropy | barrier | symmetric | annealed | barrier - entropy | p |"
    tables = [part.split("\n\n")[0] for part in page.split(head)[1:]]
    assert len(tables) == 3
    for outcome, table in zip(("score", "last", "greedy"), tables, strict=True):
        for row in NETWORKS:
            (line,) = [line for line in table.splitlines() if line.startswith(f"| {row['task']} |")]
            cells = line.split(" | ")[1:6]
            for method, cell in zip(METHODS, cells, strict=True):
                assert abs(float(cell.split(" ")[0]) - interquartile_mean(row[outcome][method])) < 0.00501, (line, method)
            picked = [f"{row['picked'][method]:g}" for method in METHODS[1:]]
            assert [re.findall(r"\(([\d.]+)\*?\)", cell)[0] for cell in cells[1:]] == picked


def test_the_page_of_systems_shows_the_ranking():
    page = systems_ranking.PAGE.read_text()
    assert page == systems_ranking.with_table(page, json.loads(systems_ranking.RESULTS.read_text()))


def test_the_page_of_decisions_quotes_the_panel():
    cells = json.loads((ROOT / "benchmarks" / "decisions_panel.json").read_text())["cells"]
    page = (ROOT / "docs" / "decisions.md").read_text()
    table = page.partition("| kind of reward |")[2].partition("\n\n")[0]
    shown = [line for line in table.splitlines() if line.startswith("| ")]
    families = list(dict.fromkeys(name.split("/")[0] for name in cells))
    for family, line in zip(families, shown, strict=True):
        ratios = [row["ratios"].get("informed") for name, row in cells.items() if name.split("/")[0] == family]
        wanted = [f"{entry['ratio']:.2f}" if entry else "" for entry in ratios]
        assert [cell.strip() for cell in line.strip("|").split("|")][1:] == wanted, family
    informed = [row["ratios"]["informed"]["ratio"] for row in cells.values() if "informed" in row["ratios"]]
    assert f"at most 1.3 in {sum(ratio <= 1.3 for ratio in informed)} of {len(informed)} cells" in page


def test_the_page_of_decisions_quotes_the_tail():
    rows = json.loads((ROOT / "benchmarks" / "decisions_tail.json").read_text())["rows"]
    page = (ROOT / "docs" / "decisions.md").read_text()
    for ours, more, most, informed in zip(*[iter(rows)] * 4, strict=True):
        shares = f"{ours['wrong_end']:.1%} | {ours['lost']:.1%} | {ours['moments']:.1%} | {informed['wrong_end']:.1%}"
        ratio = ours["regret"] / informed["regret"]
        assert f"| {ours['runs']} | {shares} | {ratio:.2f} |".replace("%", " %") in page
        assert " | ".join(f"{row['lost']:.1%}, {row['regret']:,.0f}".replace("%", " %") for row in (ours, more, most)) in page


def test_the_exploration_page_quotes_the_time_of_each_bonus():
    found = json.loads((ROOT / "benchmarks" / "bonuses_throughput.json").read_text())
    page = (ROOT / "docs" / "exploration.md").read_text()
    table = page.partition("| method | µs per step |\n|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == [f"| {name} | {time:.1f} |" for name, time in found.items()]
    ratios = [found[f"E3B as a plain loop{case}"] / found[f"EpisodicElliptical{case}"] for case in ("", ", features given")]
    first, second = (f"{ratio:.1f}\N{MULTIPLICATION SIGN}" for ratio in ratios)
    assert f"`EpisodicElliptical` is {first} as fast as the loop, and {second} where features are given." in page


def test_the_page_on_contexts_quotes_its_results():
    page = (ROOT / "docs" / "contexts.md").read_text()
    changes, logs, (kills,) = (
        json.loads((ROOT / "benchmarks" / f"contexts_{name}.json").read_text()) for name in ("changes", "logs", "kills")
    )
    for name, row in changes["changes"].items():
        figures = f"{row['regret']:.4f} | {row['known']:.4f} | {row['lin_ucb']:.4f} | {row['restarts']:.2f}"
        assert f"| {name.replace('_', ' ')} | {row['steps']:.0f} | {figures} |" in page
    for threshold, row in changes["thresholds"].items():
        assert f"| {threshold} | {row['false_restarts']:.2f} | {row['regret']:.4f} ± {row['standard_error']:.4f} |" in page
    for name, row in changes["steady"].items():
        assert f"| {name.replace('_', ' ')} | {row['steps']:.0f} | {row['regret']:.4f} | {row['restarts']:.2f} |" in page
        assert row["restarts"] <= 0.1
    for row in logs:
        errors = f"{row['regret']:.3f} | {row['error_always']:.3f} | {row['error_greedy']:.3f}"
        assert f"| {row['problem']} | {row['logger']} | {errors} |" in page
    assert f"a p-value of at least {min(row['p'] for row in logs):.2f} in all {len(logs)} rows" in page
    assert f"{kills['acknowledged_decisions']:,} decisions and {kills['acknowledged_rewards']:,} rewards" in page
    assert (kills["kills"], kills["lost_decisions"], kills["lost_rewards"], kills["counted_twice"]) == (200, 0, 0, 0)
    assert kills["replay_equal_to_the_bit"]
