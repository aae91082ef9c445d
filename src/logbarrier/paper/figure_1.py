"""Figure 1: LB-SGB, SGB, ENT and NPG for K = 10, 100, 1000 and two learning rates."""

from __future__ import annotations

from ..bandits.algorithms.entropy_sgb import EntropySGB
from ..bandits.algorithms.log_barrier_sgb import LogBarrierSGB
from ..bandits.algorithms.npg import NPG
from ..bandits.algorithms.sgb import SGB
from .design import ARMS, LEARNING_RATES, barrier
from .experiment import BLUE, DASH_DOTTED, DASHED, DOTTED, GREEN, PURPLE, VERMILION, Curve, Experiment, Panel


def curves(n_arms: int, learning_rate: float) -> tuple[Curve, ...]:
    """The four rules of a panel."""
    eta = barrier(n_arms, learning_rate)
    return (
        Curve("LB-SGB", LogBarrierSGB(learning_rate=learning_rate, eta=eta), BLUE),
        Curve("SGB", SGB(learning_rate=learning_rate), VERMILION, DASHED),
        Curve("ENT", EntropySGB(learning_rate=learning_rate, tau=1 / eta), GREEN, DASH_DOTTED),
        Curve("NPG", NPG(learning_rate=learning_rate), PURPLE, DOTTED),
    )


EXPERIMENT = Experiment(
    name="figure-1",
    title="Figure 1: the four rules across K and learning rates",
    rows=tuple(tuple(Panel(f"K = {K}", K, curves(K, alpha)) for K in ARMS) for alpha in LEARNING_RATES),
    row_labels=tuple(rf"$\alpha = {alpha}$" for alpha in LEARNING_RATES),
)
