"""Rules and problems as plain tables, the form they have in a study file, in a cell's identity and on the wire.

    {"rule": "log-barrier-sgb", "learning_rate": 0.1, "eta": 1000}      {"problem": "GapInstances", "n_arms": 10}

`grid` spreads a table whose values are lists over all their combinations.
"""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import numpy as np

from ..bandits.algorithms import RULES, rule_from_dict
from ..bandits.algorithms.rule import Rule
from ..bandits.problems import (
    Bandit,
    BernoulliBandit,
    BernoulliGapInstances,
    BetaBandit,
    GapInstances,
    GaussianBandit,
    ProblemSource,
    UniformBandit,
)
from ..base.validate import did_you_mean

Table = dict[str, Any]

PROBLEMS: dict[str, Any] = {
    problem.__name__: problem
    for problem in (GapInstances, BernoulliGapInstances, GaussianBandit, BernoulliBandit, UniformBandit, BetaBandit)
}
PER_ARM = ("means", "scale", "half_width")  # of a bandit these may be lists, one number an arm, and are no grid then


def rule_of(table: Table) -> Rule:
    """The rule a table describes, every key and value checked."""
    _named(table, "rule", RULES)
    return rule_from_dict(table)


def table_of_rule(rule: Rule) -> Table:
    """What `rule_of` reads. Rules of your own have no table: a cell's numbers must depend on its table alone."""
    if type(rule) is not RULES.get(getattr(rule, "name", "")):
        raise ValueError(f"Study: rule must be one of {', '.join(RULES)}, got {rule!r}")
    return rule.to_dict()


def problem_of(table: Table) -> ProblemSource:
    """The problem a table describes, every key and value checked."""
    name = _named(table, "problem", PROBLEMS)
    parameters = inspect.signature(PROBLEMS[name]).parameters
    kinds = {key: str(parameter.annotation) for key, parameter in parameters.items()}
    _check_keys(name, table, "problem", kinds)
    for key, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty and key not in table:
            raise ValueError(f"{name}: needs {key}; it takes {', '.join(parameters)}")
    problem: ProblemSource = PROBLEMS[name](**{key: value for key, value in table.items() if key != "problem"})
    return problem


def table_of_problem(problem: ProblemSource) -> Table:
    """What `problem_of` reads."""
    name = type(problem).__name__
    if PROBLEMS.get(name) is not type(problem):
        raise ValueError(f"Study: problem must be one of {', '.join(PROBLEMS)}, got {problem!r}")
    if not isinstance(problem, Bandit):
        return problem.to_dict()
    table: Table = {"problem": name, "means": problem.means.tolist()}
    if isinstance(problem, GaussianBandit):
        table["scale"] = problem.parameters[1].tolist()
    elif isinstance(problem, UniformBandit):
        table["half_width"] = problem.parameters[1].tolist()
    elif isinstance(problem, BetaBandit):
        table["concentration"] = float(f"{problem.parameters[1:].sum(axis=0)[0]:.12g}")
    if len(np.unique(problem.means)) < problem.n_arms:
        table["allow_ties"] = True
    return table


def grid(table: Table) -> list[Table]:
    """Every combination of the values that are lists; the last key varies fastest.

    >>> grid({"rule": "sgb", "learning_rate": [0.01, 0.1]})
    [{'rule': 'sgb', 'learning_rate': 0.01}, {'rule': 'sgb', 'learning_rate': 0.1}]
    """
    choices = []
    for key, value in table.items():
        spread = isinstance(value, list) and (key not in PER_ARM or any(isinstance(entry, list) for entry in value))
        if spread and not value:
            raise ValueError(f"{key} must have at least one value, got an empty list")
        choices.append(value if spread else [value])
    return [dict(zip(table, chosen, strict=True)) for chosen in itertools.product(*choices)]


def described(table: Table) -> str:
    """A table on one line, as in 'log-barrier-sgb learning_rate=0.1 eta=1000'."""
    name, *further = (_short(key, value) for key, value in table.items())
    return " ".join([name.partition("=")[2], *further])


def _short(key: str, value: Any) -> str:
    if isinstance(value, dict):
        value = ",".join(f"{k}:{v:g}" for k, v in value.items() if v)
    elif isinstance(value, list):
        value = f"[{len(value)} numbers]"
    return f"{key}={value:g}" if isinstance(value, int | float) else f"{key}={value}"


def _named(table: Table, key: str, known: dict[str, Any]) -> str:
    name = table.get(key)
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"{key} must be one of {', '.join(known)}, got {name!r}{did_you_mean(name, known)}")
    return name


def _check_keys(owner: str, table: Table, naming: str, kinds: dict[str, str]) -> None:
    for key, value in table.items():
        if key == naming:
            continue
        if key not in kinds:
            raise ValueError(f"{owner}: has no key {key}; it takes {', '.join(kinds)}")
        _check_kind(owner, key, value, kinds[key])


def _check_kind(owner: str, key: str, value: Any, kind: str) -> None:
    """TOML knows types, so '0.1' and true are mistakes where a number belongs."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "str" and not isinstance(value, str):
        raise ValueError(f"{owner}: {key} must be a word, got {value!r}")
    if kind == "bool" and not isinstance(value, bool):
        raise ValueError(f"{owner}: {key} must be true or false, got {value!r}")
    if kind in ("int", "float") and not number:
        raise ValueError(f"{owner}: {key} must be a number, got {value!r}")
