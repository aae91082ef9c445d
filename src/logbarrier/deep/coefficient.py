"""How large should the coefficient be? Say how much exploration you want; this says which c gives it and what it costs.

Where the barrier has come to rest on a state with action values Q and V = sum_a pi(a) Q(a), the gradient of
V + (c/K) sum_a log pi(a) vanishes, which is

    pi(a) = (c/K) / (c + V - Q(a)).

If one action leads all others by `gap`, the share m of the draws that goes to the others obeys, exactly,

    c = gap m (1 - m) / (1 - m - 1/K),        about gap * m when m is small,

and costs gap * m of return at each such decision. Real values are not two-valued: this is a rule of thumb to start from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..base import validate


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A coefficient and what comes with it."""

    coefficient: float
    """c, to pass as `ent_coef`."""
    share: float
    """Share of the draws that do not go to the best action."""
    min_probability: float
    """What each of the other actions keeps."""
    cost: float
    """Return lost per decision while c stays: gap * share."""

    def __str__(self) -> str:
        return (
            f"c = {self.coefficient:.3g}: {100 * self.share:.3g} % of the draws explore, every action keeps "
            f"{self.min_probability:.2g}, each decision gives up {self.cost:.3g} of return"
        )


def choose_coefficient(share: float, *, gap: float, n_actions: int, deviation: float = 1.0) -> Choice:
    """The c at which a share of the draws explores, when the best of n_actions leads by `gap` in value.

    `deviation` is what the algorithm divides advantages by. Leave it at 1 for A2C; PPO normalises its advantages, so pass
    their standard deviation there (see `advantage_deviation`).

    >>> print(choose_coefficient(0.1, gap=1.0, n_actions=4))
    c = 0.138: 10 % of the draws explore, every action keeps 0.033, each decision gives up 0.1 of return
    """
    validate.integer("choose_coefficient", "n_actions", n_actions, 2)
    validate.positive("choose_coefficient", "gap", gap)
    validate.positive("choose_coefficient", "deviation", deviation)
    if not 0.0 < validate.number("choose_coefficient", "share", share) < 1.0 - 1.0 / n_actions:
        raise ValueError(
            f"choose_coefficient: share must lie between 0 and {1 - 1 / n_actions:.3g}, that of uniform play, got {share}"
        )
    return Choice(
        coefficient=gap / deviation * share * (1.0 - share) / (1.0 - share - 1.0 / n_actions),
        share=share,
        min_probability=share / (n_actions - 1),
        cost=gap * share,
    )


def advantage_deviation(share: float, *, gap: float, noise: float = 0.0) -> float:
    """Standard deviation of the advantages once a share of the draws explores: sqrt(gap^2 m (1 - m) + noise^2).

    `noise` is the deviation of the returns themselves. Without noise PPO's normalisation makes c independent of the gap:

    >>> for gap in (1.0, 9.0):
    ...     deviation = advantage_deviation(0.1, gap=gap)
    ...     print(f"{choose_coefficient(0.1, gap=gap, n_actions=4, deviation=deviation).coefficient:.4f}")
    0.4615
    0.4615
    """
    return math.sqrt(gap**2 * share * (1.0 - share) + noise**2)
