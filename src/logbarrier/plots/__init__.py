"""Record -> figure. Each function returns a Matplotlib figure; `save_figure` writes it."""

from __future__ import annotations

from .changing import changing_curves
from .curves import learning_curves, standings
from .style import save_figure

__all__ = ["changing_curves", "learning_curves", "save_figure", "standings"]
