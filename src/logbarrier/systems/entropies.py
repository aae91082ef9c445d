"""Systems with an entropy bonus, or another regulariser than the log barrier."""

from __future__ import annotations

import math

from ..algorithms import EntropySGB
from .gradients import STEP
from .instances import Instance
from .system import Family, System


def temperature(epsilon: float, instance: Instance) -> float:
    """tau = epsilon/(2 log K): the bonus, at most tau log K, costs at most epsilon/2."""
    return epsilon / (2.0 * math.log(instance.n_arms))


SYSTEMS = (
    System(
        name="entropy-sgb",
        family=Family.ENTROPY,
        reference="Mei et al. 2020, Agarwal et al. 2021",
        place="Algorithm 2",
        update="theta += alpha (R - tau log p(a)) (e_a - p)",
        parameters="alpha = 0.1, tau = epsilon/(2 log K)",
        reading="The temperature is the largest that costs at most epsilon/2.",
        rule=lambda epsilon, instance: EntropySGB(learning_rate=STEP, tau=temperature(epsilon, instance)),
    ),
)
