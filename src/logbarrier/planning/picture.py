"""The eta trade-off of LB-SGB as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..plots.style import COLOURS, panels, styled
from .tune import Tuning

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def trade_off(tuning: Tuning) -> Figure:
    """p(a*) measured against the exact plateau, and what the barrier costs against how many runs are stuck, over eta."""
    eta, plateau = np.array(tuning.curve).T[:2]
    tried = np.array([(c.eta, c.optimal_probability, c.low, c.high, c.stuck_fraction) for c in tuning.searched]).T
    with styled():
        figure, (left, right) = panels(1, 2, size=(8.4, 3.3), sharex=True)
        left.plot(eta, plateau, color=COLOURS[0], label="plateau (exact)")
        errors = np.abs(tried[2:4] - tried[1])
        left.errorbar(tried[0], tried[1], yerr=errors, fmt="o", ms=4, color=COLOURS[1], label="simulated, 95 %")
        left.set(xscale="log", xlabel="eta", ylabel="final probability of the optimal arm", ylim=(-0.03, 1.03))
        right.plot(eta, 1.0 - plateau, color=COLOURS[0], label="probability off the optimal arm at the plateau")
        right.plot(tried[0], tried[4], "o-", ms=4, color=COLOURS[1], label="runs stuck on a wrong arm")
        right.set(xlabel="eta", ylabel="share", ylim=(-0.03, 1.03))
        for axes in (left, right):
            axes.axvline(tuning.recommendation.eta, color="#888888", linestyle=":", linewidth=1)
            axes.legend(loc="best")
        figure.suptitle(
            f"{tuning.n_arms:,} arms, gap {tuning.gap:g}, {tuning.horizon:,} pulls, "
            f"alpha {tuning.recommendation.learning_rate:g}"
        )
    return figure
