"""The paper's theory as functions: call each statement, see it hold, and get from it how to set alpha, eta and T.

>>> import logbarrier.theory as theory
>>> theory.maximiser([1.0, 0.5, 0.0], eta=100).plateau > 0.9
True
>>> theory.worst_case_complexity(theory.Setting(n_arms=10, gap=0.1), epsilon=0.1).horizon > 1e17
True
"""

from . import constants, fisher, lemmas, objective, one_step
from .c_star import CStar, c_star
from .constants import CORRECTED, PRINTED, Constants
from .exercise import Exercise, Tiny, exercises
from .maximiser import Maximiser, maximiser, maximising_policy
from .planning import Plan, plan
from .recurrences import Recurrence
from .search import Candidate
from .sides import Sides
from .statements import STATEMENTS, Statement
from .theorems import (
    Prescription,
    Setting,
    convergence_rate,
    local_convergence,
    regret,
    sample_complexity,
    worst_case_complexity,
)
from .verify import Verdict, verify

__all__ = [
    "CORRECTED",
    "PRINTED",
    "STATEMENTS",
    "CStar",
    "Candidate",
    "Constants",
    "Exercise",
    "Maximiser",
    "Plan",
    "Prescription",
    "Recurrence",
    "Setting",
    "Sides",
    "Statement",
    "Tiny",
    "Verdict",
    "c_star",
    "constants",
    "convergence_rate",
    "exercises",
    "fisher",
    "lemmas",
    "local_convergence",
    "maximiser",
    "maximising_policy",
    "objective",
    "one_step",
    "plan",
    "regret",
    "sample_complexity",
    "verify",
    "worst_case_complexity",
]
