"""Plot docs/images/decisions.png: regret of rules that are given nothing, and of Thompson sampling that is given the law.

python tools/figure_decisions.py [--runs 60] [--out docs/images/decisions.png]
"""

from __future__ import annotations

import argparse

import matplotlib.pyplot as plt

import logbarrier as lb

PROBLEMS = [
    ("clicks of 2 %, 12 ads", lb.ClickInstances(12, rate=0.02, spread=0.4), 200_000, lb.BetaThompsonSampling()),
    ("Gaussian, 100 arms, gap 0.1", lb.GapInstances(100, gap=0.1), 100_000, lb.ThompsonSampling()),
    (
        "unequal noise, 12 arms",
        lb.UnequalNoiseInstances(12, gap=0.3, smallest=0.2, largest=2.0),
        100_000,
        lb.ThompsonSampling(),
    ),
    ("revenue, 10 % conversion, 5 arms", lb.RevenueInstances(5, rate=0.1, amount=20.0, sigma=0.7), 100_000, None),
]
STYLES = {"OptimisticBarrier": ("C0", "-"), "AutoLogBarrier": ("C2", "--"), "Thompson, given the law": ("C1", ":")}


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--out", default="docs/images/decisions.png")
    arguments = parser.parse_args()
    figure, panels = plt.subplots(1, 4, figsize=(13, 3.3), layout="constrained")
    for axes, (title, problem, horizon, informed) in zip(panels, PROBLEMS, strict=True):
        rules = {"OptimisticBarrier": lb.OptimisticBarrier(), "AutoLogBarrier": lb.AutoLogBarrier()}
        if informed is not None:
            rules["Thompson, given the law"] = informed
        for name, rule in rules.items():
            record = lb.simulate(rule, problem, horizon=horizon, runs=arguments.runs, seed=7201, spacing="log", checkpoints=60)
            low, high = record.interval("regret")
            colour, line = STYLES[name]
            axes.plot(record.steps, record.mean("regret"), line, color=colour, label=name)
            axes.fill_between(record.steps, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.set(title=title, xscale="log", xlabel="decisions", xlim=(horizon / 1000, horizon), ylim=(0, None))
    panels[0].set_ylabel("regret, mean and 95 % interval")
    panels[0].legend(frameon=False)
    figure.savefig(arguments.out, dpi=130)


if __name__ == "__main__":
    main()
