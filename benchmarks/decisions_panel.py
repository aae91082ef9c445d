"""Rules on the panel of realistic problems: regret with bootstrap intervals, ratios to the best rule, wrong ends.

    python benchmarks/decisions_panel.py run --rules auto-log-barrier,informed [--half test] [--kinds clicks,gap] [--arms 2,12]
                                             [--cells 'clicks-2%/12/100000,...'] [--runs 60] [--seed 7101] [--threads 1]
    python benchmarks/decisions_panel.py table [the same choices] [--json FILE]
    python benchmarks/decisions_panel.py compare [the same choices] [--json benchmarks/decisions_panel.json]

`run` stores the runs of each rule and cell in --folder (runs/panel) and computes only what is missing, so it may be stopped and
called again with other rules, cells or more runs. Runs of code that has changed since are computed again. `compare` divides the
regret of the first rule by that of each other one, over the runs that both have, with a 95 % bootstrap interval of the ratio.
A rule is a name from 'logbarrier rules' with its defaults, with parameters as in ucb1:c=0.5, or one of these words, which are
given the problem:

    informed              Thompson sampling given law, noise and range (`PanelCell.informed_rule`)
    informed-ucb1         UCB1 with c = twice the noise
    best-alpha            the best of seven learning rates of the adaptive barrier on each cell, in hindsight

All rules of a seed face the same instances. Tuning uses seeds below 7000, evaluation those from 7000 on.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import logbarrier as lb
from logbarrier.bandits.algorithms import make_rule
from logbarrier.bandits.simulator import code_roots
from logbarrier.base.files import read_table, whole_file
from logbarrier.engine.code_hash import code_hash
from logbarrier.planning.panel import PanelCell, panel
from logbarrier.planning.typical import typical
from logbarrier.statistics import percentile_interval, resampling_weights

ALPHAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # times 1/reach of the means
METRICS = ("regret", "optimal_probability")
BLOCK = 20  # runs computed and stored together


def rules_of(word: str, cell: PanelCell) -> list[lb.Rule]:
    """Return the rules that a word stands for on a cell."""
    if word == "informed":
        return [cell.informed_rule()]
    if word == "informed-ucb1":
        return [lb.UCB1(c=float(f"{2 * typical(cell.problem).deviation:.3g}"))]
    if word == "best-alpha":
        unit = typical(cell.problem).reach
        return [lb.AdaptiveLogBarrierSGB(learning_rate=float(f"{alpha / unit:.3g}")) for alpha in ALPHAS]
    name, _, given = word.partition(":")
    pairs = [pair.split("=") for pair in given.split(";") if pair]
    parameters: dict[str, Any] = {key: json.loads(value) for key, value in pairs}
    if name == "lb-inf":
        parameters.setdefault("horizon", cell.horizon)
    return [make_rule(name, parameters)]


def file_of(folder: Path, cell: PanelCell, rule: lb.Rule, seed: int) -> Path:
    """Return where the runs of a rule on a cell are stored."""
    words = [rule.name, *(f"{key}={value}" for key, value in rule.to_dict().items() if key != "rule")]
    return folder / f"{cell.name.replace('/', '-')}_{'_'.join(words)}_{seed}.json"


def stored(path: Path, cell: PanelCell, rule: lb.Rule) -> dict[str, Any]:
    """Return what is stored of a rule on a cell by the present code, empty if nothing is."""
    code = code_hash(*code_roots(rule, cell.problem, "auto"))
    found = read_table(path)
    return found if found.get("code") == code else {"code": code, "seconds": 0.0, **{name: [] for name in METRICS}}


def compute(path: Path, cell: PanelCell, rule: lb.Rule, given: argparse.Namespace) -> None:
    """Compute the runs that are missing, block by block."""
    kept = stored(path, cell, rule)
    while (done := len(kept["regret"])) < given.runs:
        started = time.perf_counter()
        record = lb.simulate(
            rule,
            cell.problem,
            horizon=cell.horizon,
            runs=min(BLOCK, given.runs - done),
            first_run=done,
            seed=given.seed,
            checkpoints=2,
            metrics=METRICS,
            threads=given.threads,
        )
        for name in METRICS:
            kept[name] += [float(f"{value:.6g}") for value in record[name][:, -1]]
        kept["seconds"] += time.perf_counter() - started
        kept |= {"cell": cell.name, "rule": rule.to_dict(), "seed": given.seed, **origin()}
        with whole_file(path) as file:
            file.write(json.dumps(kept).encode())
    print(f"{path.stem}: {np.mean(kept['regret']):,.1f} over {len(kept['regret'])} runs, {kept['seconds']:.0f} s", flush=True)


def origin() -> dict[str, str]:
    """Return when, from which commit and on which machine something was computed."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes")
    return {"date": date, "commit": commit.stdout.strip(), "machine": f"{platform.machine()} {platform.system()}"}


def summary(cell: PanelCell, word: str, given: argparse.Namespace) -> dict[str, Any] | None:
    """Return the figures of a word on a cell, None where runs are missing; of several rules, those of the best."""
    best: dict[str, Any] | None = None
    for rule in rules_of(word, cell):
        kept = stored(file_of(given.folder, cell, rule, given.seed), cell, rule)
        regret = np.array(kept["regret"][: given.runs])
        if len(regret) < given.runs:
            return None
        if best is None or regret.mean() < best["regret"]:
            low, high = percentile_interval(resampling_weights(len(regret), seed=0) @ regret)
            wrong = np.array(kept["optimal_probability"][: given.runs]) < 0.5
            figures = {"regret": regret.mean(), "low": low, "high": high, "median": np.median(regret), "largest": regret.max()}
            best = (
                {"rule": rule.to_dict()}
                | {name: float(value) for name, value in figures.items()}
                | {"wrong": float(wrong.mean())}
            )
            best |= {"runs": len(regret), "date": kept["date"], "commit": kept["commit"]}
    return best


def comparison(cell: PanelCell, words: list[str], given: argparse.Namespace) -> dict[str, Any] | None:
    """Return the figures of the first word and its ratios to the others, over the runs that both have; None without runs."""
    found = {}
    for word in words:
        rule = rules_of(word, cell)[0]
        kept = stored(file_of(given.folder, cell, rule, given.seed), cell, rule)
        found[word] = [np.array(kept[name][: given.runs]) for name in METRICS]
    ours, ends = found[words[0]]
    if len(ours) == 0:
        return None
    low, high = percentile_interval(resampling_weights(len(ours), seed=0) @ ours)
    figures = {"regret": ours.mean(), "low": low, "high": high, "median": np.median(ours), "largest": ours.max()}
    row: dict[str, Any] = {"runs": len(ours), "wrong": float(np.mean(ends < 0.5)), "ratios": {}}
    row |= {name: float(f"{value:.5g}") for name, value in figures.items()}
    for word in words[1:]:
        theirs, wrong = found[word]
        if runs := min(len(ours), len(theirs)):
            weights = resampling_weights(runs, seed=0)
            low, high = percentile_interval((weights @ ours[:runs]) / (weights @ theirs[:runs]))
            entry = {
                "ratio": ours[:runs].mean() / theirs[:runs].mean(),
                "low": low,
                "high": high,
                "wrong": np.mean(wrong[:runs] < 0.5),
            }
            row["ratios"][word] = {"runs": runs} | {name: float(f"{value:.4g}") for name, value in entry.items()}
    return row


def ratios(cells: dict[str, dict[str, dict[str, Any]]], words: list[str]) -> Iterator[str]:
    """Yield Markdown: the regret of each rule divided by the least of the cell."""
    yield f"| cell | least regret | {' | '.join(words)} |"
    yield "|---|---|" + "---|" * len(words)
    for name, row in cells.items():
        least = min(figures["regret"] for figures in row.values())
        entries = [f"{row[word]['regret'] / least:.2f} ({row[word]['wrong']:.2f})" if word in row else "-" for word in words]
        yield f"| {name} | {least:,.4g} | {' | '.join(entries)} |"
    full = [row for row in cells.values() if all(word in row for word in words)]
    if full:
        shares = {word: [row[word]["regret"] / min(f["regret"] for f in row.values()) for row in full] for word in words}
        for label, statistic in (("worst", np.max), ("90 % quantile", lambda x: np.quantile(x, 0.9)), ("median", np.median)):
            yield f"| **{label}** | | {' | '.join(f'{statistic(shares[word]):.2f}' for word in words)} |"


def chosen_cells(given: argparse.Namespace) -> list[PanelCell]:
    """Return the cells that the command line asks for."""
    cells = panel(
        half=given.half,
        kinds=given.kinds.split(",") if given.kinds else None,
        arms=[int(arms) for arms in given.arms.split(",")] if given.arms else None,
    )
    names = given.cells.split(",") if given.cells else [cell.name for cell in cells]
    return [cell for cell in cells if cell.name in names and cell.horizon <= given.longest]


def write(given: argparse.Namespace, cells: dict[str, Any]) -> None:
    """Write the figures, where a file is given."""
    if given.json:
        with whole_file(given.json) as file:
            file.write(json.dumps({**origin(), "seed": given.seed, "runs": given.runs, "cells": cells}, indent=1).encode())


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=["run", "table", "compare"])
    parser.add_argument("--rules", default="auto-log-barrier,informed")
    parser.add_argument("--half", choices=["tuning", "test"])
    parser.add_argument("--kinds")
    parser.add_argument("--arms")
    parser.add_argument("--cells")
    parser.add_argument("--longest", type=float, default=1e6, help="leave out cells of a longer horizon")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7101)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("runs/panel"))
    parser.add_argument("--json", type=Path, help="write the figures there")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    cells, words = chosen_cells(given), given.rules.split(",")
    if given.do == "run":
        for cell in cells:
            for rule in (rule for word in words for rule in rules_of(word, cell)):
                compute(file_of(given.folder, cell, rule, given.seed), cell, rule, given)
        return
    if given.do == "compare":
        rows = {cell.name: row for cell in cells if (row := comparison(cell, words, given))}
        for name, row in rows.items():
            entries = [f"{word} {e['ratio']:.2f} ({e['low']:.2f} to {e['high']:.2f})" for word, e in row["ratios"].items()]
            print(f"{name:24} {row['regret']:10.4g} {', '.join(entries)}")
        write(given, rows)
        return
    found = {cell.name: {word: figures for word in words if (figures := summary(cell, word, given))} for cell in cells}
    found = {name: row for name, row in found.items() if row}
    print("\n".join(ratios(found, words)))
    write(given, found)


if __name__ == "__main__":
    main()
