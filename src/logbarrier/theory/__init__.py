"""The paper's theory as functions: call each statement, see it hold, and learn from it how to set alpha, eta and T.

>>> import logbarrier.theory as theory
>>> theory.maximiser([1.0, 0.5, 0.0], eta=100).plateau > 0.9
True
>>> theory.worst_case_complexity(theory.ProblemClass(n_arms=10, gap=0.1), epsilon=0.1).horizon > 1e17
True
"""

import warnings
from typing import Any

from . import constants, fisher, lemmas, objective, one_step
from .c_star import CStar, c_star
from .constants import CORRECTED, PRINTED, Constants
from .maximiser import Maximiser, maximiser, maximising_policy
from .recurrences import Recurrence
from .sides import Sides
from .theorems import (
    Prescription,
    ProblemClass,
    convergence_rate,
    local_convergence,
    regret,
    sample_complexity,
    worst_case_complexity,
)

__all__ = [
    "CORRECTED",
    "PRINTED",
    "CStar",
    "Constants",
    "Maximiser",
    "Prescription",
    "ProblemClass",
    "Recurrence",
    "Sides",
    "c_star",
    "constants",
    "convergence_rate",
    "fisher",
    "lemmas",
    "local_convergence",
    "maximiser",
    "maximising_policy",
    "objective",
    "one_step",
    "regret",
    "sample_complexity",
    "worst_case_complexity",
]


def __getattr__(name: str) -> Any:
    if name == "Setting":
        warnings.warn("theory.Setting is now theory.ProblemClass; the old name goes in 0.4", DeprecationWarning, stacklevel=2)
        return ProblemClass
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
