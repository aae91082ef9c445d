"""Bandits as a setting of studies."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bandits import problems
from ..bandits.algorithms import RULES
from ..bandits.algorithms.rule import Rule
from ..bandits.changing import ChangingBandits, DriftingArms, SeasonalArms, SwappingArms
from ..bandits.engines import ENGINES, choose
from ..bandits.metrics import METRICS, RANGES
from ..bandits.simulator import code_roots, refuse_known_means, simulate
from ..bandits.starts import OptimalArmAt
from ..engine.random import stream_key
from .settings import Setting

if TYPE_CHECKING:
    from .cell import Cell


PROBLEMS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        problems.GapInstances,
        problems.BernoulliGapInstances,
        problems.NeedleInstances,
        problems.UnequalNoiseInstances,
        problems.StudentInstances,
        problems.ClickInstances,
        problems.CountInstances,
        problems.RevenueInstances,
        problems.CostInstances,
        problems.GaussianBandit,
        problems.BernoulliBandit,
        problems.UniformBandit,
        problems.BetaBandit,
        problems.LinearBandit,
        problems.FeatureInstances,
        problems.StudentBandit,
        problems.PoissonBandit,
        problems.RevenueBandit,
        problems.CostBandit,
        SwappingArms,
        DriftingArms,
        SeasonalArms,
    )
}
RANKED_BY = {"regret": True, "optimal_probability": False, "suboptimality": True}


class Bandits(Setting):
    """A rule pulls one of K arms per step and learns from its reward."""

    name = "bandits"
    rules = RULES
    problems = PROBLEMS
    rule_base = Rule
    simulator = staticmethod(simulate)
    metrics = METRICS
    ranges = MappingProxyType(RANGES)
    ranked_by = RANKED_BY
    plotted = ("optimal_probability", "regret", *METRICS)
    symbols = MappingProxyType({"n_arms": "K"})
    engines = ("auto", *ENGINES)

    def is_problem(self, problem: Any) -> bool:
        return all(hasattr(problem, name) for name in ("instance", "n_arms", "noise", "reward_of"))

    def sizes(self, problem: Any) -> dict[str, int]:
        return {"n_arms": int(problem.n_arms)}

    def changes(self, problem: Any) -> bool:
        return isinstance(problem, ChangingBandits)

    def means_along(self, problem: Any, steps: np.ndarray, seed: int) -> np.ndarray:
        means: np.ndarray = problem.means_along(steps, seed=seed)
        return means

    def check(self, rule: Any, problem: Any, *, engine: str, bad_start: float | None) -> None:
        refuse_known_means("Study", rule, problem)
        choose(rule, problem.n_arms, engine)
        if bad_start is not None and not rule.has_preferences:
            raise ValueError(f"Study: {rule.name} has no preferences that bad_start could set; leave one of them out")

    def same(self, problem: Any, other: Any) -> bool:
        if self.changes(problem) and problem.block != other.block:
            return False
        key = stream_key(0)
        return all(np.array_equal(_faced(problem, key, run), _faced(other, key, run)) for run in range(2))

    def code_roots(self, rule: Any, problem: Any, engine: str) -> tuple[Any, ...]:
        return code_roots(rule, problem, engine)

    def options(self, cell: Cell) -> dict[str, Any]:
        return {"start": None if cell.bad_start is None else OptimalArmAt(cell.bad_start), "engine": cell.engine}


def _faced(problem: Any, key: np.ndarray, run: int) -> list[np.ndarray]:
    """What a run meets first, and in the next blocks where that changes."""
    if not isinstance(problem, ChangingBandits):
        return [problem.instance(key, run)]
    return [problem.instance_at(key, run, problem.block * number) for number in range(4)]


SETTING = Bandits()
