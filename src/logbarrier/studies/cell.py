"""Cell: the smallest piece of a study, a block of runs of one rule on one problem, and its name."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from ..bandits.simulator import simulate
from ..bandits.starts import OptimalArmAt
from ..record import Record
from .tables import Table, problem_of, rule_of

KERNELS = 2  # raise it whenever a simulated number may change: stored cells are then no longer taken for today's


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Runs first_run .. first_run + runs - 1 of a rule on a problem. Its numbers depend on these fields and on nothing else.

    rule, problem  plain tables, see `tables`
    checkpoints    how many, or the steps
    bad_start      None for the uniform start, or the optimal arm's probability at the start
    """

    rule: Table
    problem: Table
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
        plain: dict[str, Any] = json.loads(json.dumps({**asdict(self), "kernels": KERNELS}))
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
        return simulate(
            rule_of(self.rule),
            problem_of(self.problem),
            horizon=self.horizon,
            runs=self.runs,
            first_run=self.first_run,
            seed=self.seed,
            checkpoints=self.checkpoints,
            spacing=self.spacing,
            metrics=self.metrics,
            start=None if self.bad_start is None else OptimalArmAt(self.bad_start),
            engine=self.engine,
            threads=threads,
            progress=progress or False,
        )


def cell_of(identity: dict[str, Any]) -> Cell:
    """The cell that `Cell.identity` described, if this version computes the same numbers."""
    plain = dict(identity)
    kernels = plain.pop("kernels")
    if kernels != KERNELS:
        raise ValueError(f"Cell: made for kernels {kernels}, this machine has kernels {KERNELS}; install the same logbarrier")
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
