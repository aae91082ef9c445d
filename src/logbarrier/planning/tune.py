"""tune: the alpha and eta of LB-SGB for a problem, those of the theorems and their price, and those found by simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..bandits.problems import GapInstances
from ..bandits.simulator import LARGEST_HORIZON
from ..base import validate
from ..base.plain import Plain
from ..theory.theorems import Prescription, Setting, regret, sample_complexity, worst_case_complexity
from .search import FEWEST_RUNS, Candidate, Progress, Search

LEARNING_RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # in units of 1/r_max
RATES_TRIED = 4
CURVE_POINTS = 60


@dataclass(frozen=True)
class Tuning(Plain):
    """The answer.

    smallest_gap    median over instances of the smallest gap between two means, which is the theorems' Delta
    theory          what each theorem prescribes for accuracy epsilon, as if rewards were within r_max; c* at its least, K^2
    recommendation  the alpha and eta to run, with what fresh runs of them did
    searched        the candidates at the recommended alpha, by rising eta: the trade-off
    curve           (eta, plateau, bias) between them, exact
    """

    n_arms: int
    gap: float
    horizon: int
    r_max: float
    scale: float
    epsilon: float
    seed: int
    smallest_gap: float
    theory: tuple[Prescription, ...]
    recommendation: Candidate
    searched: tuple[Candidate, ...]
    curve: tuple[tuple[float, float, float], ...]
    simulated_steps: int


def default_budget(n_arms: int) -> int:
    """How many steps to simulate in all: about 20 s on two cores; a step costs more with more arms."""
    return int(4e8 / (1.0 + n_arms / 1000.0))


def tune(
    n_arms: int,
    gap: float,
    horizon: float,
    *,
    r_max: float = 1.0,
    scale: float = 1.0,
    learning_rate: float | None = None,
    epsilon: float | None = None,
    seed: int = 0,
    budget: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Tuning:
    """Recommend alpha and eta for LB-SGB on instances like the paper's: K arms, best mean r_max, second r_max - gap.

    horizon        how many pulls you have
    scale          standard deviation of the rewards
    learning_rate  alpha, if it is settled already; otherwise it is searched as well
    epsilon        accuracy asked of the theorems; gap/2 if not given, for which the optimal arm must lead
    budget         steps to simulate in all; fewer make the choice noisier
    progress       a function of (steps done, steps in all)

    The same arguments give the same answer, whatever the threads.

    >>> found = tune(10, 0.1, 2000, budget=1e5, learning_rate=0.1)
    >>> found.recommendation.learning_rate, found.recommendation.plateau > 0.2
    (0.1, True)
    """
    family = GapInstances(n_arms=n_arms, gap=gap, r_max=r_max, scale=scale)
    horizon = validate.integer("tune", "horizon", horizon, 1, LARGEST_HORIZON)
    epsilon = validate.positive("tune", "epsilon", family.gap / 2.0 if epsilon is None else epsilon)
    seed = validate.integer("tune", "seed", seed, 0)
    budget = validate.positive("tune", "budget", default_budget(family.n_arms) if budget is None else budget)
    if budget < FEWEST_RUNS * horizon:
        raise ValueError(
            f"tune: budget must be at least {FEWEST_RUNS} runs of the horizon, {FEWEST_RUNS * horizon:g} steps, "
            f"got {budget:g}; raise it, or tune for a shorter horizon"
        )
    if learning_rate is None:
        rates = learning_rates(family.n_arms, horizon, family.r_max)
    else:
        rates = (validate.positive("tune", "learning_rate", learning_rate),)

    search = Search(family, horizon, int(budget / horizon), seed=seed, threads=threads, progress=progress)
    smallest_gap = float(np.median(np.diff(np.sort(search.means, axis=1), axis=1).min(axis=1)))
    theory = _prescriptions(Setting(family.n_arms, smallest_gap, family.r_max), epsilon, horizon)
    recommendation, searched = search.best(rates)
    etas = np.geomspace(search.etas[0], search.etas[-1], CURVE_POINTS)
    return Tuning(
        n_arms=family.n_arms, gap=family.gap, horizon=horizon, r_max=family.r_max, scale=family.scale, epsilon=epsilon,
        seed=seed, smallest_gap=smallest_gap, theory=theory, recommendation=recommendation, searched=searched,
        curve=tuple((float(eta), *search.maximum(eta)) for eta in etas), simulated_steps=search.spent * horizon,
    )  # fmt: skip


def learning_rates(n_arms: int, horizon: int, r_max: float) -> tuple[float, ...]:
    """The rates worth trying: from a uniform start p(a*) leaves 1/K after about K/(alpha r_max) pulls, so slower is no use.

    >>> learning_rates(1000, 1_000_000, 1.0)
    (0.003, 0.01, 0.03, 0.1)
    """
    fast_enough = [rate for rate in LEARNING_RATES if rate >= 3.0 * n_arms / horizon] or [LEARNING_RATES[-1]]
    return tuple(rate / r_max for rate in fast_enough[:RATES_TRIED])


def _prescriptions(setting: Setting, epsilon: float, horizon: int) -> tuple[Prescription, ...]:
    return (
        sample_complexity(setting, epsilon=epsilon, c_star=float(setting.n_arms) ** 2),
        worst_case_complexity(setting, epsilon=epsilon),
        regret(setting, horizon=horizon),
    )
