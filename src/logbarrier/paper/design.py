"""The design that all of the paper's experiments share (Section 6 and Appendix E)."""

from __future__ import annotations

import numpy as np

from ..bandits.problems import GapInstances

HORIZON = 25_000  # as printed
LONG = 100 * HORIZON  # from uniform, p(a*) leaves 1/K after about K/(alpha (r* - J)) steps: 1e5 for K = 1000, alpha = 0.01
HORIZONS = {"printed": HORIZON, "long": LONG}
RUNS = 100
ARMS = (10, 100, 1000)
LEARNING_RATES = (0.01, 0.1)
METRICS = ("optimal_probability", "min_probability", "wrong_probability", "regret")


def instances(n_arms: int) -> GapInstances:
    """Gap 0.1, best mean 1, unit Gaussian noise; a fresh instance for every run."""
    return GapInstances(n_arms=n_arms, gap=0.1, r_max=1.0, scale=1.0)


def barrier(n_arms: int, learning_rate: float) -> float:
    """eta of the paper's Table 3 for LB-SGB; ENT's temperature is read as 1/eta."""
    if n_arms == 1000:
        return 10_000.0 if learning_rate == 0.01 else 5_000.0
    return {10: 1_000.0, 100: 2_000.0}[n_arms]


def checkpoints(horizon: int) -> tuple[int, ...]:
    """Two hundred even steps, and the steps just before and after each clipping, whose phases end at 2^l - 1."""
    even = np.linspace(0, horizon, 201).round().astype(int).tolist()
    ends = [2**phase - 1 for phase in range(2, horizon.bit_length() + 1) if 2**phase - 1 <= horizon]
    return tuple(sorted({*even, *ends, *(end - 1 for end in ends)}))


def escape_time(n_arms: int, learning_rate: float, mean_reward: float = 0.0) -> float:
    """Steps until p(a*) leaves 1/K: at uniform, d log p(a*)/dt = alpha p(a*) (r* - J) (1 + O(1/K)), so K/(alpha (r* - J))."""
    return n_arms / (learning_rate * (1.0 - mean_reward))


def escape_sentence() -> str:
    """Why the printed horizon is too short for K = 1000."""
    times = "; ".join(f"K = {K}, alpha = {alpha:g}: {escape_time(K, alpha):,.0f}" for K in ARMS[1:] for alpha in LEARNING_RATES)
    return (
        "From the uniform start p(a*) leaves 1/K only after about K / (alpha (r* - J)) steps, with r* = 1 and J near 0 there: "
        f"{times}. The printed horizon is {HORIZON:,}. Where that is below or near this escape time no rule can have learnt, "
        "so claims about K = 1000 cannot show at it; a hundred times longer they can."
    )
