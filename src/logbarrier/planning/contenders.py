"""The rules that a plan tries, what a step of each costs, and the line of code that makes one."""

from __future__ import annotations

from dataclasses import MISSING, fields

import numpy as np

from ..bandits.algorithms.adaptive_log_barrier_sgb import AdaptiveLogBarrierSGB
from ..bandits.algorithms.auto_log_barrier import AutoLogBarrier
from ..bandits.algorithms.beta_thompson_sampling import BetaThompsonSampling
from ..bandits.algorithms.epsilon_greedy import EpsilonGreedy
from ..bandits.algorithms.inverse_gap_weighting import InverseGapWeighting
from ..bandits.algorithms.log_barrier_sgb import LogBarrierSGB
from ..bandits.algorithms.rule import Rule, TwoScalarRule
from ..bandits.algorithms.thompson_sampling import ThompsonSampling
from ..bandits.algorithms.ucb1 import UCB1
from ..bandits.engines import FEW_ARMS
from ..bandits.problems import BernoulliGapInstances, GapInstances
from ..base import validate

ALPHAS = (0.03, 0.1, 0.3, 1.0)  # of the adaptive barrier, in units of 1/r_max
LEARNING_RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # of LB-SGB, in units of 1/r_max
RATES_TRIED = 4
MISSES = (0.3, 0.1, 0.03, 0.01, 0.001)  # 1 - p(a*) at the maxima of the barrier objective, which set the eta tried
INSTANCES = 50  # over which the sum of 1/gap is averaged
CLICK_DEVIATION = 0.5  # the largest that rewards of 0 and 1 have

# Nanoseconds a step for every arm and for itself; rough, and constants so that a plan does not depend on the machine's mood.
BY_ARM: dict[type[Rule], float] = {
    ThompsonSampling: 12.0,
    BetaThompsonSampling: 60.0,
    UCB1: 2.5,
    InverseGapWeighting: 2.5,
    EpsilonGreedy: 1.0,
}
STEP = 150.0
LAZY_START = 1500.0  # a lazy step before the policy has left uniform, which takes a few pulls of each arm
REBUILD = 20.0  # of the lazy engine's classes, for every arm
REBUILDS: dict[type[Rule], float] = {AutoLogBarrier: 1.0 / 37.0, AdaptiveLogBarrierSGB: 1.0 / 140.0}  # first steps, per arm


def contenders(family: GapInstances | BernoulliGapInstances) -> list[Rule]:
    """What is worth trying on a family: the automatic rule, the adaptive one and the plain bandit algorithms."""
    unit = family.r_max
    tried: list[Rule] = [AutoLogBarrier()]
    tried += [AdaptiveLogBarrierSGB(learning_rate=float(f"{alpha / unit:.3g}")) for alpha in ALPHAS]
    if isinstance(family, BernoulliGapInstances):
        scale = CLICK_DEVIATION
        tried += [BetaThompsonSampling(), ThompsonSampling(scale=scale)]
    else:
        scale = family.scale
        tried += [ThompsonSampling(scale=scale, prior_scale=unit)]
    return [*tried, UCB1(c=float(f"{2.0 * scale:.3g}")), InverseGapWeighting(), EpsilonGreedy()]


def settings_of(name: str, family: GapInstances | BernoulliGapInstances, horizon: int) -> list[Rule]:
    """The settings of one rule that are worth trying."""
    every = [*contenders(family), *log_barrier_pairs(family, horizon)]
    validate.choice("plan", "rule", name, sorted({rule.name for rule in every}))
    return [rule for rule in every if rule.name == name]


def log_barrier_pairs(family: GapInstances | BernoulliGapInstances, horizon: int) -> list[Rule]:
    """LB-SGB with every pair of alpha and eta worth trying.

    alpha  from a uniform start p(a*) leaves 1/K after about K/(alpha r_max) pulls, so slower rates are left out
    eta    at the maximum of the barrier objective 1 - p(a*) is about (1/eta) times the sum of 1/gap over the other arms
    """
    fast_enough = [rate for rate in LEARNING_RATES if rate >= 3.0 * family.n_arms / horizon] or [LEARNING_RATES[-1]]
    means = np.array([np.sort(family.problem(0, run).means) for run in range(INSTANCES)])
    inverse_gaps = float((1.0 / (means[:, -1:] - means[:, :-1])).sum(axis=1).mean())
    return [
        LogBarrierSGB(learning_rate=float(f"{rate / family.r_max:.3g}"), eta=float(f"{inverse_gaps / miss:.2g}"))
        for rate in fast_enough[:RATES_TRIED]
        for miss in MISSES
    ]


def cost(rule: Rule, n_arms: int, horizon: int) -> float:
    """About how many seconds a run takes."""
    if not isinstance(rule, TwoScalarRule):
        return 1e-9 * horizon * (STEP + BY_ARM[type(rule)] * n_arms)
    if n_arms <= FEW_ARMS:
        return 1e-9 * horizon * (STEP / 3.0 + 2.0 * n_arms)
    lazy = horizon * STEP + LAZY_START * min(horizon, 3 * n_arms)
    return 1e-9 * (lazy + REBUILD * n_arms * rebuilds(rule, n_arms, horizon))


def rebuilds(rule: Rule, n_arms: int, horizon: int) -> float:
    """About how many of the first steps are so large that the lazy engine visits every arm (loops/lazy/step.py)."""
    return min(float(horizon), REBUILDS.get(type(rule), 0.0) * n_arms)


def code_of(rule: Rule) -> str:
    """The line that makes a rule, without the parameters that are at their defaults.

    >>> code_of(AdaptiveLogBarrierSGB(learning_rate=0.1))
    'lb.AdaptiveLogBarrierSGB(learning_rate=0.1)'
    """
    given = [
        f"{field.name}={getattr(rule, field.name)!r}"
        for field in fields(rule)
        if field.default is MISSING or getattr(rule, field.name) != field.default
    ]
    return f"lb.{type(rule).__name__}({', '.join(given)})"
