"""Dynamic regret on arms that swap, drift and follow seasons, on seeds no setting was chosen on.

    python benchmarks/changing_panels.py [--arms 10] [--horizon 1e5] [--runs 100] [--seed 2041] [--threads 1]

The rivals that forget know how fast the problem changes: their window is half a period, or half a time scale, and the
discounted memory as long; the others know nothing. `over the best` divides by the least mean regret in the panel.
"""

from __future__ import annotations

import argparse

import numpy as np

import logbarrier as lb
from logbarrier.bandits.changing import ChangingBandits


def panels(arms: int) -> dict[str, tuple[ChangingBandits, int]]:
    """The problems, each with the window given to the rivals."""
    return {
        "abrupt": (lb.SwappingArms(n_arms=arms, gap=0.5, period=10_000), 5000),
        "drifting": (lb.DriftingArms(n_arms=arms, time_scale=10_000), 5000),
        "seasonal": (lb.SeasonalArms(n_arms=arms, period=20_000), 5000),
    }


def rules(window: int) -> list[lb.Rule]:
    """The automatic rule and its rivals."""
    return [
        lb.AutoLogBarrier(),
        lb.AdaptiveLogBarrierSGB(learning_rate=0.1),
        lb.LogBarrierSGB(learning_rate=0.1, eta=1000),
        lb.SlidingWindowUCB(window=window),
        lb.DiscountedThompsonSampling(discount=1.0 - 1.0 / window),
        lb.ThompsonSampling(),
    ]


def main() -> None:
    """Print a Markdown row per panel and rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", type=int, default=10)
    parser.add_argument("--horizon", type=float, default=1e5)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=2041)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    print("| kind | rule | dynamic regret | ± | over the best |\n|---|---|---|---|---|")
    for kind, (problem, window) in panels(given.arms).items():
        regrets = {}
        for rule in rules(window):
            record = lb.simulate(
                rule,
                problem,
                horizon=int(given.horizon),
                runs=given.runs,
                seed=given.seed,
                checkpoints=2,
                metrics=["regret"],
                threads=given.threads,
            )
            low, high = record.interval("regret")
            regrets[rule.name] = record.mean("regret")[-1], (high[-1] - low[-1]) / 2
        best = min(mean for mean, _ in regrets.values())
        for name, (mean, half) in sorted(regrets.items(), key=lambda item: np.asarray(item[1][0])):
            print(f"| {kind} | {name} | {mean:,.0f} | {half:,.0f} | {mean / best:.2f} |", flush=True)


if __name__ == "__main__":
    main()
