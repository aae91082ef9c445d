"""A diagnosis as a figure: which actions are alive in which states, before and after."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from .diagnosis import Diagnosis

MOST_STATES, MANY_STATES = 30, 15  # shown; with labels of a small font
DARKEST = -6.0


def plot_diagnoses(*diagnoses: Diagnosis, titles: tuple[str, ...] = ("before", "after")) -> Figure:
    """One panel per diagnosis: the most visited states down, actions across, log10 of the probability as colour.

    A cross marks a lost action.
    """
    figure = Figure(figsize=(1.3 + 2.6 * len(diagnoses), 4.2), layout="constrained")
    panels = figure.subplots(1, len(diagnoses), squeeze=False)[0]
    for panel, diagnosis, title in zip(panels, diagnoses, titles, strict=False):
        rows = list(diagnosis.first_visits.items())[:MOST_STATES]
        values = diagnosis.probabilities[[step for _, step in rows]]
        image = panel.imshow(
            np.log10(np.maximum(values, 10**DARKEST)),
            vmin=DARKEST,
            vmax=0.0,
            cmap="viridis",
            aspect="auto",
            interpolation="none",
        )
        places, columns = np.nonzero(values < diagnosis.lost_below)
        panel.plot(columns, places, "x", color="white")
        panel.grid(visible=False)
        panel.set_xticks(range(len(diagnosis.actions)), diagnosis.actions)
        panel.set_yticks(range(len(rows)), [label for label, _ in rows], fontsize=7 if len(rows) > MANY_STATES else None)
        panel.set_xlabel("action")
        panel.set_title(f"{title}: {100 * diagnosis.lost_share:.0f} % lost (x)")
    panels[0].set_ylabel("state, most visited first")
    figure.colorbar(image, ax=list(panels), label="log10 of the probability", shrink=0.8)
    return figure
