"""Systems with a log barrier."""

from __future__ import annotations

from ..bandits.algorithms.adaptive_log_barrier_sgb import AdaptiveLogBarrierSGB
from ..bandits.algorithms.clipped_log_barrier_sgb import ClippedLogBarrierSGB
from ..bandits.algorithms.log_barrier_sgb import LogBarrierSGB
from ..bandits.algorithms.mini_batch_log_barrier_sgb import MiniBatchLogBarrierSGB
from ..bandits.algorithms.momentum_log_barrier_sgb import MomentumLogBarrierSGB
from ..bandits.algorithms.rule import Rule
from ..theory.constants import PRINTED
from ..theory.theorems import Setting, sample_complexity
from .gradients import STEP
from .instances import Instance
from .system import Family, System

WORST_CASE_STEP = 10.0  # the theorem's own factor, 4e-7 on the easy instance, asks for 2e13 pulls at epsilon = 0.2


def first_theorem(epsilon: float, instance: Instance, horizon: int) -> Rule:
    """alpha and eta of the convergence-rate theorem, with c* what it is at the start."""
    setting = Setting(instance.n_arms, instance.minimum_gap, instance.r_max)
    wanted = sample_complexity(setting, epsilon=epsilon, c_star=instance.start_c_star, constants=PRINTED)
    return LogBarrierSGB(learning_rate=wanted.learning_rate, eta=wanted.eta)


LB_UPDATE = "theta += alpha [R (e_a - p) + (1/eta)(1 - K p)]"
SYSTEMS = (
    System(
        name="lb-sgb",
        family=Family.BARRIER,
        reference="this paper",
        place="Algorithm 4",
        update=LB_UPDATE,
        parameters="alpha = 0.1, eta = 2K/epsilon",
        reading="Theorem 2's eta, which costs at most epsilon/2, with the step of the paper's experiments.",
        rule=lambda epsilon, instance, horizon: LogBarrierSGB(learning_rate=STEP, eta=2.0 * instance.n_arms / epsilon),
    ),
    System(
        name="lb-sgb-theorem-1",
        family=Family.BARRIER,
        reference="this paper",
        place="Tables 1 and 2",
        update=LB_UPDATE,
        parameters="alpha = 3 Delta^2/(160 K^1.5 R^2 (sqrt(2) R + 2K/eta)), eta = 8 b c*/epsilon^2",
        rate=1.0,
        assumption="no ties, c* finite; last iterate",
        reading="The constants as printed, with c* taken to be 1/p(a*)^2 at the start.",
        rule=first_theorem,
    ),
    System(
        name="lb-sgb-theorem-2",
        family=Family.BARRIER,
        reference="this paper",
        place="Tables 1 and 2",
        update=LB_UPDATE,
        parameters="alpha = 10 epsilon^2, eta = 2K/epsilon",
        rate=5.0,
        assumption="no ties; average iterate",
        reading="The orders in epsilon are the theorem's; its factor, 4e-7 for 10, would ask for 2e13 pulls at epsilon = 0.2.",
        rule=lambda epsilon, instance, horizon: LogBarrierSGB(
            learning_rate=WORST_CASE_STEP * epsilon**2, eta=2.0 * instance.n_arms / epsilon
        ),
    ),
    System(
        name="adaptive-lb-sgb",
        family=Family.BARRIER,
        reference="this package",
        place="Conclusion",
        update="LB-SGB with eta_t = c A_t/sqrt(1 + E_t/K), A_t the sum of alpha, E_t that of alpha abs(R) (1 - p(a))",
        parameters="alpha = 0.1, c = 3.5",
        reading="Our answer to the adaptive barrier that the paper asks for; epsilon is not needed.",
        rule=lambda epsilon, instance, horizon: AdaptiveLogBarrierSGB(learning_rate=STEP),
    ),
    System(
        name="clipped-lb-sgb",
        family=Family.BARRIER,
        reference="Zhang et al. 2021",
        place="Tables 1 and 2",
        update="phases of 2^l steps: LB-SGB with 1/eta = lambda_l/K, then p <- 1/(2K) + p/2",
        parameters="lambda_l = 0.5 2^(-l/6), step 1/(sqrt(k+3) log2(k+3))",
        rate=6.0,
        assumption="nothing assumed of c*",
        reading="The step's scale is 1; with the theory's, about 1/18, even the easy instance ends above 0.25.",
        rule=lambda epsilon, instance, horizon: ClippedLogBarrierSGB(),
    ),
    System(
        name="mini-batch-lb-sgb",
        family=Family.BARRIER,
        reference="Yuan et al. 2022",
        place="Tables 1 and 2",
        update="LB-SGB with the mean of m pulls from the same p",
        parameters="alpha = 1, 1/eta = epsilon/(2K), m = 16",
        rate=6.0,
        assumption="nothing assumed of c*",
        reading="Constant step, as we read it (the paper's table says 1/t); step and batch are ours. Every pull counts.",
        rule=lambda epsilon, instance, horizon: MiniBatchLogBarrierSGB(learning_rate=1.0, weight=epsilon / 2.0, batch=16),
    ),
    System(
        name="momentum-lb-sgb",
        family=Family.BARRIER,
        reference="Ding et al. 2022",
        place="Table 2",
        update="u <- g + (1 - beta_t)(u - g'), theta += step_t u; g, g' LB-SGB's gradients at this policy and the last",
        parameters="1/eta = epsilon/(2K), step_t = 0.5/(8+t)^(1/3), beta_t = 4 step_{t-1}^2",
        rate=4.5,
        assumption="nothing assumed of c*",
        reading="The orders in t are theirs (the paper's table says 1/sqrt(t)); the factors are ours.",
        rule=lambda epsilon, instance, horizon: MomentumLogBarrierSGB(weight=epsilon / 2.0),
    ),
)
