"""Systems without a regulariser."""

from __future__ import annotations

from ..bandits.algorithms.baseline_npg import BaselineNPG
from ..bandits.algorithms.decaying_sgb import DecayingSGB
from ..bandits.algorithms.npg import NPG
from ..bandits.algorithms.sgb import SGB
from ..bandits.algorithms.staged_sgb import StagedSGB
from ..bandits.algorithms.theory_sgb import TheorySGB
from .system import Family, System

STEP = 0.1  # of the paper's experiments, the larger of its two


SGB_UPDATE = "theta += alpha R (e_a - p)"
SYSTEMS = (
    System(
        name="sgb",
        family=Family.GRADIENT,
        reference="Mei et al. 2024",
        place="Algorithm 1",
        update=SGB_UPDATE,
        parameters="alpha = 0.1",
        reading="The step of the paper's experiments; no theorem covers it.",
        rule=lambda epsilon, instance, horizon: SGB(learning_rate=STEP),
    ),
    System(
        name="sgb-theory",
        family=Family.GRADIENT,
        reference="Mei et al. 2024",
        place="Tables 1 and 2",
        update=SGB_UPDATE,
        parameters="alpha = Delta^2/(40 K^1.5 R^3)",
        rate=1.0,
        assumption="no ties, c* finite",
        reading="Delta is the smallest gap between any two means, R the largest sampled reward.",
        rule=lambda epsilon, instance, horizon: TheorySGB(minimum_gap=instance.minimum_gap, r_max=instance.r_max),
    ),
    System(
        name="decaying-sgb",
        family=Family.GRADIENT,
        reference="Lu et al. 2024",
        place="Table 2",
        update="theta += alpha0 T^(-t/T) R (e_a - p)",
        parameters="alpha0 = 1/18, T the command's horizon",
        rate=3.0,
        assumption="c* finite",
        reading="Their T is the pulls to be made; ours is the same for every epsilon.",
        rule=lambda epsilon, instance, horizon: DecayingSGB(horizon=horizon),
    ),
    System(
        name="staged-sgb",
        family=Family.GRADIENT,
        reference="Lu et al. 2024",
        place="Table 2",
        update="stages of doubling length L: theta += alpha0 L^(-k/L) R (e_a - p)",
        parameters="alpha0 = 1/18, first L = 5000",
        rate=3.0,
        assumption="c* finite",
        reading="theta is carried from stage to stage.",
        rule=lambda epsilon, instance, horizon: StagedSGB(),
    ),
    System(
        name="npg",
        family=Family.GRADIENT,
        reference="Kakade 2001",
        place="Algorithm 3",
        update="theta += alpha R/p(a) e_a",
        parameters="alpha = 0.1",
        reading="The step of the paper's experiments; it may commit to a wrong arm for ever.",
        rule=lambda epsilon, instance, horizon: NPG(learning_rate=STEP),
    ),
    System(
        name="baseline-npg",
        family=Family.GRADIENT,
        reference="Mei et al. 2022",
        place="Table 1",
        update="theta += alpha abs(m(a) - b) (R - b)/(8 R_max^2) e_a",
        parameters="alpha = 1",
        rate=1.0,
        assumption="c* finite",
        reading="The baseline b is the policy's mean of the arms' empirical means m, which the analysis takes as known.",
        rule=lambda epsilon, instance, horizon: BaselineNPG(learning_rate=1.0, schedule="mei", r_max=instance.r_max),
    ),
)
