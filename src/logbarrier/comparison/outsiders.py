"""Systems that are no policy gradient, for comparison."""

from __future__ import annotations

import math

from ..bandits.algorithms.epsilon_greedy import EpsilonGreedy
from ..bandits.algorithms.exp3 import EXP3
from ..bandits.algorithms.inverse_gap_weighting import InverseGapWeighting
from ..bandits.algorithms.thompson_sampling import ThompsonSampling
from ..bandits.algorithms.ucb1 import UCB1
from .instances import HALF_WIDTH
from .system import Family, System

SYSTEMS = (
    System(
        name="ucb1",
        family=Family.OUTSIDER,
        reference="Auer et al. 2002",
        place="outside the paper",
        update="pull the largest m(a) + c sqrt(log t/n(a))",
        parameters="c = sqrt(2)",
        reading="Each arm's rewards lie in an interval of length 1, so the original c applies.",
        rule=lambda epsilon, instance, horizon: UCB1(c=math.sqrt(2.0)),
    ),
    System(
        name="thompson-sampling",
        family=Family.OUTSIDER,
        reference="Agrawal and Goyal 2013",
        place="outside the paper",
        update="pull the largest sample of N(S(a)/(n(a)+1), scale^2/(n(a)+1))",
        parameters="scale = 0.5",
        reading="Gaussian beliefs; the scale is half the width of the rewards, on the safe side.",
        rule=lambda epsilon, instance, horizon: ThompsonSampling(scale=HALF_WIDTH),
    ),
    System(
        name="epsilon-greedy",
        family=Family.OUTSIDER,
        reference="Auer et al. 2002",
        place="outside the paper",
        update="with probability min(1, c K/t) any arm, else the largest m(a)",
        parameters="c = 30",
        reading="Their c is above 5/gap^2, 20 on the easy instance and 500 on the near tie; this is the default here.",
        rule=lambda epsilon, instance, horizon: EpsilonGreedy(),
    ),
    System(
        name="inverse-gap-weighting",
        family=Family.OUTSIDER,
        reference="Abe and Long 1999, Foster and Rakhlin 2020",
        place="outside the paper",
        update="p(a) = 1/(K + gamma_t (m_best - m(a))), the best arm gets the rest",
        parameters="gamma_t = 3 sqrt(K t)",
        reading="SquareCB without context.",
        rule=lambda epsilon, instance, horizon: InverseGapWeighting(),
    ),
    System(
        name="exp3",
        family=Family.OUTSIDER,
        reference="Auer et al. 2002",
        place="outside the paper",
        update="theta += alpha R/p(a) e_a, p = (1 - gamma) softmax(theta) + gamma/K",
        parameters="gamma = epsilon/4, alpha = gamma/K",
        reading="The mixing costs epsilon/4 at most here; rewards may be negative, theirs are in [0, 1].",
        rule=lambda epsilon, instance, horizon: EXP3(learning_rate=epsilon / (4.0 * instance.n_arms), mixing=epsilon / 4.0),
    ),
)
