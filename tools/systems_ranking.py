"""Rank the rules of a stored examples/all-systems.toml: `python tools/systems_ranking.py FOLDER`.

Writes benchmarks/all_systems.json and the table of docs/systems.md. Without FOLDER the table is written from that file.
"""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

from pictures import ROOT

RESULTS = ROOT / "benchmarks" / "all_systems.json"
PAGE = ROOT / "docs" / "systems.md"
BEGIN, END = "<!-- ranking: written by tools/systems_ranking.py -->\n", "<!-- end of ranking -->"
ARMS = (10, 100, 1000)


def measured(folder: Path) -> dict[str, Any]:
    """Return the places of a stored study with the final means, by number of arms and rule."""
    from logbarrier.report.ranking import ranking
    from logbarrier.studies import Store
    from logbarrier.studies.results import records

    found = list(records(Store.open(folder)))
    places: dict[str, dict[str, Any]] = {}
    for arms in ARMS:
        rows = places[str(arms)] = {}
        for one in ranking([(case, record) for case, record in found if record.settings["n_arms"] == arms]):
            rule = one.record.settings["rule"]
            name = " ".join([rule["rule"], *([rule["schedule"]] if rule["rule"] == "baseline-npg" else [])])
            low, high = (float(end[-1]) for end in one.record.interval("regret"))
            rows[name] = {
                "place": [one.place, one.best, one.worst],
                "regret": [round(float(value), 1) for value in (one.record.mean("regret")[-1], low, high)],
                "optimal_probability": round(float(one.record.mean("optimal_probability")[-1]), 4),
                "stuck": float((one.record["wrong_probability"][:, -1] > 0.5).mean()),
            }
    machine = {key: found[0][1].provenance[key] for key in ("logbarrier", "cpu", "cores")}
    return {"study": "examples/all-systems.toml", "date": date.today().isoformat(), **machine, "arms": places}


def table(results: dict[str, Any]) -> str:
    """Return the ranking in Markdown, in the order of ten arms."""
    heads = [f"K = {arms}: place | regret | p(a*) | stuck" for arms in ARMS]
    lines = [f"| rule | {' | '.join(heads)} |", "|---" * (1 + 4 * len(ARMS)) + "|"]
    for rule in results["arms"][str(ARMS[0])]:
        cells = []
        for arms in ARMS:
            row = results["arms"][str(arms)][rule]
            place, low, high = row["place"]
            span = f"{low}-{high}" if low < high else f"{low}"
            cells.append(f"{place} ({span}) | {row['regret'][0]:,.0f} | {row['optimal_probability']:.2f} | {row['stuck']:.2f}")
        lines.append(f"| {rule} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def with_table(page: str, results: dict[str, Any]) -> str:
    """Return the page with the table of these results."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + table(results) + END + rest.split(END)[1]


if __name__ == "__main__":
    if sys.argv[1:]:
        RESULTS.write_text(json.dumps(measured(Path(sys.argv[1])), separators=(",", ":")) + "\n")
    PAGE.write_text(with_table(PAGE.read_text(), json.loads(RESULTS.read_text())))
