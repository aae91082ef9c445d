"""How often the intervals of a summary contain every mean at every look, and how often a wrong winner is declared.

Experiments with clicks of about 2 %, decided by the recommended rule and by Thompson sampling, are looked at 20 times. An
experiment counts as covered if all intervals of all arms at all looks contain the means. Next to it: the same for naive
intervals, mean -+ 1.96 standard errors. A winner is declared at the first look at which the verdict says so.

python benchmarks/summary_coverage.py [--runs 1000] [--decisions 20000] [--json]
"""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

import numpy as np

import logbarrier as lb
from logbarrier.agent.confidence import Clicks
from logbarrier.agent.recommended import recommended_rule

LOOKS, LEVEL = 20, 0.95
MEANS = {"one better": (0.018, 0.019, 0.020, 0.020, 0.035), "all equal": (0.02, 0.02, 0.02, 0.02, 0.02)}
BATCH = 50  # decisions of Thompson sampling between two updates of its posterior


def by_the_recommended_rule(means: np.ndarray, decisions: int, seed: int) -> np.ndarray:
    """Rewards and clicks of each arm at each look, (LOOKS, 2, K)."""
    agent = lb.Agent(recommended_rule(), n_arms=len(means), seed=seed)
    generator = np.random.default_rng(seed)
    found = np.zeros((LOOKS, 2, len(means)))
    counts = np.zeros((2, len(means)))
    for look in range(LOOKS):
        for u in generator.random(decisions // LOOKS):
            decision = agent.ask()
            click = float(u < means[decision.arm])
            agent.tell(decision, click)
            counts[:, decision.arm] += 1, click
        found[look] = counts
    return found


def by_thompson_sampling(means: np.ndarray, decisions: int, seed: int) -> np.ndarray:
    """The same."""
    generator = np.random.default_rng(seed)
    found, counts = np.zeros((LOOKS, 2, len(means))), np.zeros((2, len(means)))
    for look in range(LOOKS):
        for _ in range(decisions // LOOKS // BATCH):
            samples = generator.beta(1 + counts[1], 1 + counts[0] - counts[1], size=(BATCH, len(means)))
            pulls = np.bincount(samples.argmax(axis=1), minlength=len(means))
            counts += pulls, generator.binomial(pulls, means)
        found[look] = counts
    return found


def evaluated(found: np.ndarray, means: np.ndarray) -> tuple[bool, bool, int | None]:
    """Whether all intervals cover, whether all naive ones do, and the winner declared, if any."""
    covers = naive = True
    winner = None
    bound, enough = math.log(len(means) / (1 - LEVEL)), math.log((len(means) - 1) / (1 - LEVEL))
    for pulls, clicks in found:
        arms = [Clicks(int(n), s / n if n else 0.0) for n, s in zip(pulls, clicks, strict=True)]
        for arm, mean in zip(arms, means, strict=True):
            low, high = arm.interval(bound)
            covers = covers and low <= mean <= high
            if arm.rewards > 1:
                half = 1.96 * math.sqrt(arm.mean * (1 - arm.mean) / (arm.rewards - 1))
                naive = naive and abs(arm.mean - mean) <= half
        first = max(range(len(arms)), key=lambda i: arms[i].mean)
        others = [arm for i, arm in enumerate(arms) if i != first]
        if winner is None and all(arm.rewards and arms[first].against(arm) >= enough for arm in others):
            winner = first
    return covers, naive, winner


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--decisions", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for problem, truth in MEANS.items():
        for name, play in (("recommended rule", by_the_recommended_rule), ("Thompson sampling", by_thompson_sampling)):
            means = np.array(truth)
            seen = [evaluated(play(means, options.decisions, seed), means) for seed in range(options.runs)]
            covers, naive, winners = (list(column) for column in zip(*seen, strict=True))
            wrong = [w is not None and (problem == "all equal" or means[w] < means.max()) for w in winners]
            row = {"problem": problem, "rule": name, "covered": np.mean(covers), "naive": np.mean(naive)}
            row |= {"winner declared": np.mean([w is not None for w in winners]), "wrong winner": np.mean(wrong)}
            rows.append(row)
            if not options.json:
                print(", ".join(f"{key} {value:.3f}" if isinstance(value, float) else str(value) for key, value in row.items()))
    if options.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
