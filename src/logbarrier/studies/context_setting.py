"""Contextual bandits as a setting of studies."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from ..contexts.algorithms import RULES, Rule
from ..contexts.problems import ClassificationBandit, LinearContexts, SegmentedClicks
from ..contexts.simulator import METRICS, RANGES, code_roots, simulate
from ..engine.random import stream_key
from .settings import Setting


class Contexts(Setting):
    """A rule chooses an arm for a context and learns from its reward."""

    name = "contexts"
    rules = RULES
    problems = MappingProxyType({kind.__name__: kind for kind in (LinearContexts, SegmentedClicks, ClassificationBandit)})
    rule_base = Rule
    simulator = staticmethod(simulate)
    metrics = METRICS
    ranges = MappingProxyType(RANGES)
    ranked_by = MappingProxyType({"regret": True, "reward": False})
    plotted = ("regret", "reward", "optimal_probability")
    symbols = MappingProxyType({"n_arms": "K", "n_features": "d"})

    def is_problem(self, problem: Any) -> bool:
        return all(hasattr(problem, name) for name in ("rows", "n_arms", "n_features", "reward_of", "delay"))

    def sizes(self, problem: Any) -> dict[str, int]:
        return {"n_arms": int(problem.n_arms), "n_features": int(problem.n_features)}

    def check(self, rule: Any, problem: Any, *, engine: str, bad_start: float | None) -> None:
        if bad_start is not None:
            raise ValueError("Study: bad_start is for bandits; leave it out where the problems have contexts")

    def same(self, problem: Any, other: Any) -> bool:
        key = stream_key(0)
        pairs = [(problem.rows(key, run, 0, 64), other.rows(key, run, 0, 64)) for run in range(2)]
        same_rows = all(np.array_equal(ours[i], theirs[i]) for ours, theirs in pairs for i in range(2))
        return same_rows and problem.delay == other.delay and problem.scale == other.scale

    def follows_preferences(self, rule: Any) -> bool:
        return False

    def code_roots(self, rule: Any, problem: Any, engine: str) -> tuple[Any, ...]:
        return code_roots(rule, problem)


SETTING = Contexts()
