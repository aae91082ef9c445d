"""The paper's experiments, one file per figure, and what became of its claims."""

from __future__ import annotations

from .claims import evaluate
from .experiment import Results
from .reproduction import EXPERIMENTS, paper_study, plot_figures, results_of

__all__ = ["EXPERIMENTS", "Results", "evaluate", "paper_study", "plot_figures", "results_of"]
