"""Rules and problems as plain tables, the form they have in a study file, in a cell's identity and on the wire.

    {"rule": "log-barrier-sgb", "learning_rate": 0.1, "eta": 1000}      {"problem": "GapInstances", "n_arms": 10}

The first key names a class, the others are the arguments that make the object again. `grid` spreads a table whose values are
lists over all their combinations. Long lists of numbers are references to arrays, see `arrays`.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
from collections.abc import Callable, Collection
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..base.failure import WrongTypeError
from ..base.parameters import hints_of, parameters_of
from ..base.validate import did_you_mean
from . import arrays
from .settings import Setting, maker_named, name_of_class, setting_of_problem, setting_of_rule
from .user_defined import short_name, without_place

Table = dict[str, Any]

LISTS = {
    "means": 1, "X": 2, "y": 1, "rates": 1, "costs": 1, "scale": 1, "amount": 1, "half_width": 1, "rho": 1, "R": 2, "P": 3,
    "LinearBandit.features": 2, "LinearBandit.weights": 1, "feature-spectral-pg.features": 3,
}  # fmt: skip
"""The depth of lists that are no grid: of a key, or of a key of one rule or problem."""


def rule_of(table: Table, near: Path | None = None, within: Setting | None = None) -> Any:
    """The rule a table describes, every key and value checked.

    near: the folder that user-defined files are relative to. within: the setting whose names are meant, any by default.
    """
    rule = _made("rule", table, near, within)
    setting_of_rule(rule)
    return rule


def table_of_rule(rule: Any) -> Table:
    """What `rule_of` reads."""
    setting = setting_of_rule(rule)
    plain = rule.to_dict()
    table: Table = arrays.with_references({**plain, "rule": name_of_class("rule", type(rule))})
    _check_round_trip(type(rule).__name__, "to_dict", table, lambda: _same_fields(rule_of(table, within=setting), rule))
    return table


def problem_of(table: Table, near: Path | None = None) -> Any:
    """The problem a table describes, every key and value checked."""
    problem = _made("problem", table, near)
    setting_of_problem(problem)
    return problem


def table_of_problem(problem: Any) -> Table:
    """What `problem_of` reads."""
    setting = setting_of_problem(problem)
    name = type(problem).__name__
    if not hasattr(problem, "arguments"):
        raise ValueError(f"Study: {name} must have a method arguments() with the keyword arguments that make it again")
    kind = setting.class_of(problem)
    table: Table = arrays.with_references({"problem": name_of_class("problem", kind), **problem.arguments()})
    if kind not in setting.problems.values():
        _check_round_trip(name, "arguments", table, lambda: setting.same(problem_of(table), problem))
    return table


def identity_of(table: Table) -> Table:
    """A table as it goes into a cell's identity: without the place of a user-defined file."""
    return {key: without_place(value) if key in ("rule", "problem") else value for key, value in table.items()}


def grid(table: Table) -> list[Table]:
    """Every combination of the values that are lists; the last key varies fastest.

    >>> grid({"rule": "sgb", "learning_rate": [0.01, 0.1]})
    [{'rule': 'sgb', 'learning_rate': 0.01}, {'rule': 'sgb', 'learning_rate': 0.1}]
    """
    choices = []
    for key, value in table.items():
        spread = _depth(value) > list_depth(table, key)
        if spread and not value:
            raise ValueError(f"{key} must have at least one value, got an empty list")
        choices.append(value if spread else [value])
    return [dict(zip(table, chosen, strict=True)) for chosen in itertools.product(*choices)]


def list_depth(table: Table, key: str) -> int:
    """The depth of a value that is no grid: 0 for a number, 1 for a list of numbers, ..."""
    name = table.get("rule", table.get("problem"))
    return LISTS.get(f"{name}.{key}", LISTS.get(key, 0))


def _same_fields(one: Any, other: Any) -> bool:
    mine, others = vars(one), vars(other)
    return mine.keys() == others.keys() and all(
        np.array_equal(value, others[key]) if isinstance(value, np.ndarray) else value == others[key]
        for key, value in mine.items()
    )


def _depth(value: Any) -> int:
    """0 for a number, 1 for a list of numbers, 2 for a list of such lists, ..."""
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def described(table: Table, hidden: Collection[str] = ()) -> str:
    """A table on one line without the hidden keys, as in 'log-barrier-sgb learning_rate=0.1 eta=1000'."""
    name, arrays_of_it = name_of(table), ("name", "P", "R", "rho") if "name" in table else ()
    left_out = {"rule", "problem", *arrays_of_it, *hidden}
    return " ".join([name, *(f"{key}={_short(value)}" for key, value in table.items() if key not in left_out)])


def name_of(table: Table) -> str:
    """The name of a rule or problem as it is shown; an MDP that is its arrays has a name and a hash: 'inventory@1a2b3c4d'."""
    if "name" not in table:
        return next((short_name(table[key]) for key in ("rule", "problem") if key in table), "")
    content = json.dumps({key: value for key, value in table.items() if key != "name"}, sort_keys=True)
    return f"{table['name']}@{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{key}:{_short(entry)}" for key, entry in value.items() if entry)
    if isinstance(value, list):
        return f"[{len(value)} numbers]"
    return f"{value:g}" if isinstance(value, int | float) else arrays.shown(str(value))


def _made(naming: str, table: Table, near: Path | None, within: Setting | None = None) -> Any:
    kind = maker_named(naming, table.get(naming), near, within)
    owner = short_name(table[naming])
    signature = inspect.signature(kind).parameters
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in signature.values())
    takes = {
        name: parameter
        for name, parameter in signature.items()
        if parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    }
    arguments = {key: arrays.with_values(value) for key, value in table.items() if key != naming}
    listed = f"it takes {', '.join(takes)}" if takes else "it takes none"
    for key in arguments:
        if key not in takes and not takes_any:
            raise ValueError(f"{owner}: has no parameter {key}; {listed}{did_you_mean(key, takes)}")
    for key, parameter in takes.items():
        if parameter.default is inspect.Parameter.empty and key not in arguments:
            raise ValueError(f"{owner}: needs {key}; {listed}")
    fields = parameters_of(kind) if isinstance(kind, type) and is_dataclass(kind) else {}
    hints = _hints(kind)
    for key, value in arguments.items():
        arguments[key] = fields[key].read(owner, key, value) if key in fields else value
        _check_kind(owner, key, value, hints.get(key, Any))
    return kind(**arguments)


def _hints(kind: Callable[..., Any]) -> dict[str, Any]:
    """Argument -> type, as far as the class or function says and the names it uses are known."""
    try:
        return hints_of(getattr(kind, "__init__") if isinstance(kind, type) and not is_dataclass(kind) else kind)  # noqa: B009
    except (NameError, TypeError):
        return {}


def _check_kind(owner: str, key: str, value: Any, hint: Any) -> None:
    """TOML knows types, so '0.1' and true are mistakes where a number belongs."""
    if hint is str and not isinstance(value, str):
        raise WrongTypeError(f"{owner}: {key} must be a word, got {value!r}")
    if hint is bool and not isinstance(value, bool):
        raise WrongTypeError(f"{owner}: {key} must be true or false, got {value!r}")
    if hint in (int, float) and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise WrongTypeError(f"{owner}: {key} must be a number, got {value!r}")


def _check_round_trip(name: str, method: str, table: Table, same: Any) -> None:
    """A cell is computed from its table alone, maybe in another process, so the table must say all."""
    try:
        json.dumps(table)
        kept = same()
    except TypeError:
        kept = False
    if not kept:
        raise ValueError(f"Study: {name}.{method}() must hold all that makes the same {name} again, got {table}")
