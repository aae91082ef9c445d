"""The paper's experiments, one file per figure, and what became of its claims."""

from __future__ import annotations

from .claims import judge
from .experiment import Results
from .reproduction import EXPERIMENTS, draw_figures, paper_study, results_of

__all__ = ["EXPERIMENTS", "Results", "draw_figures", "judge", "paper_study", "results_of"]
