"""Case: a rule on a problem. Cell: the smallest piece of a study, a block of runs of one case, and its name."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any

from ..engine.code_hash import code_hash
from ..record import Record
from .settings import Setting, setting_of_problem
from .tables import Table, described, identity_of, problem_of, rule_of
from .user_defined import short_name

_code_of_this_process = cache(code_hash)


@dataclass(frozen=True)
class Case:
    """One curve of a study: a rule on a problem, all runs."""

    problem: Table
    rule: Table

    @cached_property
    def setting(self) -> Setting:
        """What kind of problem it is."""
        return setting_of_problem(self.made_problem)

    @cached_property
    def made_problem(self) -> Any:
        """The problem itself."""
        return problem_of(self.problem)

    @cached_property
    def made_rule(self) -> Any:
        """The rule itself."""
        return rule_of(self.rule, within=self.setting)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How large its problem is, such as {"n_arms": 10}."""
        return self.setting.sizes(self.made_problem)

    @cached_property
    def changes(self) -> bool:
        """Whether its problem changes while it is played."""
        return self.setting.changes(self.made_problem)

    @property
    def n_arms(self) -> int:
        """K of a bandit."""
        return self.sizes["n_arms"]

    @property
    def values(self) -> Table:
        """Every key and value of both tables, and the sizes: what `--only` selects by."""
        names = {"problem": short_name(self.problem["problem"]), "rule": short_name(self.rule["rule"])}
        return {**self.problem, **self.rule, **self.sizes, **names}

    @property
    def key(self) -> str:
        """Both tables as one string, equal where the cases are."""
        return json.dumps([self.problem, self.rule], sort_keys=True)

    def __str__(self) -> str:
        return f"{described(self.rule)} on {described(self.problem)}"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Runs first_run .. first_run + runs - 1 of a case. Its numbers depend on these fields and on nothing else.

    code           the hash of all code that the numbers depend on, see `code_hash`
    checkpoints    how many, or the steps
    bad_start      None for the uniform start, or the optimal arm's probability at the start
    """

    case: Case
    code: str
    horizon: int
    first_run: int
    runs: int
    seed: int
    checkpoints: int | tuple[int, ...]
    spacing: str
    metrics: tuple[str, ...]
    bad_start: float | None
    engine: str

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that decides the numbers, as plain JSON values."""
        return {**self.wire, "rule": identity_of(self.wire["rule"]), "problem": identity_of(self.wire["problem"])}

    @cached_property
    def wire(self) -> dict[str, Any]:
        """The identity, and where user-defined classes are found: this goes to another process, and `cell_of` reads it."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "case"}
        plain: dict[str, Any] = json.loads(json.dumps({**values, "rule": self.case.rule, "problem": self.case.problem}))
        return plain

    @cached_property
    def id(self) -> str:
        """Its name in the store: a hash of the identity. Threads, host and executor are not part of it."""
        canonical = json.dumps(self.identity, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:20]

    @property
    def steps(self) -> int:
        """Steps of all its runs together."""
        return self.runs * self.horizon

    def simulate(self, threads: int, progress: Callable[[int, int], None] | None = None) -> Record:
        """Run it."""
        case = self.case
        rule, problem = case.made_rule, case.made_problem
        if _code_of_this_process(*case.setting.code_roots(rule, problem, self.engine)) != self.code:
            raise ValueError(
                f"Cell: the code of {case} is not the one this cell was made for; "
                "install the same logbarrier, Python and user-defined classes, or restart Python after an edit"
            )
        return case.setting.simulate(rule, problem, self, threads=threads, progress=progress)


def cell_of(wire: dict[str, Any]) -> Cell:
    """The cell that `Cell.wire` described."""
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in wire.items()}
    return Cell(case=Case(plain.pop("problem"), plain.pop("rule")), **plain)


def machine() -> dict[str, Any]:
    """Where a cell was computed, for its provenance."""
    return {"host": platform.node(), "cpu": _cpu_name(), "cores": os.cpu_count(), "system": platform.platform()}


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
