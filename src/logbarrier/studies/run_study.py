"""run_study: a study from Python, in one call."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ..base import validate
from ..base.progress import Bar
from ..record import Record
from . import user_defined
from .cell import Case
from .local import LocalExecutor
from .results import records
from .run import Executor, Outcome, run
from .status import StudyStatus, case_statuses, study_status
from .store import Store
from .study import Study
from .summary import case_columns


@dataclass(frozen=True)
class StudyRun:
    """A study in its folder: where it is, what was computed for it this time, and its records.

    outcome  what `run_study` did; of a study that was loaded, nothing
    """

    store: Store
    outcome: Outcome

    @property
    def study(self) -> Study:
        """What was asked for."""
        return self.store.study

    @property
    def folder(self) -> Path:
        """What `logbarrier status` and `logbarrier report` take."""
        return self.store.folder

    def records(self) -> list[tuple[Case, Record]]:
        """Every case with its record."""
        return list(records(self.store))

    def to_frame(self) -> Any:
        """Return all results as one pandas DataFrame: a row per case, run and checkpoint.

        Its columns are problem, rule, the size of the problem, every parameter (`rule.eta`), run, step and every metric.
        """
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise ImportError("StudyRun.to_frame: needs pandas; install it with pip install pandas") from None
        frames = [record.to_frame().assign(**case_columns(case)) for case, record in self.records()]
        if not frames:
            raise ValueError(f"StudyRun.to_frame: {self.folder} has no finished cell; run the study first")
        whole = pandas.concat(frames, ignore_index=True)
        first, *_ = self.records()
        measured = ["run", "step", *first[1].metrics]
        return whole[[*(column for column in whole.columns if column not in measured), *measured]]

    def status(self) -> StudyStatus:
        """How many cells are done, missing, failed and damaged, and the seconds left on this machine."""
        return study_status(case_statuses(self.store), os.cpu_count() or 1)


def load_study(folder: str | Path) -> StudyRun:
    """Open the folder of a study that was run, here or by `logbarrier run`; nothing is computed.

    >>> import tempfile, logbarrier as lb
    >>> rules = [lb.SGB(learning_rate=0.1), lb.NPG(learning_rate=0.1)]
    >>> study = lb.Study(name="two", problems=[lb.GapInstances(n_arms=5)], rules=rules, horizon=100, runs=4, checkpoints=3)
    >>> folder = lb.run_study(study, out=tempfile.mkdtemp()).folder
    >>> loaded = lb.load_study(folder)
    >>> loaded.status().cells["done"], len(loaded.to_frame())
    (2, 24)
    """
    store = Store.open(folder)
    return StudyRun(store, Outcome(stored=sum(store.state(cell) == "done" for cell in store.study.cells())))


def run_study(
    study: Study,
    *,
    out: str | Path = "runs",
    threads: int | None = None,
    executor: Executor | None = None,
    force: bool = False,
    retry: bool = False,
    progress: bool | Callable[[int, int], None] = False,
) -> StudyRun:
    """Compute what is missing of a study and keep it in out/<name>-<hash>; stop it at any moment and call it again.

    threads   cells at once on this machine; all cores by default
    executor  in place of threads: another executor, such as studies.cluster.DaskExecutor
    force     compute cells again even if they are stored; retry: also those that failed before
    progress  True for a bar on stderr, or a function of (steps done, steps in all)

    >>> import tempfile, logbarrier as lb
    >>> rules = [lb.SGB(learning_rate=0.1), lb.NPG(learning_rate=0.1)]
    >>> study = lb.Study(name="two-rules", problems=[lb.GapInstances(n_arms=5)], rules=rules, horizon=100, runs=4)
    >>> done = lb.run_study(study, out=tempfile.mkdtemp())
    >>> [(case.rule["rule"], record.runs) for case, record in done.records()]
    [('sgb', 4), ('npg', 4)]
    """
    user_defined.refuse_while_loading("run_study")
    validate.instance("run_study", "study", study, Study, "a Study")
    store = Store(Path(out) / study.folder_name, study)
    bar = Bar(sum(cell.steps for cell in study.cells()), study.name) if progress is True else None
    try:
        shown = bar or (progress if callable(progress) else None)
        outcome = run(store, executor or LocalExecutor(threads), force=force, retry=retry, progress=shown)
    finally:
        if bar is not None:
            bar.close()
    if outcome.failed:
        first = next(cell for cell in study.cells() if cell.id == outcome.failed[0])
        why = store.failure(first).get("error", "for an unknown reason")
        raise RuntimeError(
            f"run_study: {len(outcome.failed)} of {len(study.cells())} cells failed, the first with {why}; "
            f"the others are kept in {store.folder}, retry=True computes the failed ones again"
        )
    return StudyRun(store, outcome)
