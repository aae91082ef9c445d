"""Study: which rules on which problems, for how long, how often and from which seed; cut into cells."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from functools import cache, cached_property
from typing import Any

from ..base import validate
from ..engine.code_hash import code_hash
from .cell import Case, Cell
from .settings import Setting, setting_of_problem, setting_of_rule
from .tables import Table, described, table_of_problem, table_of_rule

LARGEST = 2**32 - 1  # of a horizon or a number of runs: each is 32 bits of the random counter
DEFAULT_CHECKPOINTS = 200
MOST_CELLS = 100_000  # each is a file, and some kilobytes of memory
LONGEST_NAME = 200  # bytes; a folder's name holds 255, with the study's hash


def case_of(problem: Any, rule: Any) -> Case:
    """A rule on a problem."""
    return product([problem], [rule])[0]


def product(problems: Iterable[Any], rules: Iterable[Any]) -> list[Case]:
    """Every rule on every problem."""
    validate.instance("Study", "problems", problems, Iterable, "a list of problems")
    validate.instance("Study", "rules", rules, Iterable, "a list of rules")
    problems, rules = list(problems), list(rules)
    names = {setting_of_problem(problem).name for problem in problems} | {setting_of_rule(rule).name for rule in rules}
    if len(names) > 1:
        raise ValueError(f"Study: all rules and problems must have the same setting, got {' and '.join(sorted(names))}")
    rule_tables = [table_of_rule(rule) for rule in rules]
    return [Case(problem, rule) for problem in map(table_of_problem, problems) for rule in rule_tables]


class Labels:
    """Short names that distinguish some cases: the parameters that differ among them."""

    def __init__(self, cases: Sequence[Case], names: Mapping[str, str] | None = None) -> None:
        self._names = names or {}
        self._constant_of_rules = _constant_keys([case.rule for case in cases])
        self._constant_of_problems = _constant_keys([case.problem for case in cases])

    def rule(self, case: Case) -> str:
        """Its rule, such as 'log-barrier-sgb eta=100'."""
        return self.rule_without(case, ())

    def rule_without(self, case: Case, hidden: Collection[str]) -> str:
        """The same without some parameters."""
        label = described(case.rule, {*self._constant_of_rules, *hidden})
        name, space, rest = label.partition(" ")
        return self._names.get(label) or f"{self._names.get(name, name)}{space}{rest}"

    def problem(self, case: Case) -> str:
        """Its problem and the size of it, such as 'gap=0.1 K=10'."""
        hidden = self._constant_of_problems - {"problem"} | set(case.sizes)
        name = described(case.problem, hidden)
        sizes = (f"{case.setting.symbols[key]}={size}" for key, size in case.sizes.items())
        one_kind = "problem" in self._constant_of_problems and "name" not in case.problem
        return " ".join([name.partition(" ")[2] if one_kind else name, *sizes]).strip()


@dataclass(frozen=True, kw_only=True)
class Study:
    """Many simulations under one name: every rule on every problem.

    problems       problems of this package or user-defined ones, all of one setting
    rules          rules, likewise
    cases          in place of both: chosen pairs, made by `case_of`
    horizon        steps per run
    runs           runs 0 .. runs - 1 of the seed, per case
    runs_per_cell  how many of them are computed and stored together; smaller is finer progress and resume
    checkpoints    how many, or the steps; spacing: linear or log
    metrics        what is measured; all that the setting knows by default
    bad_start      None for a uniform start, or the probability the optimal arm starts at
    engine         as in `simulate`
    labels         names for figures and tables, by the name of a rule or by its whole label; they change no cell
    figure         a grid of panels in the report: {"rows": "learning_rate", "columns": "n_arms"} has a row per learning rate
                   and a column per number of arms, "metric" says which metric

    >>> import logbarrier as lb
    >>> rules = [lb.SGB(learning_rate=0.1), lb.NPG(learning_rate=0.1)]
    >>> study = lb.Study(name="two-rules", problems=[lb.GapInstances(n_arms=10)], rules=rules, horizon=1000, runs=50)
    >>> len(study.cells())
    4
    """

    name: str
    cases: Sequence[Case] = ()
    horizon: int
    runs: int = 100
    seed: int = 0
    runs_per_cell: int = 25
    checkpoints: int | Sequence[int] = DEFAULT_CHECKPOINTS
    spacing: str = "linear"
    metrics: Sequence[str] | None = None
    bad_start: float | None = None
    engine: str = "auto"
    labels: Mapping[str, str] = field(default_factory=dict)
    figure: Mapping[str, str] = field(default_factory=dict)
    problems: InitVar[Iterable[Any]] = ()
    rules: InitVar[Iterable[Any]] = ()

    def __post_init__(self, problems: Iterable[Any], rules: Iterable[Any]) -> None:
        _check_name(self.name)
        self._set("horizon", _whole("horizon", self.horizon, 1, LARGEST))
        self._set("runs", _whole("runs", self.runs, 1, LARGEST))
        self._set("seed", _whole("seed", self.seed, 0))
        self._set("runs_per_cell", _whole("runs_per_cell", self.runs_per_cell, 1))
        if isinstance(self.checkpoints, list | tuple):
            steps = {_whole("checkpoints", step, 0, self.horizon) for step in self.checkpoints}
            self._set("checkpoints", tuple(sorted({0, self.horizon} | steps)))
        else:
            self._set("checkpoints", _whole("checkpoints", self.checkpoints, 2))
        validate.choice("Study", "spacing", self.spacing, ("linear", "log"))
        _check_words("labels", self.labels)
        _check_words("figure", self.figure)
        if self.bad_start is not None:
            self._set("bad_start", _probability("bad_start", self.bad_start))
        for case in self.cases:
            validate.instance("Study", "cases", case, Case, "a list of cases, made by case_of")
        self._set("cases", tuple({case.key: case for case in (*self.cases, *product(problems, rules))}.values()))
        if not self.cases:
            raise ValueError("Study: needs at least one rule on one problem")
        count = len(self.cases) * -(-self.runs // self.runs_per_cell)
        if count > MOST_CELLS:
            raise ValueError(f"Study: must have at most {MOST_CELLS:,} cells, got {count:,}; raise runs_per_cell")
        self._check_cases()

    def _check_cases(self) -> None:
        setting = self.setting
        validate.choice("Study", "engine", self.engine, setting.engines)
        measurable = [setting.measurable(case.made_problem) for case in self.cases if case.setting is setting]
        metrics = tuple(name for name in setting.metrics if all(name in each for each in measurable))
        known = ", ".join(metrics)
        if self.metrics is not None:
            validate.instance("Study", "metrics", self.metrics, (list, tuple), f"a list of names from {known}")
        if self.metrics is not None and not self.metrics:
            raise ValueError(f"Study: metrics must be a list of names from {known}, got {self.metrics!r}")
        for name in self.metrics or ():
            validate.choice("Study", "metrics", name, metrics)
        self._set("metrics", tuple(name for name in metrics if self.metrics is None or name in self.metrics))
        for case in self.cases:
            if case.setting is not setting:
                names = f"{case.setting.name} and {setting.name}"
                raise ValueError(f"Study: all rules and problems must have the same setting, got {names}")
            setting.check(case.made_rule, case.made_problem, engine=self.engine, bad_start=self.bad_start)

    @property
    def setting(self) -> Setting:
        """What its problems are: bandits or others."""
        return self.cases[0].setting

    def _set(self, key: str, value: Any) -> None:
        object.__setattr__(self, key, value)

    @cached_property
    def _hash_of_roots(self) -> Callable[..., str]:
        return cache(code_hash)  # of this study alone: a class may be edited between two studies of a process

    def cells_of(self, case: Case) -> list[Cell]:
        """The cells that make up one case, in the order of their runs."""
        code = self._hash_of_roots(*case.setting.code_roots(case.made_rule, case.made_problem, self.engine))
        return [
            Cell(
                case=case,
                code=code,
                horizon=self.horizon,
                first_run=first,
                runs=min(self.runs_per_cell, self.runs - first),
                seed=self.seed,
                checkpoints=self.checkpoints,  # type: ignore[arg-type]
                spacing=self.spacing,
                metrics=tuple(self.metrics or ()),
                bad_start=self.bad_start,
                engine=self.engine,
            )
            for first in range(0, self.runs, self.runs_per_cell)
        ]

    def cells(self, cases: Sequence[Case] | None = None) -> list[Cell]:
        """All cells, or only those of the given cases: the first block of every case, then the second of every case, ...

        So that every curve has something to show early, and the time a block takes is known for all cases.
        """
        blocks = [self.cells_of(case) for case in (self.cases if cases is None else cases)]
        return [block[i] for i in range(len(blocks[0])) for block in blocks] if blocks else []

    def only(self, conditions: Sequence[str]) -> list[Case]:
        """The cases that match every condition 'key=value', such as 'rule=sgb' or 'n_arms=1000'."""
        chosen = list(self.cases)
        for condition in conditions:
            key, equals, wanted = condition.partition("=")
            keys = sorted({key for case in self.cases for key in case.values})
            if not equals or key not in keys:
                raise ValueError(f"only: must be KEY=VALUE with a key from {', '.join(keys)}, got {condition!r}")
            chosen = [case for case in chosen if key in case.values and _means(wanted, case.values[key])]
        if not chosen:
            raise ValueError(f"only: no case matches {' and '.join(conditions)}")
        return chosen

    @cached_property
    def _labels(self) -> Labels:
        return Labels(self.cases, self.labels)

    def rule_label(self, case: Case) -> str:
        """The case's rule with the parameters that differ within the study."""
        return self._labels.rule(case)

    def problem_label(self, case: Case) -> str:
        """The case's problem with the parameters that differ within the study, and its size."""
        return self._labels.problem(case)

    @cached_property
    def hash(self) -> str:
        """Short hash of all cells' names: what is computed, whatever it is called."""
        names = sorted(cell.id for cell in self.cells())
        return hashlib.sha256("".join(names).encode()).hexdigest()[:8]

    @property
    def folder_name(self) -> str:
        """Where it is kept: its name and its hash."""
        return f"{self.name}-{self.hash}"


def _constant_keys(tables: Sequence[Table]) -> set[str]:
    """Keys that have the same value wherever they occur, which distinguish no tables."""
    seen: dict[str, set[str]] = {}
    for table in tables:
        for key, value in table.items():
            seen.setdefault(key, set()).add(json.dumps(value))
    return {key for key, values in seen.items() if len(values) == 1}


def _check_name(name: Any) -> None:
    """A name becomes a folder, a line of TOML and words on a terminal."""
    validate.instance("Study", "name", name, str, "a word")
    fit = name and not name.startswith(".") and not set(name) & set("/\\") and name.isprintable()
    if not fit:
        raise ValueError(f"Study: name must be a valid folder name without control characters, got {name!r}")
    if len(name.encode()) > LONGEST_NAME:
        raise ValueError(f"Study: name must be at most {LONGEST_NAME} bytes long, to fit a folder, got {len(name.encode())}")


def _check_words(key: str, table: Any) -> None:
    """A table of words: labels by name, or the layout of a figure."""
    validate.instance("Study", key, table, Mapping, "a table of words")
    for name, value in table.items():
        validate.instance("Study", f"{key}.{name}", value, str, "a word")
    if key == "figure":
        for name in table:
            validate.choice("Study", "figure key", name, ("rows", "columns", "metric"))


def _probability(key: str, value: Any) -> float:
    if not 0 < validate.number("Study", key, value) < 1:
        raise ValueError(f"Study: {key} must be a probability between 0 and 1, got {value}")
    return float(value)


def _whole(key: str, value: Any, least: int, most: int | None = None) -> int:
    return validate.integer("Study", key, value, least, most)


def _means(wanted: str, value: Any) -> bool:
    """Whether a word on the command line stands for a value: 1e3 is 1000."""
    try:
        return float(wanted) == float(value)
    except (TypeError, ValueError):
        return wanted == str(value)
