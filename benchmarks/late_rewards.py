"""What late rewards cost: regret of agents whose rewards come some decisions later, over that with immediate rewards.

    python benchmarks/late_rewards.py [--runs 10] [--decisions 20000] [--seed 7651] [--json benchmarks/late_rewards.json]

Whatever a rule does, its first `delay` decisions see no reward: they cost about delay times the mean gap of the arms, which is
reported as `blind`.
"""

from __future__ import annotations

import argparse
import json
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

import logbarrier as lb
from logbarrier.bandits.problems import BernoulliBandit
from logbarrier.base.files import whole_file

DELAYS = (0, 10, 100, 1000)
PROBLEMS = {
    "Gaussian, gap 0.5, 10 arms": lb.GapInstances(10, gap=0.5),
    "clicks of 12 %, 5 arms": lb.ClickInstances(5, rate=0.12, spread=0.3),
    "needle of 0.3, 50 arms": lb.NeedleInstances(50, gap=0.3),
}
RULES = {"OptimisticBarrier": lb.OptimisticBarrier(), "empirical Thompson": lb.EmpiricalThompsonSampling()}


def regret_of(rule: lb.Rule, family: Any, delay: int, decisions: int, seed: int, run: int) -> float:
    """Return what an agent loses whose rewards come `delay` decisions late."""
    problem, rng = family.problem(seed, run), np.random.default_rng([seed, run])
    means, clicks = problem.means, isinstance(problem, BernoulliBandit)
    agent, pending, lost = lb.Agent(rule, n_arms=len(means), seed=seed + run), deque[Any](), 0.0
    for _ in range(decisions):
        decision = agent.ask()
        mean = means[decision.arm]
        lost += means.max() - mean
        pending.append((decision, float(rng.random() < mean) if clicks else float(mean + rng.standard_normal())))
        if len(pending) > delay:
            late, reward = pending.popleft()
            agent.tell(late, reward=reward)
    return float(lost)


def main() -> None:
    """Print one row per problem and rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--decisions", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=7651)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found: dict[str, Any] = {}
    for name, family in PROBLEMS.items():
        gaps = [
            problem.means.max() - problem.means.mean() for problem in (family.problem(given.seed, i) for i in range(given.runs))
        ]
        for word, rule in RULES.items():
            row = {}
            for delay in DELAYS:
                lost = [regret_of(rule, family, delay, given.decisions, given.seed, run) for run in range(given.runs)]
                row[str(delay)] = {
                    "regret": float(f"{np.mean(lost):.5g}"),
                    "error": float(f"{np.std(lost, ddof=1) / np.sqrt(given.runs):.3g}"),
                    "blind": float(f"{delay * np.mean(gaps):.4g}"),
                }
                print(f"{name:28} {word:20} delay {delay:5}: {row[str(delay)]}", flush=True)
            found[f"{name}/{word}"] = row
            if given.json:
                with whole_file(given.json) as file:
                    head = {"seed": given.seed, "runs": given.runs, "decisions": given.decisions}
                    file.write(json.dumps({**head, "rows": found}, indent=1).encode())


if __name__ == "__main__":
    main()
