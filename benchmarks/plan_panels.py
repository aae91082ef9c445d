"""Is a plan worth following? Its choice against that of ten times the budget, on random problems and unseen seeds.

    python benchmarks/plan_panels.py [--problems 30] [--budget 8] [--runs 100] [--seed 7] [--threads 1]

A problem has 2 to 1000 arms, a gap of .02 to .5, Gaussian rewards of deviation .1 to 3 or Bernoulli ones, and 1e3 to 1e5
pulls, all drawn evenly in the logarithm. A plan passes where its choice has at most 1.15 times the regret of the other's.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import logbarrier as lb
from logbarrier.bandits.algorithms.rule import Rule
from logbarrier.planning.contenders import code_of, contenders, cost
from logbarrier.planning.plan import plan
from logbarrier.planning.question import problem_like

UNSEEN_SEED = 20_000
WITHIN = 1.15
MOST_SECONDS = 60.0  # of testing one choice; dear rules get fewer runs


def drawn(generator: np.random.Generator) -> dict[str, object]:
    """A random problem as arguments of `plan`."""

    def between(low: float, high: float) -> float:
        return float(f"{np.exp(generator.uniform(np.log(low), np.log(high))):.2g}")

    return {
        "n_arms": int(between(2, 1000)),
        "gap": between(0.02, 0.5),
        "horizon": int(between(1e3, 1e5)),
        "scale": between(0.1, 3.0),
        "rewards": str(generator.choice(["gaussian", "bernoulli"])),
    }


def regret_of(code: str, problem: dict[str, object], runs: int, threads: int) -> float:
    """Mean regret of a rule, given as its line of code, on the unseen seed."""
    words = {name: problem[name] for name in ("n_arms", "gap", "rewards", "scale")}
    family = problem_like(**words)  # type: ignore[arg-type]
    rule: Rule = next(rule for rule in contenders(family) if code_of(rule) == code)
    horizon = int(str(problem["horizon"]))
    affordable = max(int(MOST_SECONDS / cost(rule, family.n_arms, horizon)), 4)
    options = {"horizon": horizon, "runs": min(runs, affordable), "seed": UNSEEN_SEED, "checkpoints": 2}
    record = lb.simulate(rule, family, metrics=["regret"], threads=threads, **options)  # type: ignore[arg-type]
    return float(record.mean("regret")[-1])


def main() -> None:
    """Print a row per problem and how many pass."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=30)
    parser.add_argument("--budget", type=float, default=8.0)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    generator, passed = np.random.default_rng(given.seed), 0
    print("| K | gap | rewards | pulls | plan | regret | ten times the budget | regret | ratio | plan, CPU s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for _ in range(given.problems):
        problem = drawn(generator)
        started = time.process_time()
        ours = plan(**problem, budget=given.budget, threads=given.threads).choice.code  # type: ignore[arg-type]
        seconds = time.process_time() - started
        better = plan(**problem, budget=10 * given.budget, seed=1, threads=given.threads).choice.code  # type: ignore[arg-type]
        regrets = {code: regret_of(code, problem, given.runs, given.threads) for code in {ours, better}}
        ratio = regrets[ours] / regrets[better]
        passed += ratio <= WITHIN
        law = "clicks" if problem["rewards"] == "bernoulli" else f"noise {problem['scale']:g}"
        print(
            f"| {problem['n_arms']} | {problem['gap']:g} | {law} | {problem['horizon']} | `{ours}` | {regrets[ours]:,.0f} "
            f"| `{better}` | {regrets[better]:,.0f} | {ratio:.2f} | {seconds:.1f} |",
            flush=True,
        )
    print(f"\n{passed} of {given.problems} within {WITHIN}")


if __name__ == "__main__":
    main()
