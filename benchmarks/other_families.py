"""OptimisticBarrier on families of rewards outside the panel, beside rules that know more and rules that know nothing.

    python benchmarks/other_families.py [--runs 60] [--seed 7601] [--arms 3,20,150] [--families 'exponential;no noise']
                                        [--json benchmarks/other_families.json]

A family draws a fresh instance for every run. Regret is after 50,000 pulls; with more than 100 arms after 100,000, in half as
many runs. Thompson sampling and UCB1 are given the noise and the range of the means; for clicks, Thompson sampling has beta
beliefs. Rows that the file of --json has are not computed again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import logbarrier as lb
from logbarrier.bandits.problems import Bandit, Family
from logbarrier.bandits.problems.bounded import beta_reward, uniform_noise
from logbarrier.bandits.problems.family import around, instance_uniforms
from logbarrier.base.files import read_table, whole_file
from logbarrier.engine.compiled import compiled
from logbarrier.engine.elementary import exp, log
from logbarrier.engine.random import reward_uniform, standard_normal
from logbarrier.planning.typical import typical
from logbarrier.statistics import percentile_interval, resampling_weights


@compiled
def exponential(noise, parameters, arm, stream):
    """R = -r(a) log u."""
    return -parameters[0, arm] * log(noise)


@compiled
def pareto(noise, parameters, arm, stream):
    """R = r(a) (1 - 1/alpha) u^(-1/alpha)."""
    index = parameters[1, arm]
    return parameters[0, arm] * (1.0 - 1.0 / index) * exp(-log(noise) / index)


@compiled
def two_values(noise, parameters, arm, stream):
    """R = high(a) with probability share(a), else low(a)."""
    return parameters[2, arm] if noise < parameters[1, arm] else parameters[3, arm]


@compiled
def two_modes(noise, parameters, arm, stream):
    """R = N(high(a), 0.1^2) with probability share(a), else N(low(a), 0.1^2)."""
    u, _ = reward_uniform(1, stream)
    return two_values(noise, parameters, arm, stream) + 0.1 * standard_normal(u)


@compiled
def ratings(noise, parameters, arm, stream):
    """R = 1 + a binomial count of 4 trials with probability (r(a) - 1)/4."""
    share, total = (parameters[0, arm] - 1.0) / 4.0, 1.0
    for block in (1, 2):
        u, v = reward_uniform(block, stream)
        total += (1.0 if u < share else 0.0) + (1.0 if v < share else 0.0)
    return total


@compiled
def gaussian(noise, parameters, arm, stream):
    """R = r(a) + scale(a) N(0, 1)."""
    return parameters[0, arm] + parameters[1, arm] * standard_normal(noise)


@compiled
def laplace(noise, parameters, arm, stream):
    """R = r(a) + scale(a) Laplace."""
    tail = log(2.0 * min(noise, 1.0 - noise))
    return parameters[0, arm] + parameters[1, arm] * (tail if noise < 0.5 else -tail)


@compiled
def constant(noise, parameters, arm, stream):
    """R = r(a)."""
    return parameters[0, arm]


def family(reward: Any, draw: Callable[[np.ndarray, np.ndarray], list[Any]]) -> Callable[[int], Family]:
    """Return K -> the family with a compiled reward, whose parameters `draw` makes of two uniforms for each arm."""
    functions = {"noise": staticmethod(uniform_noise), "reward_of": staticmethod(reward)}

    class Drawn(Family):
        """A family outside the panel."""

        bandit = type("Law", (Bandit,), functions)

        def __init__(self, n_arms: int) -> None:
            self.n_arms = n_arms

        def instance(self, key: np.ndarray, run: int) -> np.ndarray:
            """Return the parameters (P, K) of a run."""
            _, (first, second) = instance_uniforms(key, run, self.n_arms)
            return np.vstack(np.broadcast_arrays(*draw(first, second)))

    return Drawn


def mixture(share: Any, high: Any, low: Any) -> list[Any]:
    """Return the parameters of `two_values`: mean, share, high, low."""
    return [share * high + (1 - share) * low, share, high, low]


def beta(concentration: float) -> Callable[[np.ndarray, np.ndarray], list[Any]]:
    """Return what draws beta rewards with means in 0.3 .. 0.7."""
    return lambda u, v: [means := 0.3 + 0.4 * u, means * concentration, (1 - means) * concentration]


def lottery(u: np.ndarray, v: np.ndarray) -> list[Any]:
    """Return one arm that pays 100 with probability 1 %, and others that always pay the same."""
    one = u == u.max()
    return mixture(np.where(one, 0.01, 1.0), np.where(one, 100.0, 0.5 * v), 0.0)


FAMILIES: dict[str, Callable[[int], Family]] = {
    "rare counts": lambda k: lb.CountInstances(k, rate=0.01, spread=0.5),
    "large counts": lambda k: lb.CountInstances(k, rate=100.0, spread=0.05),
    "clicks of 0.5 %": lambda k: lb.ClickInstances(k, rate=0.005, spread=0.4),
    "clicks of 30 %": lambda k: lb.ClickInstances(k, rate=0.3, spread=0.2),
    "clicks of 90 %": lambda k: lb.ClickInstances(k, rate=0.9, spread=0.08),
    "beta, U-shaped": family(beta_reward, beta(0.5)),
    "beta, bell-shaped": family(beta_reward, beta(20.0)),
    "exponential": family(exponential, lambda u, v: [around(1.0, 0.3, u)]),
    "Pareto, index 2.5": family(pareto, lambda u, v: [around(1.0, 0.3, u), 2.5]),
    "Laplace": family(laplace, lambda u, v: [0.5 * u, 1.0]),
    "uniform": lambda k: _Uniform(k),
    "ratings of 1 to 5": family(ratings, lambda u, v: [3.5 + u]),
    "zero-inflated": family(two_modes, lambda u, v: mixture(0.05 + 0.1 * u, 2.0 + 2.0 * v, 0.0)),
    "two modes": family(two_modes, lambda u, v: mixture(0.3 + 0.4 * u, 1.0, -1.0)),
    "safe arms, one lottery": family(two_values, lottery),
    "rare losses": family(two_values, lambda u, v: mixture(0.98 + 0.015 * u, 1.0, -20.0)),
    "several best arms": family(gaussian, lambda u, v: [np.where(u > np.median(u), 0.3, 0.0), 1.0]),
    "unit 1e-6, offset 1": family(gaussian, lambda u, v: [1.0 + 1e-6 * u, 1e-6]),
    "unit 1e6, offset -1e9": family(gaussian, lambda u, v: [-1e9 + 1e6 * u, 1e6]),
    "noise in proportion": family(gaussian, lambda u, v: [u, 0.05 + u]),
    "no noise": family(constant, lambda u, v: [u]),
}  # fmt: skip


class _Uniform(Family):
    """Rewards uniform within 1 of means in 0 .. 0.5."""

    bandit = lb.UniformBandit

    def __init__(self, n_arms: int) -> None:
        self.n_arms = n_arms

    def instance(self, key: np.ndarray, run: int) -> np.ndarray:
        """Return the parameters (2, K) of a run."""
        _, (first, _) = instance_uniforms(key, run, self.n_arms)
        return np.vstack([0.5 * first, np.ones(self.n_arms)])


def rules_for(problem: Family) -> dict[str, lb.Rule]:
    """Return the rules that are compared."""
    known = typical(problem)
    noise, reach = float(f"{max(known.deviation, 1e-9):.3g}"), float(f"{known.reach:.3g}")
    informed = lb.BetaThompsonSampling() if known.clicks else lb.ThompsonSampling(scale=noise, prior_scale=reach)
    return {
        "OptimisticBarrier": lb.OptimisticBarrier(),
        "informed Thompson": informed,
        "informed UCB1": lb.UCB1(c=2 * noise),
        "empirical Thompson": lb.EmpiricalThompsonSampling(),
        "AutoLogBarrier": lb.AutoLogBarrier(),
    }


def figures(rule: lb.Rule, problem: Family, horizon: int, runs: int, seed: int) -> dict[str, float]:
    """Return mean regret with its 95 % bootstrap interval, the median, the largest, and the share of wrong ends."""
    record = lb.simulate(
        rule, problem, horizon=horizon, runs=runs, seed=seed, checkpoints=2, metrics=("regret", "suboptimality"), threads=1
    )
    regret, left = record["regret"][:, -1], record["suboptimality"][:, -1]
    low, high = percentile_interval(resampling_weights(runs, seed=0) @ regret)
    found = {"regret": regret.mean(), "low": low, "high": high, "median": np.median(regret), "largest": regret.max()}
    return {name: float(f"{value:.5g}") for name, value in found.items()} | {"left": float(f"{left.mean() * horizon:.5g}")}


def row_of(problem: Family, given: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of all rules on a problem."""
    many = problem.n_arms > 100
    horizon, runs = (100_000, given.runs // 2) if many else (50_000, given.runs)
    rows = {word: figures(rule, problem, horizon, runs, given.seed) for word, rule in rules_for(problem).items()}
    return {"horizon": horizon, "runs": runs, "rules": rows}


def words_of(row: dict[str, Any]) -> str:
    """Return one line: our regret, and its ratio to that of every other rule."""
    ours, *others = row["rules"].items()
    ratios = [f"{ours[1]['regret'] / figures['regret']:.2f} of {word}" for word, figures in others]
    return f"{ours[1]['regret']:10.4g}, largest {ours[1]['largest']:.4g}; {', '.join(ratios)}"


def main() -> None:
    """Print one row per family and number of arms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7601)
    parser.add_argument("--arms", default="3,20,150")
    parser.add_argument("--families", default=";".join(FAMILIES), help="names, separated by semicolons")
    parser.add_argument("--json", type=Path, help="write the figures there, row by row")
    given = parser.parse_args()
    found: dict[str, Any] = read_table(given.json).get("families", {}) if given.json else {}
    for name in given.families.split(";"):
        for n_arms in (int(each) for each in given.arms.split(",")):
            if (key := f"{name}/{n_arms}") not in found:
                found[key] = row_of(FAMILIES[name](n_arms), given)
            print(f"{key:28} {words_of(found[key])}", flush=True)
            if given.json:
                with whole_file(given.json) as file:
                    file.write(json.dumps({"seed": given.seed, "families": found}, indent=1).encode())


if __name__ == "__main__":
    main()
