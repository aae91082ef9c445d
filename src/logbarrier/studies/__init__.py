"""Many simulations that survive anything: studies, their cells, their store, and executors.

`lb.Study` says what, `lb.run_study` runs it; the pieces here are for those who want the store or the executor in hand.

>>> import pathlib, tempfile, logbarrier as lb
>>> from logbarrier.studies import LocalExecutor, Store, record_of, run
>>> rules = [lb.SGB(learning_rate=0.1), lb.NPG(learning_rate=0.1)]
>>> study = lb.Study(name="two-rules", problems=[lb.GapInstances(n_arms=5)], rules=rules, horizon=100, runs=4)
>>> store = Store(pathlib.Path(tempfile.mkdtemp()) / study.folder_name, study)
>>> run(store, LocalExecutor()).computed
2
>>> record_of(store, study.cases[0]).runs
4
"""

from __future__ import annotations

from .cell import Case
from .local import LocalExecutor
from .results import record_of, records
from .run import Executor, Outcome, run
from .run_study import StudyRun, load_study, run_study
from .store import CannotWriteError, Store
from .study import Study, case_of, product
from .study_file import read_study, study_as_toml
from .summary import write_summary

__all__ = [
    "CannotWriteError",
    "Case",
    "Executor",
    "LocalExecutor",
    "Outcome",
    "Store",
    "Study",
    "StudyRun",
    "case_of",
    "load_study",
    "product",
    "read_study",
    "record_of",
    "records",
    "run",
    "run_study",
    "study_as_toml",
    "write_summary",
]
