"""Record -> figure. Each function returns a Matplotlib figure; `save_figure` writes it."""

from __future__ import annotations

from .changing import changing_curves
from .curves import learning_curves, standings
from .panel import curve_grid
from .style import save_figure, styled

__all__ = ["changing_curves", "curve_grid", "learning_curves", "save_figure", "standings", "styled"]
