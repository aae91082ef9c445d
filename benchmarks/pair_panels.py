"""The alpha and eta that a plan finds against those of figure 1, on seeds that the plan did not use.

    python benchmarks/pair_panels.py [--horizon 1e5] [--arms 10,100,1000] [--runs 100] [--budget 30] [--picture plan.png]

The paper has two alpha for each K, each with its eta; the better of the two on the test seeds is compared. A row passes when
the planned pair's mean p(a*) at the horizon is at least that minus 2 standard errors of their paired difference, `ahead`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import logbarrier as lb
from logbarrier.planning import Plan, plan
from logbarrier.plots.style import COLOURS, panels, save_figure, styled

PAPER = {10: {0.01: 1000, 0.1: 1000}, 100: {0.01: 2000, 0.1: 2000}, 1000: {0.01: 10_000, 0.1: 5000}}
UNSEEN_SEED = 20_000


def main() -> None:
    """Print a row for each K."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--horizon", type=float, default=1e5)
    parser.add_argument("--arms", default="10,100,1000")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--budget", type=float, default=30.0, help="seconds of one core for a plan")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--picture", type=Path, default=None, help="plot the trade-off over eta for the last K")
    given = parser.parse_args()
    print(f"horizon {given.horizon:g}, {given.runs} runs on the test seed")
    print("| K | paper | p(a*) | planned | p(a*) | ahead | plan, s | verdict |\n|---|---|---|---|---|---|---|---|")
    for arms in map(int, given.arms.split(",")):
        started = time.perf_counter()
        options = {"objective": "final", "rule": "log-barrier-sgb", "budget": given.budget, "threads": given.threads}
        found = plan(arms, 0.1, given.horizon, **options)
        seconds = time.perf_counter() - started
        pairs = [lb.LogBarrierSGB(learning_rate=rate, eta=eta) for rate, eta in PAPER[arms].items()]
        paper = max(((final(rule, arms, given), rule) for rule in pairs), key=lambda one: one[0].mean())
        planned = final(eval(found.choice.code), arms, given)
        ahead = planned - paper[0]
        error = float(ahead.std(ddof=1)) / np.sqrt(len(ahead))
        verdict = "at least as well" if ahead.mean() >= -2 * error else "worse"
        print(
            f"| {arms} | `{paper[1]}` | {paper[0].mean():.3f} | `{found.choice.code}` | {planned.mean():.3f} "
            f"| {ahead.mean():+.3f} ± {error:.3f} | {seconds:.1f} | {verdict} |",
            flush=True,
        )
    if given.picture is not None:
        save_figure(trade_off(found), given.picture)


def final(rule: lb.LogBarrierSGB, arms: int, given: argparse.Namespace) -> np.ndarray:
    """p(a*) (runs,) at the horizon."""
    options = {"horizon": given.horizon, "runs": given.runs, "seed": UNSEEN_SEED, "checkpoints": 2, "threads": given.threads}
    record = lb.simulate(rule, lb.GapInstances(n_arms=arms), metrics=["optimal_probability"], **options)
    return np.asarray(record["optimal_probability"][:, -1])


def trade_off(found: Plan) -> Any:
    """What the plan saw over eta, a curve for each alpha: p(a*) at the horizon, and the share of stuck runs."""
    settings = [(eval(row.code), row) for row in found.rows]
    with styled():
        figure, (left, right) = panels(1, 2, size=(8.4, 3.3), sharex=True)
        for colour, rate in zip(COLOURS, sorted({rule.learning_rate for rule, _ in settings}), strict=False):
            curve = sorted(
                (rule.eta, row.optimal_probability, row.stuck) for rule, row in settings if rule.learning_rate == rate
            )
            eta, optimal, stuck = np.array(curve).T
            left.plot(eta, optimal, "o-", ms=4, color=colour, label=f"alpha {rate:g}")
            right.plot(eta, stuck, "o-", ms=4, color=colour)
        left.set(xscale="log", xlabel="eta", ylabel="final probability of the optimal arm", ylim=(-0.03, 1.03))
        right.set(xlabel="eta", ylabel="share of runs stuck on a wrong arm", ylim=(-0.03, 1.03))
        left.legend(loc="best")
        figure.suptitle(f"{found.problem['n_arms']:,} arms, gap {found.problem['gap']:g}, {found.horizon:,} pulls")
    return figure


if __name__ == "__main__":
    main()
