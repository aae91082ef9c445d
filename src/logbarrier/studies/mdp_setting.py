"""Finite MDPs as a setting of studies."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from ..engine.random import stream_key
from ..mdps import environments
from ..mdps.algorithms import RULES, Rule
from ..mdps.environments.from_gymnasium import GymnasiumMDP
from ..mdps.live import measurable
from ..mdps.measure import METRICS, RANGES
from ..mdps.problem import FiniteMDP
from ..mdps.simulator import code_roots, simulate
from .settings import Setting


class MDPs(Setting):
    """A rule acts in a finite MDP and learns from its episodes."""

    name = "mdps"
    rules = RULES
    problems = {  # noqa: RUF012
        "RiverSwim": environments.RiverSwim,
        "Lock": environments.Lock,
        "Distractor": environments.Distractor,
        "DeepSea": environments.DeepSea,
        "RandomLocks": environments.RandomLocks,
        "RandomDeepSeas": environments.RandomDeepSeas,
        "RandomMDPs": environments.RandomMDPs,
        "from_gymnasium": GymnasiumMDP,
        "FiniteMDP": FiniteMDP,
        "Environment": environments.Environment,
    }
    rule_base = Rule
    simulator = staticmethod(simulate)
    metrics = METRICS
    ranges = MappingProxyType(RANGES)
    ranked_by = {"regret": True, "score": False, "return": False}  # noqa: RUF012
    plotted = ("score", "return", "regret", "coverage", "min_occupancy")
    symbols = {"n_states": "S", "n_actions": "K"}  # noqa: RUF012

    read_file = staticmethod(FiniteMDP.load)

    def is_problem(self, problem: Any) -> bool:
        return all(hasattr(problem, name) for name in ("instance", "n_states", "n_actions", "gamma"))

    def sizes(self, problem: Any) -> dict[str, int]:
        return {"n_states": int(problem.n_states), "n_actions": int(problem.n_actions)}

    def measurable(self, problem: Any) -> tuple[str, ...]:
        return measurable(problem) if isinstance(problem, environments.Environment) else self.metrics

    def class_of(self, problem: Any) -> type[Any]:
        """A user-defined MDP that does not say how to make it again is its arrays."""
        kind = type(problem)
        return FiniteMDP if isinstance(problem, FiniteMDP) and kind.to_dict is FiniteMDP.to_dict else kind

    def check(self, rule: Any, problem: Any, *, engine: str, bad_start: float | None) -> None:
        if bad_start is not None:
            raise ValueError("Study: bad_start is for bandits; leave it out where the problems are MDPs")

    def same(self, problem: Any, other: Any) -> bool:
        if isinstance(problem, environments.Environment):
            return bool(problem.to_dict() == other.to_dict())
        key = stream_key(0)
        pairs = [(problem.instance(key, run), other.instance(key, run)) for run in range(2)]
        arrays = ("offsets", "successors", "probabilities", "R", "rho")
        return all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for ours, theirs in pairs for name in arrays)

    def follows_preferences(self, rule: Any) -> bool:
        return bool(rule.name != "optimistic-q")

    def code_roots(self, rule: Any, problem: Any, engine: str) -> tuple[Any, ...]:
        return code_roots(rule, problem)


SETTING = MDPs()
