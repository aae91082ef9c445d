"""How often the intervals of a summary contain every mean at every look, how often a winner is wrong, and how soon it comes.

Experiments with clicks are decided by `OptimisticBarrier` (through `lb.Agent`) and by Thompson sampling (exact, many at once).

coverage  five arms at about 2 %, 20,000 decisions, looked at 20 times. An experiment is covered if all intervals of all arms at
          all looks contain the means. Next to it: naive intervals, mean -+ 1.96 standard errors.
winners   five arms, one better by three tenths, up to 400,000 decisions, looked at 100 times: decisions until the summary
          declares a winner.

python benchmarks/summary_coverage.py [--runs 1000] [--only coverage] [--counts FOLDER] [--out FILE]

Counts are stored piece by piece in the folder of --counts, so a second start continues, and the summary can be evaluated again.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import logbarrier as lb
from logbarrier.agent.arm_statistics import ArmStatistics
from logbarrier.agent.summary import Summary, summarise

PIECE = 20  # experiments per stored file
Play = Callable[[np.ndarray, float, np.ndarray, range], np.ndarray]


def by_the_recommended_rule(means: np.ndarray, floor: float, looks: np.ndarray, seeds: range) -> np.ndarray:
    """Return decisions and clicks of each arm at each look, (experiments, looks, 2, K)."""
    found = np.zeros((len(seeds), len(looks), 2, len(means)), dtype=np.int64)
    for seed, history in zip(seeds, found, strict=True):
        agent = lb.Agent(lb.OptimisticBarrier(), n_arms=len(means), seed=seed, floor=floor)
        generator, counts, before = np.random.default_rng(seed), np.zeros((2, len(means))), 0
        for look, after in enumerate(looks):
            for u in generator.random(after - before):
                decision = agent.ask()
                click = float(u < means[decision.arm])
                agent.tell(decision, click)
                counts[:, decision.arm] += 1, click
            history[look], before = counts, after
    return found


def by_thompson_sampling(means: np.ndarray, floor: float, looks: np.ndarray, seeds: range) -> np.ndarray:
    """Return the same, for arms with the largest sample of Beta(1 + clicks, 1 + others), one decision after the other."""
    generator, runs = np.random.default_rng(seeds.start), np.arange(len(seeds))
    found = np.zeros((len(seeds), len(looks), 2, len(means)), dtype=np.int64)
    pulls, clicks, before = np.zeros((len(seeds), len(means))), np.zeros((len(seeds), len(means))), 0
    for look, after in enumerate(looks):
        for _ in range(before, after):
            arms = generator.beta(1 + clicks, 1 + pulls - clicks).argmax(axis=1)
            if floor:
                equal = generator.random(len(runs)) < floor
                arms[equal] = generator.integers(len(means), size=equal.sum())
            pulls[runs, arms] += 1
            clicks[runs, arms] += generator.random(len(runs)) < means[arms]
        found[:, look, 0], found[:, look, 1], before = pulls, clicks, after
    return found


RULES: dict[str, Play] = {"OptimisticBarrier": by_the_recommended_rule, "Thompson sampling": by_thompson_sampling}


class Cell(NamedTuple):
    """Experiments of one kind."""

    study: str
    problem: str
    means: tuple[float, ...]
    rule: str
    floor: float

    @property
    def looks(self) -> np.ndarray:
        """Decisions made before each look."""
        if self.study == "coverage":
            return np.arange(1000, 20_001, 1000)
        return np.unique(np.geomspace(500, 400_000, 100).astype(np.int64))

    def counts(self, folder: Path, runs: int) -> np.ndarray:
        """Return the counts of so many experiments; those not stored yet are simulated and stored."""
        folder.mkdir(parents=True, exist_ok=True)
        pieces = []
        for first in range(0, runs, PIECE):
            path = folder / f"{self.study}-{self.problem}-{self.rule}-{self.floor:g}-{first}.npy".replace(" ", "_")
            if not path.exists():
                played = RULES[self.rule](np.array(self.means), self.floor, self.looks, range(first, first + PIECE))
                np.save(path, played)
                print(path.name, datetime.datetime.now().strftime("%H:%M:%S"), flush=True)
            pieces.append(np.load(path))
        return np.concatenate(pieces)[:runs]


COVERAGE = {"one arm at 3.5 %": (0.018, 0.019, 0.020, 0.020, 0.035), "all equal": (0.02,) * 5}
WINNERS = {"2 %": (0.018, 0.019, 0.020, 0.020, 0.026), "12 %": (0.108, 0.114, 0.12, 0.12, 0.156)}
CELLS = [Cell("coverage", *problem, rule, floor) for floor in (0.0, 0.5) for problem in COVERAGE.items() for rule in RULES]
CELLS += [Cell("winners", *problem, rule, floor) for floor in (0.0, 0.5) for problem in WINNERS.items() for rule in RULES]


def summary_of(counts: np.ndarray) -> Summary:
    """Return the summary of decisions and clicks (2, K)."""
    seen = ArmStatistics(counts.shape[1])
    seen.decisions = seen.rewards = counts[0].tolist()
    seen.means = (counts[1] / np.maximum(counts[0], 1)).tolist()
    seen.squares = [n * mean * (1 - mean) for n, mean in zip(seen.rewards, seen.means, strict=True)]
    return summarise(range(counts.shape[1]), seen)


def covered(counts: np.ndarray, means: tuple[float, ...]) -> dict[str, Any]:
    """Whether all intervals of an experiment cover, whether all naive ones do, and the first winner declared."""
    covers = naive = True
    winner = None
    for look in counts:
        summary = summary_of(look)
        for arm, mean in zip(summary.arms, means, strict=True):
            covers = covers and (arm.low or 0.0) <= mean <= (arm.high or 1.0)
            if arm.mean is not None and arm.rewards > 1:
                half = 1.96 * math.sqrt(arm.mean * (1 - arm.mean) / (arm.rewards - 1))
                naive = naive and abs(arm.mean - mean) <= half
        if winner is None and summary.verdict == "winner":
            winner = summary.leader
    right = winner is not None and means[winner] > max(mean for i, mean in enumerate(means) if i != winner)
    return {"covered": covers, "naive": naive, "winner": winner is not None, "wrong": winner is not None and not right}


def decisions_until_winner(counts: np.ndarray, looks: np.ndarray) -> float:
    """Decisions before the first look that declares a winner; infinite if none does."""
    return next(
        (float(after) for after, look in zip(looks, counts, strict=True) if summary_of(look).verdict == "winner"), math.inf
    )


def row_of(cell: Cell, folder: Path, runs: int) -> dict[str, Any]:
    """One row of the tables."""
    counts = cell.counts(folder, runs)
    row: dict[str, Any] = {"problem": cell.problem, "rule": cell.rule, "floor": cell.floor, "runs": len(counts)}
    if cell.study == "coverage":
        found = [covered(each, cell.means) for each in counts]
        return row | {name: float(np.mean([one[name] for one in found])) for name in found[0]}
    until = np.array([decisions_until_winner(each, cell.looks) for each in counts])
    quartiles = [float(np.quantile(until, q, method="lower")) for q in (0.25, 0.5, 0.75)]
    return row | {
        "declared": float(np.isfinite(until).mean()),
        "quartiles": [q if math.isfinite(q) else None for q in quartiles],
    }


def main() -> None:
    """Simulate, evaluate, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--winner-runs", type=int, default=20)
    parser.add_argument("--only", choices=("coverage", "winners"))
    parser.add_argument("--counts", type=Path, default=Path(".cache/summary_coverage"))
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    given = parser.parse_args()
    tables: dict[str, Any] = json.loads(given.out.read_text()) if given.out.exists() else {}
    tables |= {"date": datetime.date.today().isoformat(), "machine": f"{platform.machine()} {platform.system()}"}
    for study, runs in (("coverage", given.runs), ("winners", given.winner_runs)):
        if given.only in (None, study):
            tables[study] = []
            for cell in CELLS:
                if cell.study == study:
                    tables[study].append(row_of(cell, given.counts, runs))
                    print(tables[study][-1], flush=True)
                    given.out.write_text(json.dumps(tables, indent=1) + "\n")


if __name__ == "__main__":
    main()
