"""Plot docs/images/decisions.png and decisions-policy.png: `python tools/figure_decisions.py`.

Regret of rules that are given nothing, and of Thompson sampling that is given the law of the rewards; the policy of one agent.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

import logbarrier as lb
from logbarrier.plots.style import panels
from looks import WIDTH, label_edges, look, page_style, save
from pictures import ROOT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RUNS, SEED = 60, 7201
GIVEN_NOTHING = {"OptimisticBarrier": lb.OptimisticBarrier(), "AutoLogBarrier": lb.AutoLogBarrier()}
INFORMED = "Thompson, given the law"
UNEQUAL = lb.UnequalNoiseInstances(12, gap=0.3, smallest=0.2, largest=2.0)
REVENUE = lb.RevenueInstances(5, rate=0.1, amount=20.0, sigma=0.7)
PROBLEMS: list[tuple[str, Any, int, Any]] = [
    ("clicks of 2 %, 12 ads", lb.ClickInstances(12, rate=0.02, spread=0.4), 200_000, lb.BetaThompsonSampling()),
    ("Gaussian, 100 arms, gap 0.1", lb.GapInstances(100, gap=0.1), 100_000, lb.ThompsonSampling()),
    ("unequal noise, 12 arms", UNEQUAL, 100_000, lb.ThompsonSampling()),
    ("revenue, 10 % conversion, 5 arms", REVENUE, 100_000, None),
]
PINNED: dict[str, str] = json.loads((ROOT / "tests" / "studies" / "cell_digests.json").read_text())
MEANS, DECISIONS = (0.0, 0.2, 0.4, 0.6, 0.8), 20_000  # of the picture of the policy
SHOWN = {rule.name for rule in (*GIVEN_NOTHING.values(), *(informed for *_, informed in PROBLEMS if informed))}


def decisions() -> Figure:
    """Mean regret over the decisions, with 95 % intervals: a panel for each problem."""
    with page_style():
        figure, grid = panels(2, 2, size=(WIDTH, 5.4))
        for axes, (title, problem, horizon, informed) in zip(grid.ravel(), PROBLEMS, strict=True):
            rules = {**GIVEN_NOTHING, **({INFORMED: informed} if informed else {})}
            for number, (name, rule) in enumerate(rules.items()):
                record = lb.simulate(rule, problem, horizon=horizon, runs=RUNS, seed=SEED, spacing="log", checkpoints=60)
                axes.plot(record.steps, record.mean("regret"), label=name, **look(number))
                axes.fill_between(record.steps, *record.interval("regret"), color=look(number)["color"], alpha=0.2, linewidth=0)
            axes.set(title=title, xscale="log", xlim=(horizon / 1000, horizon), ylim=(0, None))
        label_edges(figure, grid, "decisions", "regret")
    return figure


def policy() -> Figure:
    """The probability of every arm as evidence grows, in one run."""
    rng = np.random.default_rng(SEED)
    agent = lb.Agent(lb.OptimisticBarrier(), arms=[f"mean {mean:.1f}" for mean in MEANS], seed=SEED)
    steps = np.unique(np.geomspace(1, DECISIONS, 160).astype(int))
    probabilities = []
    for step in range(1, DECISIONS + 1):
        decision = agent.ask()
        agent.tell(decision, reward=MEANS[agent.arms.index(decision.arm)] + rng.normal())
        if step in steps:
            probabilities.append(agent.policy)
    with page_style():
        figure, axes = panels(1, 1, size=(WIDTH, 3.2))
        for number, (arm, values) in enumerate(zip(agent.arms, np.transpose(probabilities), strict=True)):
            axes.plot(steps, values, label=arm, **look(number))
        axes.set(xscale="log", yscale="log", xlim=(1, DECISIONS), title="five arms, noise 1")
        axes.set(xlabel="decisions", ylabel="probability")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=5, columnspacing=1.0)
    return figure


OPTIMISTIC = [digest for case, digest in PINNED.items() if case.startswith("optimistic-barrier ")]
PICTURES = {
    "decisions.png": (decisions, PROBLEMS, RUNS, SEED, [digest for case, digest in PINNED.items() if case.split()[0] in SHOWN]),
    "decisions-policy.png": (policy, MEANS, DECISIONS, SEED, OPTIMISTIC),
}


if __name__ == "__main__":
    for name, made_from in PICTURES.items():
        print(save(made_from[0](), name, made_from))
