"""Systems with an entropy bonus, or another regulariser than the log barrier."""

from __future__ import annotations

import math

from ..bandits.algorithms.decaying_entropy_sgb import DecayingEntropySGB
from ..bandits.algorithms.entropy_npg import EntropyNPG
from ..bandits.algorithms.entropy_sgb import EntropySGB
from ..bandits.algorithms.tsallis_sgb import TsallisSGB
from ..bandits.algorithms.two_phase_entropy_sgb import TwoPhaseEntropySGB
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
        rule=lambda epsilon, instance, horizon: EntropySGB(learning_rate=STEP, tau=temperature(epsilon, instance)),
    ),
    System(
        name="decaying-entropy-sgb",
        family=Family.ENTROPY,
        reference="Lu et al. 2024",
        place="Table 2",
        update="theta += alpha0 T^(-t/T) (R - tau log p(a)) (e_a - p)",
        parameters="alpha0 = 1/(5/2 + 5 tau (1 + log K)), tau = epsilon/(2 log K), T the command's horizon",
        rate=3.0,
        assumption="c* finite",
        reading="Their tau is 0.1, which leaves a bias for ever; here it follows epsilon.",
        rule=lambda epsilon, instance, horizon: DecayingEntropySGB(horizon=horizon, tau=temperature(epsilon, instance)),
    ),
    System(
        name="two-phase-entropy-sgb",
        family=Family.ENTROPY,
        reference="Ding et al. 2021",
        place="Table 2",
        update="theta += 50/(50 + n) times the mean of (R - tau log p(a)) (e_a - p) over a batch",
        parameters="tau = epsilon/(2 log K); 50 batches of 64, then batches of 8",
        rate=2.0,
        assumption="min p bounded away from 0",
        reading="The 1/n step and the two phases are theirs, the numbers ours. Every pull counts.",
        rule=lambda epsilon, instance, horizon: TwoPhaseEntropySGB(tau=temperature(epsilon, instance)),
    ),
    System(
        name="entropy-npg",
        family=Family.ENTROPY,
        reference="Cen et al. 2021",
        place="Table 2",
        update="theta <- (1 - alpha tau) theta + alpha R/p(a) e_a",
        parameters="alpha = 0.1, tau = epsilon/(2 log K)",
        rate=2.0,
        assumption="generative model",
        reading="A generative model would give every arm's reward; one pull weighted by 1/p(a) has the same mean.",
        rule=lambda epsilon, instance, horizon: EntropyNPG(learning_rate=STEP, tau=temperature(epsilon, instance)),
    ),
    System(
        name="tsallis-sgb",
        family=Family.ENTROPY,
        reference="Labbi et al. 2026",
        place="Related work",
        update="theta += alpha (R - lambda f'(K p(a))) grad log p(a), p a Tsallis policy of order 1/2",
        parameters="alpha = 0.1, lambda = epsilon/4",
        rate=1.0,
        assumption="action probabilities bounded away from 0",
        reading="The projection is to a box wide enough not to matter; lambda costs at most epsilon/2 for three arms.",
        rule=lambda epsilon, instance, horizon: TsallisSGB(learning_rate=STEP, weight=epsilon / 4.0),
    ),
)
