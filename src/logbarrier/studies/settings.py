"""What a study can be about: each setting with its rules, problems, metrics and simulator, all plugged in here.

A setting is one file like `bandit_setting.py` that ends in `SETTING = ...`, and its name in FILES. Studies, cells, store,
executors, summary and report ask the setting and know nothing else of arms or states.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..base.failure import WrongTypeError
from ..base.validate import did_you_mean
from ..record import Record
from . import user_defined

if TYPE_CHECKING:
    from .cell import Cell

FILES = ("bandit_setting", "mdp_setting", "context_setting")  # in the order in which names are looked up


class Setting(ABC):
    """One kind of problem with the rules that solve it.

    rules, problems  by name, those of this package; user-defined rules inherit from `rule_base`
    simulator        the function that simulates a rule on a problem
    metrics          what it measures, in the order of the columns
    ranges           metric -> the least and the greatest value it can have; any where it is not listed
    ranked_by        metric -> whether less is better; the first one that a study measured ranks its rules
    plotted          metrics of the learning curves; the first one that was measured is plotted
    symbols          the sizes of a problem, as `sizes` names them -> the symbol in labels
    read_file        reads a problem from a file of arrays, where the setting has such files
    """

    name: ClassVar[str]
    rules: Mapping[str, type[Any]]
    problems: Mapping[str, type[Any]]
    rule_base: type[Any]
    simulator: Callable[..., Record]
    metrics: tuple[str, ...]
    ranges: Mapping[str, tuple[float, float]] = MappingProxyType({})
    ranked_by: Mapping[str, bool]
    plotted: tuple[str, ...]
    symbols: Mapping[str, str]
    engines: tuple[str, ...] = ("auto",)
    read_file: Callable[[Path], Any] | None = None

    @abstractmethod
    def is_problem(self, problem: Any) -> bool:
        """Whether an object, perhaps of a user-defined class, is a problem of this setting."""

    @abstractmethod
    def sizes(self, problem: Any) -> dict[str, int]:
        """How large a problem is, such as {"n_arms": 10}."""

    @abstractmethod
    def check(self, rule: Any, problem: Any, *, engine: str, bad_start: float | None) -> None:
        """Refuse, in a sentence, what could not be simulated."""

    @abstractmethod
    def same(self, problem: Any, other: Any) -> bool:
        """Whether two problems pose the same task, run by run."""

    @abstractmethod
    def code_roots(self, rule: Any, problem: Any, engine: str) -> tuple[Any, ...]:
        """Return the classes and functions that the cell's numbers depend on, for `code_hash`."""

    def simulate(
        self, rule: Any, problem: Any, cell: Cell, *, threads: int, progress: Callable[[int, int], None] | None
    ) -> Record:
        """The cell's runs: a pure function of rule, problem and the cell's fields."""
        record: Record = self.simulator(
            rule,
            problem,
            horizon=cell.horizon,
            runs=cell.runs,
            first_run=cell.first_run,
            seed=cell.seed,
            checkpoints=cell.checkpoints,
            spacing=cell.spacing,
            metrics=cell.metrics,
            threads=threads,
            progress=progress or False,
            **self.options(cell),
        )
        return record

    def options(self, cell: Cell) -> dict[str, Any]:
        """What a cell asks of this setting's simulator alone, by the names of its arguments."""
        return {}

    def measurable(self, problem: Any) -> tuple[str, ...]:
        """Return the metrics that can be measured on a problem."""
        return self.metrics

    def class_of(self, problem: Any) -> type[Any]:
        """Return the class that makes a problem again from its `arguments`."""
        return type(problem)

    def changes(self, problem: Any) -> bool:
        """Whether a problem changes while it is played: then regret is dynamic, and the best arm that of the moment."""
        return False

    def means_along(self, problem: Any, steps: np.ndarray, seed: int) -> np.ndarray:
        """Mean rewards (steps, K) after each of `steps`, in run 0 of a seed, of a problem that changes."""
        raise NotImplementedError

    def ranking_metric(self, measured: Collection[str]) -> str | None:
        """The measured metric that rules are ranked by; None if none of them is suitable."""
        return next((metric for metric in self.ranked_by if metric in measured), None)

    def plotted_metric(self, measured: Collection[str]) -> str:
        """The measured metric that the learning curves show."""
        return next(metric for metric in (*self.plotted, *measured) if metric in measured)

    def follows_preferences(self, rule: Any) -> bool:
        """Whether a rule is a policy gradient, rather than an index or posterior policy."""
        return bool(getattr(rule, "has_preferences", True))

    def knows_means(self, rule: Any) -> bool:
        """Whether a rule is given what no user could know, such as the mean rewards."""
        return bool(getattr(rule, "knows_means", False))


def settings() -> Iterator[Setting]:
    """Every setting, each imported only when it is reached."""
    for file in FILES:
        yield import_module(f".{file}", __package__).SETTING


def setting_of_rule(rule: Any) -> Setting:
    """The setting that an object is a rule of."""
    for setting in settings():
        if isinstance(rule, setting.rule_base):
            return setting
    raise WrongTypeError(f"Study: rule must be a rule such as SGB(learning_rate=0.1), got {rule!r}")


def setting_of_problem(problem: Any) -> Setting:
    """The setting that an object is a problem of."""
    for setting in settings():
        if not isinstance(problem, type) and setting.is_problem(problem):
            return setting
    raise WrongTypeError(f"Study: problem must be a problem such as GapInstances(n_arms=10), got {problem!r}")


def maker_named(kind: str, name: Any, near: Path | None = None, within: Setting | None = None) -> Callable[..., Any]:
    """What makes the rule or problem (kind) that a table names: a class of this package, an entry point, or a user's own code.

    A problem may also be a function or a file of arrays. within: the only setting whose names count, as two settings may
    have rules of one name.
    """
    known: list[str] = []
    for setting in settings() if within is None else [within]:
        classes = setting.rules if kind == "rule" else setting.problems
        if isinstance(name, str) and name in classes:
            return classes[name]
        known += classes
        if kind == "problem" and isinstance(name, str) and name.endswith(".npz") and setting.read_file is not None:
            return partial(setting.read_file, (near or Path.cwd()) / name)
    found = None
    if isinstance(name, str):
        found = (
            user_defined.load(name, near)
            if user_defined.is_reference(name)
            else user_defined.entry_point(f"logbarrier.{kind}s", name)
        )
    if found is None:
        near_miss = did_you_mean(name, known)
        more = "'file.py:Class'" if kind == "rule" else "'file.py:Class', 'file.py:function' or 'file.npz'"
        raise ValueError(f"{kind} must be one of {', '.join(known)}, or {more}, got {name!r}{near_miss}")
    if kind == "rule" and not isinstance(found, type):
        raise ValueError(f"{name}: a rule must be a class, got {found!r}")
    maker: Callable[..., Any] = found
    return maker


def name_of_class(kind: str, found: type[Any]) -> str:
    """The name that `maker_named` turns back into this class."""
    for setting in settings():
        for name, known in (setting.rules if kind == "rule" else setting.problems).items():
            if known is found:
                return name
    return user_defined.reference_to(found)
