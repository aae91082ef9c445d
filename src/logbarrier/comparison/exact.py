"""Systems that follow the exact gradient: told the mean rewards, they have no noise."""

from __future__ import annotations

from ..bandits.algorithms.exact_entropy_pg import ExactEntropyPG
from ..bandits.algorithms.exact_log_barrier_pg import ExactLogBarrierPG
from ..bandits.algorithms.exact_pg import ExactPG
from .entropies import temperature
from .system import Family, System

SYSTEMS = (
    System(
        name="exact-pg",
        family=Family.EXACT,
        reference="Mei et al. 2020",
        place="Related work",
        update="theta += alpha p (r - J)",
        parameters="alpha = 2/5",
        rate=1.0,
        assumption="exact gradient; 5/(c^2 t), c = inf p(a*)",
        reading="A step counts as one pull, of an arm drawn from p. Rewards are in [-1, 1], theirs in [0, 1].",
        rule=lambda epsilon, instance, horizon: ExactPG(),
    ),
    System(
        name="exact-entropy-pg",
        family=Family.EXACT,
        reference="Mei et al. 2020",
        place="Related work",
        update="theta += alpha p (v - sum p v), v = r - tau log p",
        parameters="alpha = 2/5, tau = epsilon/(2 log K)",
        reading="They prove a linear rate towards the biased optimum at fixed tau; here tau follows epsilon.",
        rule=lambda epsilon, instance, horizon: ExactEntropyPG(tau=temperature(epsilon, instance)),
    ),
    System(
        name="exact-lb-pg",
        family=Family.EXACT,
        reference="Agarwal et al. 2021",
        place="Related work",
        update="theta += step [p (r - J) + (lambda/K)(1 - K p)]",
        parameters="lambda = epsilon/2, step = 1/(8 + 2 lambda)",
        rate=2.0,
        assumption="exact gradient",
        reading="Their 320 K^2/epsilon^2 steps, with the factors of a Markov decision process left out.",
        rule=lambda epsilon, instance, horizon: ExactLogBarrierPG(weight=epsilon / 2.0),
    ),
)
