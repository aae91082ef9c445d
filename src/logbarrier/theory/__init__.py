"""The paper's theory as functions: call each statement, see it hold, and learn from it how to set alpha, eta and T.

>>> import logbarrier.theory as theory
>>> theory.maximiser([1.0, 0.5, 0.0], eta=100).plateau > 0.9
True
>>> theory.worst_case_complexity(theory.Setting(n_arms=10, gap=0.1), epsilon=0.1).horizon > 1e17
True
"""

from . import constants, fisher, lemmas, objective, one_step
from .c_star import CStar, c_star
from .constants import CORRECTED, PRINTED, Constants
from .maximiser import Maximiser, maximiser, maximising_policy
from .recurrences import Recurrence
from .sides import Sides
from .theorems import (
    Prescription,
    Setting,
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
    "Recurrence",
    "Setting",
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
