"""The theorems run for real: tiny problems with bounded rewards and the theory's own alpha and eta, measured and bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..bandits.algorithms.log_barrier_sgb import LogBarrierSGB
from ..bandits.problems import UniformBandit
from ..bandits.simulator import simulate
from ..base.plain import Plain
from ..record import Record
from ..statistics import t_interval
from ..theory.c_star import c_star
from ..theory.theorems import (
    ProblemClass,
    average_suboptimality,
    best_local_learning_rate,
    convergence_rate,
    local_convergence,
    regret,
    sample_complexity,
    worst_case_complexity,
)

CHECKPOINTS = 1001  # averages over time are trapezoid sums over these; the policy moves by at most alpha a step between them


@dataclass(frozen=True)
class Exercise(Plain):
    """A theorem's quantity as measured, the upper end of its 95 % interval, and the bound."""

    statement: str
    n_arms: int
    learning_rate: float
    eta: float
    horizon: int
    runs: int
    measured: float
    upper: float
    bound: float


@dataclass(frozen=True)
class Tiny:
    """Evenly spaced means on +-top and rewards within +-1: top + half_width = 1 = r_max."""

    n_arms: int
    top: float

    @property
    def problem_class(self) -> ProblemClass:
        """K, Delta and R."""
        return ProblemClass(n_arms=self.n_arms, gap=2.0 * self.top / (self.n_arms - 1), r_max=1.0)

    @property
    def problem(self) -> UniformBandit:
        """The bandit itself."""
        return UniformBandit(np.linspace(-self.top, self.top, self.n_arms), half_width=1.0 - self.top)

    def run(self, learning_rate: float, eta: float, horizon: float, runs: int, seed: int, threads: int | None) -> Record:
        """LB-SGB on it."""
        rule = LogBarrierSGB(learning_rate=learning_rate, eta=eta)
        return simulate(
            rule, self.problem, horizon=int(horizon), runs=runs, seed=seed, threads=threads, checkpoints=CHECKPOINTS
        )


def squared_gradient_norms(record: Record, means: np.ndarray, eta: float) -> np.ndarray:
    """||grad Phi||^2 (runs, C) from a record of 2 or 3 arms, whose policy follows from p(a*) and the suboptimality."""
    best = int(np.argmax(means))
    policy = np.empty((*record["optimal_probability"].shape, len(means)))
    policy[..., best] = record["optimal_probability"]
    others = [a for a in range(len(means)) if a != best]
    left = 1.0 - record["optimal_probability"]
    if len(others) == 1:
        policy[..., others[0]] = left
    else:
        near, far = (means[best] - means[a] for a in others)
        share = (record["suboptimality"] - near * left) / (far - near)
        policy[..., others[1]], policy[..., others[0]] = share, left - share
    slope = policy * (means - (policy * means).sum(axis=-1, keepdims=True)) + (1.0 - len(means) * policy) / eta
    return np.asarray((slope**2).sum(axis=-1))


def over_time(record: Record, values: np.ndarray) -> np.ndarray:
    """The average over steps (runs,) of values (runs, C) at the checkpoints."""
    return np.asarray(np.trapezoid(values, record.steps, axis=1) / record.horizon)


def exercise_local_convergence(tiny: Tiny, *, eta: float, horizon: int, runs: int, seed: int, threads: int | None) -> Exercise:
    """The average squared gradient norm at the learning rate for which the bound is least."""
    alpha = best_local_learning_rate(tiny.problem_class, eta=eta, horizon=horizon)
    record = tiny.run(alpha, eta, horizon, runs, seed, threads)
    averages = over_time(record, squared_gradient_norms(record, tiny.problem.means, eta))
    bound = local_convergence(tiny.problem_class, learning_rate=alpha, eta=eta, horizon=horizon)
    return _measured("local convergence", tiny, alpha, eta, record, averages, bound)


def exercise_worst_case(tiny: Tiny, *, epsilon: float, runs: int, seed: int, threads: int | None) -> Exercise:
    """The average suboptimality with the theorem's alpha, eta and T."""
    wanted = worst_case_complexity(tiny.problem_class, epsilon=epsilon)
    record = tiny.run(wanted.learning_rate, wanted.eta, wanted.horizon, runs, seed, threads)
    averages = over_time(record, record["suboptimality"])
    return _measured("worst-case complexity", tiny, wanted.learning_rate, wanted.eta, record, averages, epsilon)


def exercise_bad_iterations(tiny: Tiny, *, eta: float, horizon: int, runs: int, seed: int, threads: int | None) -> Exercise:
    """The average suboptimality against 2 R eta^2 times the measured average squared gradient, plus K/eta."""
    alpha = best_local_learning_rate(tiny.problem_class, eta=eta, horizon=horizon)
    record = tiny.run(alpha, eta, horizon, runs, seed, threads)
    squared = over_time(record, squared_gradient_norms(record, tiny.problem.means, eta)).mean()
    bound = average_suboptimality(tiny.problem_class, eta=eta, mean_squared_gradient=float(squared))
    averages = over_time(record, record["suboptimality"])
    return _measured("counting bad iterations", tiny, alpha, eta, record, averages, bound)


def exercise_convergence_rate(tiny: Tiny, *, epsilon: float, runs: int, seed: int, threads: int | None) -> Exercise:
    """The last suboptimality with the theorem's alpha, eta and T; c* is K^2 at the start and the record must not exceed it.

    If it does, the bound is evaluated at the c* that was measured.
    """
    wanted = sample_complexity(tiny.problem_class, epsilon=epsilon, c_star=float(tiny.n_arms**2))
    record = tiny.run(wanted.learning_rate, wanted.eta, wanted.horizon, runs, seed, threads)
    seen = max(c_star(record).high, float(tiny.n_arms**2))
    bound = convergence_rate(
        tiny.problem_class, c_star=seen, learning_rate=wanted.learning_rate, eta=wanted.eta, horizon=wanted.horizon
    )
    last = record["suboptimality"][:, -1]
    return _measured("convergence rate", tiny, wanted.learning_rate, wanted.eta, record, last, bound)


def exercise_regret(tiny: Tiny, *, horizon: int, runs: int, seed: int, threads: int | None) -> Exercise:
    """The regret over T with the corollary's alpha and eta."""
    wanted = regret(tiny.problem_class, horizon=horizon)
    record = tiny.run(wanted.learning_rate, wanted.eta, horizon, runs, seed, threads)
    return _measured("regret", tiny, wanted.learning_rate, wanted.eta, record, record["regret"][:, -1], wanted.bound)


def exercises(*, runs: int = 8, seed: int = 0, threads: int | None = None) -> tuple[Callable[[], Exercise], ...]:
    """Every theorem on K = 2 and 3, as calls to make one after the other; about 2e8 steps in all at 8 runs."""
    wide, narrow, three = Tiny(2, 0.9), Tiny(2, 0.5), Tiny(3, 0.8)
    return (
        lambda: exercise_convergence_rate(narrow, epsilon=0.2, runs=runs, seed=seed, threads=threads),
        lambda: exercise_convergence_rate(three, epsilon=0.5, runs=runs, seed=seed, threads=threads),
        lambda: exercise_local_convergence(narrow, eta=20.0, horizon=400_000, runs=runs, seed=seed, threads=threads),
        lambda: exercise_local_convergence(three, eta=20.0, horizon=400_000, runs=runs, seed=seed, threads=threads),
        lambda: exercise_bad_iterations(three, eta=20.0, horizon=400_000, runs=runs, seed=seed, threads=threads),
        lambda: exercise_worst_case(wide, epsilon=1.8, runs=runs, seed=seed, threads=threads),
        lambda: exercise_regret(narrow, horizon=400_000, runs=runs, seed=seed, threads=threads),
    )


def _measured(
    statement: str, tiny: Tiny, alpha: float, eta: float, record: Record, values: np.ndarray, bound: float
) -> Exercise:
    return Exercise(
        statement=statement,
        n_arms=tiny.n_arms,
        learning_rate=alpha,
        eta=eta,
        horizon=record.horizon,
        runs=record.runs,
        measured=float(values.mean()),
        upper=float(t_interval(values)[1]),
        bound=float(bound),
    )
