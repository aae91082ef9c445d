"""Appendix E, comparison with baselines: LB-SGB, NPG with baseline in two readings, and LB-SGB with clipping."""

from __future__ import annotations

from ..bandits.algorithms.baseline_npg import BaselineNPG
from ..bandits.algorithms.clipped_log_barrier_sgb import ClippedLogBarrierSGB
from ..bandits.algorithms.log_barrier_sgb import LogBarrierSGB
from .design import ARMS, barrier
from .experiment import BLACK, BLUE, DASH_DOTTED, DASHED, DOTTED, ORANGE, PURPLE, Curve, Experiment, Panel

LEARNING_RATE = 0.1
CLIPPED = ClippedLogBarrierSGB()
NPG_INVERSE_SQRT = BaselineNPG(learning_rate=LEARNING_RATE, schedule="inverse_sqrt")
NPG_MEI = BaselineNPG(learning_rate=LEARNING_RATE, schedule="mei")


def curves(n_arms: int) -> tuple[Curve, ...]:
    """The rules of a panel. The paper does not say which step its NPG with baseline takes, so two are shown."""
    return (
        Curve("LB-SGB", LogBarrierSGB(learning_rate=LEARNING_RATE, eta=barrier(n_arms, LEARNING_RATE)), BLUE),
        Curve(r"NPG + baseline ($\alpha/\sqrt{t}$)", NPG_INVERSE_SQRT, PURPLE, DOTTED),
        Curve("NPG + baseline (Mei)", NPG_MEI, ORANGE, DASH_DOTTED),
        Curve("LB-SGB + clipping", CLIPPED, BLACK, DASHED),
    )


EXPERIMENT = Experiment(
    name="baselines",
    title="LB-SGB against NPG with baseline and LB-SGB with clipping",
    rows=(tuple(Panel(f"K = {K}", K, curves(K)) for K in ARMS),),
    legend_columns=3,
)
