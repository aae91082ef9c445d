"""Study files: TOML -> Study, and back.

    name = "learning-rates"              # the file's name by default
    horizon = 25_000
    runs = 100

    [[problems]]
    problem = "GapInstances"
    n_arms = [10, 100]                   # a list is a grid

    [[rules]]                            # on every problem; [[problems.rules]] is only on that problem
    rule = "log-barrier-sgb"
    learning_rate = [0.01, 0.1]
    eta = 1000

    [[rules]]
    rule = "my_rules.py:MyRule"          # a user-defined class: a file next to this one, or a module that can be imported

    [execution]                          # how, which changes no number: threads, executor, workers, scheduler, out
    threads = 2

A mistake is one sentence that names the file, the table and the key.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..base.failure import INVALID
from .arrays import read_arrays, with_values
from .cell import Case
from .settings import Setting, setting_of_problem
from .study import Study
from .tables import Table, grid, list_depth, problem_of, rule_of, table_of_problem, table_of_rule

STUDY_KEYS = tuple(field.name for field in fields(Study) if field.name != "cases")  # problems and rules are no fields
BARE_KEY = re.compile("[A-Za-z0-9_-]+")
MOST_CASES = 10_000  # rules on problems
EXECUTION_KINDS: dict[str, type] = {"threads": int, "executor": str, "workers": int, "scheduler": str, "out": str}


@dataclass(frozen=True)
class StudyFile:
    """A study and how its file wants it executed."""

    study: Study
    execution: Table


def read_study(path: str | Path, **changes: Any) -> StudyFile:
    """The study in a file; `changes` that are not None replace top-level keys."""
    try:
        content = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: there is no such study file") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: is not UTF-8 text: {error.reason} at byte {error.start}") from None
    try:
        return _study_file(path, tomllib.loads(content), changes)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: is not TOML: {error}") from None
    except RecursionError:
        raise ValueError(f"{path}: lists and tables must not be nested hundreds deep") from None


def _study_file(path: str | Path, plain: Table, changes: dict[str, Any]) -> StudyFile:
    for key in plain:
        if key not in (*STUDY_KEYS, "problems", "rules", "execution"):
            raise ValueError(f"{path}: has no key {key}; it takes {', '.join((*STUDY_KEYS, 'problems', 'rules', 'execution'))}")
    read_arrays(Path(path).parent, plain)
    execution = _execution(path, plain.pop("execution", {}))
    cases = _cases(Path(path), plain.pop("problems", []), plain.pop("rules", []))
    settings = {"name": Path(path).stem, **plain, **{key: value for key, value in changes.items() if value is not None}}
    if "horizon" not in settings:
        raise ValueError(f"{path}: needs horizon, the number of steps per run")
    try:
        return StudyFile(Study(cases=cases, **settings), execution)
    except INVALID as error:
        raise ValueError(f"{path}: {error}") from None


def _cases(path: Path, problems: Any, rules: Any) -> list[Case]:
    near = path.resolve().parent
    if (count := _count(problems, rules)) > MOST_CASES:
        raise ValueError(f"{path}: must have at most {MOST_CASES:,} rules on problems, got {count:,}; shorten its lists")
    cases = []
    for place, table in _tables(f"{path}: [[problems]]", problems):
        own = table.pop("rules", [])
        if not rules and not own:
            raise ValueError(f"{place}: needs a rule: add [[rules]] for every problem or [[problems.rules]] for this one")
        for spread in _spread(place, table):
            try:
                problem = problem_of(spread, near)
                described = table_of_problem(problem)
            except INVALID as error:
                raise ValueError(f"{place}: {error}") from None
            setting = setting_of_problem(problem)
            found = _rules(f"{path}: [[rules]]", rules, near, setting)
            found += _rules(f"{place} [[problems.rules]]", own, near, setting)
            cases += [Case(described, rule) for rule in found]
    if not cases:
        raise ValueError(f"{path}: needs at least one [[problems]] table")
    return cases


def _rules(place: str, tables: Any, near: Path, setting: Setting) -> list[Table]:
    rules = []
    for where, table in _tables(place, tables):
        for spread in _spread(where, table):
            try:
                rules.append(table_of_rule(rule_of(spread, near, setting)))
            except INVALID as error:
                raise ValueError(f"{where}: {error}") from None
    return rules


def _tables(place: str, tables: Any) -> list[tuple[str, Table]]:
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ValueError(f"{place}: must be tables in double brackets, got {tables!r}")
    return [(f"{place} number {i}", dict(table)) for i, table in enumerate(tables, 1)]


def _spread(place: str, table: Table) -> list[Table]:
    try:
        return grid(table)
    except INVALID as error:
        raise ValueError(f"{place}: {error}") from None


def _count(problems: Any, rules: Any) -> int:
    """How many cases there will be, without making them."""
    total = 0
    for table in _only_tables(problems):
        plain = {key: value for key, value in table.items() if key != "rules"}
        total += _combinations([plain]) * (_combinations(rules) + _combinations(table.get("rules")))
    return total


def _combinations(tables: Any) -> int:
    grids = ([len(value) for key, value in table.items() if _is_grid(table, key)] for table in _only_tables(tables))
    return sum(map(math.prod, grids))


def _only_tables(tables: Any) -> list[Table]:
    return [table for table in tables if isinstance(table, dict)] if isinstance(tables, list) else []


def _is_grid(table: Table, key: str) -> bool:
    """Whether a value holds the values of a grid: not where the parameter itself is a list."""
    inner = table[key]
    for _ in range(list_depth(table, key)):
        inner = inner[0] if isinstance(inner, list) and inner else None
    return isinstance(inner, list)


def _execution(path: str | Path, table: Any) -> Table:
    if not isinstance(table, dict):
        raise ValueError(f"{path}: [execution] must be a table, got {table!r}")
    for key, value in table.items():
        if key not in EXECUTION_KINDS:
            raise ValueError(f"{path}: [execution] has no key {key}; it takes {', '.join(EXECUTION_KINDS)}")
        if type(value) is not EXECUTION_KINDS[key]:
            kind = "a whole number" if EXECUTION_KINDS[key] is int else "a word"
            raise ValueError(f"{path}: [execution] {key} must be {kind}, got {value!r}")
    return table


def study_as_toml(study: Study, *, refer: bool = False) -> str:
    """The resolved study, every default spelled out and every grid spread; `read_study` gives the same study back.

    refer: write references to arrays in place of long lists, for a file that has their folder next to it.
    """
    written: Callable[[Table], Table] = dict if refer else with_values
    lines = [f"{key} = {_toml(getattr(study, key))}" for key in STUDY_KEYS if getattr(study, key) not in (None, {})]
    problems: dict[str, list[Case]] = {}
    for case in study.cases:
        problems.setdefault(json.dumps(case.problem), []).append(case)
    for cases in problems.values():
        lines += ["", "[[problems]]", *_entries(written(cases[0].problem))]
        for case in cases:
            lines += ["", "[[problems.rules]]", *_entries(written(case.rule))]
    return "\n".join(lines) + "\n"


def _entries(table: Table) -> list[str]:
    """The lines of a table; a list that would read as a grid is written as a grid of one value."""
    return [f"{key} = {_toml([value] if _is_grid(table, key) else value)}" for key, value in table.items()]


def _key(name: str) -> str:
    """A key of an inline table, quoted where it must be."""
    return name if BARE_KEY.fullmatch(name) else _toml(name)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_toml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    plain = json.dumps(value, ensure_ascii=False)  # TOML writes words, numbers and truth values as JSON does,
    return plain.replace("\x7f", "\\u007f")  # but for this one character, which JSON leaves as it is
