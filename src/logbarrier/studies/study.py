"""Study: which rules on which problems, for how long, how often and from which seed; cut into cells."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..bandits.algorithms.rule import Rule
from ..bandits.flights import ENGINES, choose
from ..bandits.metrics import METRICS
from ..bandits.problems import ProblemSource
from ..bandits.simulator import DEFAULT_CHECKPOINTS, LARGEST_HORIZON
from ..bandits.starts import OptimalArmAt
from ..base import validate
from .cell import Cell
from .tables import Table, described, rule_of, table_of_problem, table_of_rule


@dataclass(frozen=True)
class Case:
    """One curve of a study: a rule on a problem, all runs."""

    problem: Table
    rule: Table

    @property
    def n_arms(self) -> int:
        """K."""
        return int(self.problem["n_arms"]) if "n_arms" in self.problem else len(self.problem["means"])

    @property
    def values(self) -> Table:
        """Every key and value of both tables, and n_arms: what `--only` selects by."""
        return {**self.problem, **self.rule, "n_arms": self.n_arms}

    @property
    def key(self) -> str:
        """Both tables as one string, equal where the cases are."""
        return json.dumps([self.problem, self.rule], sort_keys=True)

    def __str__(self) -> str:
        return f"{described(self.rule)} on {described(self.problem)}"


def case_of(problem: ProblemSource, rule: Rule) -> Case:
    """A rule on a problem."""
    return Case(table_of_problem(problem), table_of_rule(rule))


def product(problems: Iterable[ProblemSource], rules: Iterable[Rule]) -> list[Case]:
    """Every rule on every problem."""
    rules = list(rules)
    return [case_of(problem, rule) for problem in problems for rule in rules]


@dataclass(frozen=True, kw_only=True)
class Study:
    """Many simulations under one name.

    cases          rules on problems; `product` makes all pairs
    horizon        steps per run
    runs           runs 0 .. runs - 1 of the seed, per case
    runs_per_cell  how many of them are computed and stored together; smaller is finer progress and resume
    checkpoints    how many, or the steps; spacing: linear or log
    metrics        names from lb.METRICS
    bad_start      None for a uniform start, or the probability the optimal arm starts at
    engine         as in `simulate`

    >>> import logbarrier as lb
    >>> cases = product([lb.GapInstances(n_arms=10)], [lb.SGB(learning_rate=0.1), lb.NPG(learning_rate=0.1)])
    >>> study = Study(name="two-rules", cases=cases, horizon=1000, runs=50)
    >>> len(study.cells())
    4
    """

    name: str
    cases: Sequence[Case]
    horizon: int
    runs: int = 100
    seed: int = 0
    runs_per_cell: int = 25
    checkpoints: int | Sequence[int] = DEFAULT_CHECKPOINTS
    spacing: str = "linear"
    metrics: Sequence[str] = METRICS
    bad_start: float | None = None
    engine: str = "auto"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or set(self.name) & set("/\\\0\n") or self.name.startswith("."):
            raise ValueError(f"Study: name must be a word fit for a folder, got {self.name!r}")
        self._set("horizon", _whole("horizon", self.horizon, 1, LARGEST_HORIZON))
        self._set("runs", _whole("runs", self.runs, 1, LARGEST_HORIZON))
        self._set("seed", _whole("seed", self.seed, 0))
        self._set("runs_per_cell", _whole("runs_per_cell", self.runs_per_cell, 1))
        if isinstance(self.checkpoints, list | tuple):
            steps = {_whole("checkpoints", step, 0, self.horizon) for step in self.checkpoints}
            self._set("checkpoints", tuple(sorted({0, self.horizon} | steps)))
        else:
            self._set("checkpoints", _whole("checkpoints", self.checkpoints, 2))
        validate.choice("Study", "spacing", self.spacing, ("linear", "log"))
        validate.choice("Study", "engine", self.engine, ("auto", *ENGINES))
        if not isinstance(self.metrics, list | tuple) or not self.metrics:
            raise ValueError(f"Study: metrics must be a list of names from {', '.join(METRICS)}, got {self.metrics!r}")
        for name in self.metrics:
            validate.choice("Study", "metrics", name, METRICS)
        self._set("metrics", tuple(name for name in METRICS if name in self.metrics))
        if self.bad_start is not None:
            self._set("bad_start", float(OptimalArmAt(_not_a_truth_value("bad_start", self.bad_start)).probability))
        self._set("cases", tuple({case.key: case for case in self.cases}.values()))
        if not self.cases:
            raise ValueError("Study: needs at least one rule on one problem")
        for case in self.cases:
            rule = rule_of(case.rule)
            choose(rule, case.n_arms, self.engine)
            if self.bad_start is not None and not rule.prefers:
                raise ValueError(f"Study: {rule.name} keeps no preferences that bad_start could set; leave one of them out")

    def _set(self, key: str, value: Any) -> None:
        object.__setattr__(self, key, value)

    def cells_of(self, case: Case) -> list[Cell]:
        """The cells that make up one case, in the order of their runs."""
        return [
            Cell(
                rule=case.rule,
                problem=case.problem,
                horizon=self.horizon,
                first_run=first,
                runs=min(self.runs_per_cell, self.runs - first),
                seed=self.seed,
                checkpoints=self.checkpoints,  # type: ignore[arg-type]
                spacing=self.spacing,
                metrics=tuple(self.metrics),
                bad_start=self.bad_start,
                engine=self.engine,
            )
            for first in range(0, self.runs, self.runs_per_cell)
        ]

    def cells(self, cases: Sequence[Case] | None = None) -> list[Cell]:
        """All cells, of these cases alone if given: the first block of every case, then the second of every case, ...

        So that every curve has something to show early, and the time a block takes is known for all cases.
        """
        blocks = [self.cells_of(case) for case in (self.cases if cases is None else cases)]
        return [block[i] for i in range(len(blocks[0])) for block in blocks] if blocks else []

    def only(self, conditions: Sequence[str]) -> list[Case]:
        """The cases that fulfil every condition 'key=value', such as 'rule=sgb' or 'n_arms=1000'."""
        chosen = list(self.cases)
        for condition in conditions:
            key, equals, wanted = condition.partition("=")
            keys = sorted({key for case in self.cases for key in case.values})
            if not equals or key not in keys:
                raise ValueError(f"only: must be KEY=VALUE with a key from {', '.join(keys)}, got {condition!r}")
            chosen = [case for case in chosen if key in case.values and _means(wanted, case.values[key])]
        if not chosen:
            raise ValueError(f"only: no case fulfils {' and '.join(conditions)}")
        return chosen

    @cached_property
    def _constant_keys(self) -> set[str]:
        """Keys that have the same value wherever they occur, of no use to tell cases apart."""
        seen: dict[str, set[str]] = {}
        for case in self.cases:
            for key, value in case.values.items():
                seen.setdefault(key, set()).add(json.dumps(value))
        return {key for key, values in seen.items() if len(values) == 1} - {"rule", "problem"}

    def rule_label(self, case: Case) -> str:
        """The case's rule with the parameters that differ within the study."""
        return described({key: value for key, value in case.rule.items() if key not in self._constant_keys})

    def problem_label(self, case: Case) -> str:
        """The case's problem with the parameters that differ within the study, and K."""
        one_kind = len({other.problem["problem"] for other in self.cases}) == 1
        differing = {key: value for key, value in case.problem.items() if key not in self._constant_keys}
        differing.pop("n_arms", None)
        return f"{described(differing).partition(' ')[2] if one_kind else described(differing)} K={case.n_arms}".strip()

    @cached_property
    def hash(self) -> str:
        """Short hash of all cells' names: what is computed, whatever it is called."""
        names = sorted(cell.id for cell in self.cells())
        return hashlib.sha256("".join(names).encode()).hexdigest()[:8]

    @property
    def folder_name(self) -> str:
        """Where it is kept: its name and its hash."""
        return f"{self.name}-{self.hash}"


def _whole(key: str, value: Any, least: int, most: int | None = None) -> int:
    return validate.integer("Study", key, _not_a_truth_value(key, value), least, most)


def _not_a_truth_value(key: str, value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError(f"Study: {key} must be a number, got {value!r}")
    return value


def _means(wanted: str, value: Any) -> bool:
    """Whether a word on the command line stands for a value: 1e3 is 1000."""
    try:
        return float(wanted) == float(value)
    except (TypeError, ValueError):
        return wanted == str(value)
