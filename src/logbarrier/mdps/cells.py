"""MDPs in studies: rules and MDPs as plain tables, and back.

    {"rule": "spectral-pg"}      {"problem": "DeepSea", "n": 20}      {"problem": "from_gymnasium", "environment": "Taxi-v4"}
"""

from __future__ import annotations

import inspect
from typing import Any

from .algorithms import RULES, Rule, rule_from_dict
from .environments import (
    DeepSea, Distractor, Lock, MDPSource, RandomDeepSeas, RandomLocks, RandomMDPs, RiverSwim, from_gymnasium,
)  # fmt: skip

Table = dict[str, Any]

PROBLEMS: dict[str, Any] = {
    make.__name__: make
    for make in (RiverSwim, Lock, Distractor, DeepSea, RandomLocks, RandomDeepSeas, RandomMDPs, from_gymnasium)
}


def rule_of(table: Table) -> Rule:
    """The rule a table describes, every key and value checked."""
    if table.get("rule") not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}, got {table.get('rule')!r}")
    return rule_from_dict(table)


def problem_of(table: Table) -> MDPSource:
    """The MDP or family a table describes, every key checked."""
    name = table.get("problem")
    if not isinstance(name, str) or name not in PROBLEMS:
        raise ValueError(f"problem must be one of {', '.join(PROBLEMS)}, got {name!r}")
    parameters = inspect.signature(PROBLEMS[name]).parameters
    given = {key: value for key, value in table.items() if key != "problem"}
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        for key in given:
            if key not in parameters:
                raise ValueError(f"{name}: has no key {key}; it takes {', '.join(parameters)}")
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD and key not in given:
            raise ValueError(f"{name}: needs {key}; it takes {', '.join(parameters)}")
    problem: MDPSource = PROBLEMS[name](**given)
    return problem


def table_of_rule(rule: Rule) -> Table:
    """What `rule_of` reads."""
    if type(rule) is not RULES.get(getattr(rule, "name", "")):
        raise ValueError(f"Study: rule must be one of {', '.join(RULES)}, got {rule!r}")
    return rule.to_dict()


def table_of_problem(problem: MDPSource) -> Table:
    """What `problem_of` reads."""
    table = problem.to_dict()
    if table.get("problem") not in PROBLEMS:
        raise ValueError(f"Study: problem must be one of {', '.join(PROBLEMS)}, got {problem!r}")
    return table
