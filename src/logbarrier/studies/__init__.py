"""Many simulations that survive anything: studies, their cells, their store, and executors.

>>> import pathlib, tempfile, logbarrier as lb
>>> from logbarrier.studies import LocalExecutor, Store, Study, product, record_of, run
>>> cases = product([lb.GapInstances(n_arms=5)], [lb.SGB(learning_rate=0.1), lb.NPG(learning_rate=0.1)])
>>> study = Study(name="two-rules", cases=cases, horizon=100, runs=4)
>>> store = Store(pathlib.Path(tempfile.mkdtemp()) / study.folder_name, study)
>>> run(store, LocalExecutor()).computed
2
>>> record_of(store, study.cases[0]).runs
4
"""

from __future__ import annotations

from .local import LocalExecutor
from .results import record_of, records, write_summary
from .run import Executor, Outcome, run
from .store import CannotWriteError, Store
from .study import Case, Study, case_of, product
from .study_file import read_study, study_as_toml

__all__ = [
    "CannotWriteError",
    "Case",
    "Executor",
    "LocalExecutor",
    "Outcome",
    "Store",
    "Study",
    "case_of",
    "product",
    "read_study",
    "record_of",
    "records",
    "run",
    "study_as_toml",
    "write_summary",
]
