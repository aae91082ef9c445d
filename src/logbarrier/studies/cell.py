"""Cell: the smallest piece of a study, a block of runs of one rule on one problem, and its name."""

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
from .settings import setting_of_problem
from .tables import Table, described, identity_of, problem_of, rule_of

_code_of_this_process = cache(code_hash)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Runs first_run .. first_run + runs - 1 of a rule on a problem. Its numbers depend on these fields and on nothing else.

    rule, problem  plain tables, see `tables`
    code           the hash of all code that the numbers depend on, see `code_hash`
    checkpoints    how many, or the steps
    bad_start      None for the uniform start, or the optimal arm's probability at the start
    """

    rule: Table
    problem: Table
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
        """The identity, and where a user's own classes are found: this goes to a worker, and `cell_of` reads it."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        plain: dict[str, Any] = json.loads(json.dumps(values))
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
        problem = problem_of(self.problem)
        setting = setting_of_problem(problem)
        rule = rule_of(self.rule, within=setting)
        if _code_of_this_process(*setting.code_roots(rule, problem, self.engine)) != self.code:
            raise ValueError(
                f"Cell: the code of {described(self.rule)} on {described(self.problem)} is not the one this cell was made for; "
                "install the same logbarrier, Python and user-defined classes, or restart Python after an edit"
            )
        return setting.simulate(rule, problem, self, threads=threads, progress=progress)


def cell_of(wire: dict[str, Any]) -> Cell:
    """The cell that `Cell.wire` described."""
    plain = dict(wire)
    if isinstance(plain["checkpoints"], list):
        plain["checkpoints"] = tuple(plain["checkpoints"])
    return Cell(**{**plain, "metrics": tuple(plain["metrics"])})


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
