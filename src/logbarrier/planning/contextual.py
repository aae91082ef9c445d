"""Rules that a plan tries where the problem has contexts, and what a run of each costs."""

from __future__ import annotations

import numpy as np

from ..base import validate
from ..contexts.algorithms import ContextualBarrier, EpsilonGreedy, LinThompson, LinUCB, Rule, SquareCB
from ..contexts.problems import ContextSource
from ..engine.random import stream_key

STRENGTHS = (0.3, 1.0)  # of LinUCB and LinThompson, in standard deviations of a reward
GAMMAS = (1.0, 10.0)  # of SquareCB, in units of 1/(deviation of a reward)
RUNS, STEPS = 8, 64  # whose contexts say how much rewards deviate
PER_ENTRY, STEP = 0.5, 800.0  # nanoseconds a step: for every entry of the matrices of all arms, and for itself


def contextual_contenders(problem: ContextSource) -> list[Rule]:
    """Return what is worth trying: the barrier at two prices, and its rivals at strengths that fit the noise."""
    noise = float(f"{max(deviation(problem), 1e-90):.2g}")
    tried: list[Rule] = [ContextualBarrier(), ContextualBarrier(price=0.3)]
    tried += [LinUCB(alpha=float(f"{strength * noise:.2g}")) for strength in STRENGTHS]
    tried += [LinThompson(scale=float(f"{strength * noise:.2g}")) for strength in STRENGTHS]
    tried += [SquareCB(gamma=float(f"{gamma / noise:.2g}")) for gamma in GAMMAS]
    return [*tried, EpsilonGreedy()]


def contextual_settings_of(name: str, problem: ContextSource) -> list[Rule]:
    """Return the settings of one rule that are worth trying."""
    every = contextual_contenders(problem)
    validate.choice("plan", "rule", name, sorted({rule.name for rule in every}))
    return [rule for rule in every if rule.name == name]


def deviation(problem: ContextSource) -> float:
    """Return the standard deviation of a reward given arm and context: the problem's scale, or that of clicks."""
    if problem.scale > 0.0:
        return problem.scale
    means = np.concatenate([problem.rows(stream_key(0), run, 0, STEPS)[1] for run in range(RUNS)])
    return float(np.sqrt(np.mean(means * (1.0 - means)))) or float(np.std(means))


def contextual_cost(problem: ContextSource, horizon: int) -> float:
    """Return about how many seconds a run takes."""
    entries = (problem.n_arms + 8) * (problem.n_features + 1) ** 2
    return 1e-9 * horizon * (STEP + PER_ENTRY * entries)
