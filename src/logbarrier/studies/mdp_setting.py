"""Finite MDPs as a setting of studies."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.random import stream_key
from ..mdps.algorithms import RULES, Rule
from ..mdps.environments.deep_sea import DeepSea, RandomDeepSeas
from ..mdps.environments.distractor import Distractor
from ..mdps.environments.gymnasium_worlds import GymnasiumMDP
from ..mdps.environments.lock import Lock, RandomLocks
from ..mdps.environments.random_mdps import RandomMDPs
from ..mdps.environments.river_swim import RiverSwim
from ..mdps.problem import FiniteMDP
from ..mdps.simulator import METRICS, simulate
from ..record import Record
from .settings import Setting

if TYPE_CHECKING:
    from .cell import Cell

PROBLEMS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (RiverSwim, Lock, RandomLocks, Distractor, DeepSea, RandomDeepSeas, RandomMDPs, GymnasiumMDP, FiniteMDP)
}


class FiniteMDPs(Setting):
    """A rule acts in S states with K actions each and learns from episodes. A cell's horizon is the number of steps."""

    name = "finite MDPs"
    rules = RULES
    problems = PROBLEMS
    rule_base = Rule
    metrics = METRICS
    ranked_by = MappingProxyType({"score": False, "return": False})
    drawn = ("score", "return", "coverage")
    symbols = MappingProxyType({"n_states": "S", "n_actions": "K"})

    def is_problem(self, problem: Any) -> bool:
        return all(hasattr(problem, name) for name in ("instance", "n_states", "n_actions"))

    def sizes(self, problem: Any) -> dict[str, int]:
        return {"n_states": int(problem.n_states), "n_actions": int(problem.n_actions)}

    def check(self, rule: Any, problem: Any, *, engine: str, bad_start: float | None) -> None:
        if bad_start is not None:
            raise ValueError("Study: bad_start is for bandits; finite MDPs start from the uniform policy")

    def same(self, problem: Any, other: Any) -> bool:
        key = stream_key(0)
        pairs = [(problem.instance(key, run), other.instance(key, run)) for run in range(2)]
        return all(np.array_equal(one.R, two.R) and np.array_equal(one.rho, two.rho) for one, two in pairs)

    def simulate(
        self, rule: Any, problem: Any, cell: Cell, *, threads: int, progress: Callable[[int, int], None] | None
    ) -> Record:
        return simulate(
            rule,
            problem,
            steps=cell.horizon,
            runs=cell.runs,
            first_run=cell.first_run,
            seed=cell.seed,
            checkpoints=cell.checkpoints,
            spacing=cell.spacing,
            metrics=cell.metrics,
            threads=threads,
            progress=progress or False,
        )


SETTING = FiniteMDPs()
