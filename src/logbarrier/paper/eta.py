"""Appendix E, sensitivity to eta: SGB and LB-SGB with eta = 1e2, 1e3, 1e4 on K = 10, for both learning rates."""

from __future__ import annotations

from ..bandits.algorithms.log_barrier_sgb import LogBarrierSGB
from ..bandits.algorithms.sgb import SGB
from .experiment import BLACK, BLUE, DASH_DOTTED, DASHED, DOTTED, SKY, VERMILION, Curve, Experiment, Panel

N_ARMS = 10
LEARNING_RATES = (0.1, 0.01)  # the paper does not say which one its figure uses
METRICS = ("optimal_probability", "min_probability", "regret")


def curves(learning_rate: float) -> tuple[Curve, ...]:
    """SGB and the three barriers."""
    return (
        Curve("SGB", SGB(learning_rate=learning_rate), VERMILION, DASHED),
        Curve(r"LB-SGB $\eta = 10^2$", LogBarrierSGB(learning_rate=learning_rate, eta=1e2), SKY, DOTTED),
        Curve(r"LB-SGB $\eta = 10^3$", LogBarrierSGB(learning_rate=learning_rate, eta=1e3), BLUE),
        Curve(r"LB-SGB $\eta = 10^4$", LogBarrierSGB(learning_rate=learning_rate, eta=1e4), BLACK, DASH_DOTTED),
    )


EXPERIMENT = Experiment(
    name="eta",
    title="Sensitivity to the barrier parameter",
    rows=tuple(tuple(Panel("", N_ARMS, curves(alpha), metric) for metric in METRICS) for alpha in LEARNING_RATES),
    row_labels=tuple(rf"$\alpha = {alpha}$" for alpha in LEARNING_RATES),
)
