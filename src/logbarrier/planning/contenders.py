"""The rules that a plan tries, what a step of each costs, and the line of code that makes one."""

from __future__ import annotations

from dataclasses import MISSING, fields

import numpy as np

from ..bandits.algorithms.adaptive_log_barrier_sgb import AdaptiveLogBarrierSGB
from ..bandits.algorithms.auto_log_barrier import AutoLogBarrier
from ..bandits.algorithms.beta_thompson_sampling import BetaThompsonSampling
from ..bandits.algorithms.empirical_thompson_sampling import EmpiricalThompsonSampling
from ..bandits.algorithms.epsilon_greedy import EpsilonGreedy
from ..bandits.algorithms.inverse_gap_weighting import InverseGapWeighting
from ..bandits.algorithms.kl_ucb import KLUCB
from ..bandits.algorithms.log_barrier_sgb import LogBarrierSGB
from ..bandits.algorithms.optimistic_barrier import OptimisticBarrier
from ..bandits.algorithms.rule import Rule, TwoScalarRule
from ..bandits.algorithms.thompson_sampling import ThompsonSampling
from ..bandits.algorithms.ucb1 import UCB1
from ..bandits.engines import FEW_ARMS
from ..bandits.problems import ProblemSource
from ..base import validate
from ..contexts.algorithms import Rule as ContextualRule
from ..engine.random import stream_key
from .typical import typical

ALPHAS = (0.03, 0.1, 0.3, 1.0)  # of the adaptive barrier, in units of 1/(largest mean)
LEARNING_RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # of LB-SGB, in units of 1/(largest mean)
RATES_TRIED = 4
MISSES = (0.3, 0.1, 0.03, 0.01, 0.001)  # 1 - p(a*) at the maxima of the barrier objective, which set the eta tried
INSTANCES = 50  # over which the sum of 1/gap is averaged

# Nanoseconds a step for every arm and for itself; rough, and constants so that a plan does not depend on the machine's mood.
BY_ARM: dict[type[Rule], float] = {
    OptimisticBarrier: 2.0,
    ThompsonSampling: 12.0,
    BetaThompsonSampling: 60.0,
    EmpiricalThompsonSampling: 16.0,
    KLUCB: 30.0,
    UCB1: 2.5,
    InverseGapWeighting: 2.5,
    EpsilonGreedy: 1.0,
}
STEP = 150.0
LAZY_START = 1500.0  # a lazy step before the policy has left uniform, which takes a few pulls of each arm
REBUILD = 20.0  # of the lazy engine's classes, for every arm
REBUILDS: dict[type[Rule], float] = {AutoLogBarrier: 1.0 / 37.0, AdaptiveLogBarrierSGB: 1.0 / 140.0}  # first steps, per arm


def contenders(problem: ProblemSource) -> list[Rule]:
    """Return what is worth trying on a problem: the barriers and the plain bandit algorithms, given its noise and range."""
    known = typical(problem)
    reach, noise = (float(f"{max(size, 1e-90):.2g}") for size in (known.reach, known.deviation))
    tried: list[Rule] = [OptimisticBarrier(), AutoLogBarrier()]
    tried += [AdaptiveLogBarrierSGB(learning_rate=float(f"{alpha / reach:.3g}")) for alpha in ALPHAS]
    if known.clicks:
        tried += [BetaThompsonSampling(), KLUCB()]
    tried += [ThompsonSampling(scale=noise, prior_scale=reach), EmpiricalThompsonSampling()]
    return [*tried, UCB1(c=float(f"{2.0 * noise:.3g}")), InverseGapWeighting(), EpsilonGreedy()]


def settings_of(name: str, problem: ProblemSource, horizon: int) -> list[Rule]:
    """The settings of one rule that are worth trying."""
    every = [*contenders(problem), *log_barrier_pairs(problem, horizon)]
    validate.choice("plan", "rule", name, sorted({rule.name for rule in every}))
    return [rule for rule in every if rule.name == name]


def log_barrier_pairs(problem: ProblemSource, horizon: int) -> list[Rule]:
    """LB-SGB with every pair of alpha and eta worth trying.

    alpha  from a uniform start p(a*) leaves 1/K after about K/(alpha r(a*)) pulls, so slower rates are left out
    eta    at the maximum of the barrier objective 1 - p(a*) is about (1/eta) times the sum of 1/gap over the other arms
    """
    fast_enough = [rate for rate in LEARNING_RATES if rate >= 3.0 * problem.n_arms / horizon] or [LEARNING_RATES[-1]]
    means, key = np.empty((INSTANCES, problem.n_arms)), stream_key(0)
    for run in range(INSTANCES):
        means[run] = problem.instance(key, run)[0]
    gaps = means.max(axis=1, keepdims=True) - means
    inverse_gaps = float((1.0 / gaps[gaps > 0]).sum() / INSTANCES) if gaps.any() else float(problem.n_arms)
    reach = max(float(np.abs(means).max()), 1e-90)
    return [
        LogBarrierSGB(learning_rate=float(f"{rate / reach:.3g}"), eta=float(f"{inverse_gaps / miss:.2g}"))
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


def code_of(rule: Rule | ContextualRule) -> str:
    """The line that makes a rule, without the parameters that are at their defaults.

    >>> code_of(AdaptiveLogBarrierSGB(learning_rate=0.1))
    'lb.AdaptiveLogBarrierSGB(learning_rate=0.1)'
    """
    given = [
        f"{field.name}={getattr(rule, field.name)!r}"
        for field in fields(rule)
        if field.default is MISSING or getattr(rule, field.name) != field.default
    ]
    package = "lb.contexts" if isinstance(rule, ContextualRule) else "lb"
    return f"{package}.{type(rule).__name__}({', '.join(given)})"
