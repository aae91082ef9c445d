"""The rule that each system of systems.toml runs for an accuracy epsilon, with hyper-parameters as its authors prescribe."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..bandits.algorithms.adaptive_log_barrier_sgb import AdaptiveLogBarrierSGB
from ..bandits.algorithms.auto_log_barrier import AutoLogBarrier
from ..bandits.algorithms.baseline_npg import BaselineNPG
from ..bandits.algorithms.beta_thompson_sampling import BetaThompsonSampling
from ..bandits.algorithms.clipped_log_barrier_sgb import ClippedLogBarrierSGB
from ..bandits.algorithms.decaying_entropy_sgb import DecayingEntropySGB
from ..bandits.algorithms.decaying_sgb import DecayingSGB
from ..bandits.algorithms.discounted_thompson_sampling import DiscountedThompsonSampling
from ..bandits.algorithms.entropy_npg import EntropyNPG
from ..bandits.algorithms.entropy_sgb import EntropySGB
from ..bandits.algorithms.epsilon_greedy import EpsilonGreedy
from ..bandits.algorithms.exact_entropy_pg import ExactEntropyPG
from ..bandits.algorithms.exact_log_barrier_pg import ExactLogBarrierPG
from ..bandits.algorithms.exact_pg import ExactPG
from ..bandits.algorithms.exp3 import EXP3
from ..bandits.algorithms.inverse_gap_weighting import InverseGapWeighting
from ..bandits.algorithms.log_barrier_sgb import LogBarrierSGB
from ..bandits.algorithms.mini_batch_log_barrier_sgb import MiniBatchLogBarrierSGB
from ..bandits.algorithms.momentum_log_barrier_sgb import MomentumLogBarrierSGB
from ..bandits.algorithms.npg import NPG
from ..bandits.algorithms.rule import Rule
from ..bandits.algorithms.sgb import SGB
from ..bandits.algorithms.sliding_window_ucb import SlidingWindowUCB
from ..bandits.algorithms.staged_sgb import StagedSGB
from ..bandits.algorithms.theory_sgb import TheorySGB
from ..bandits.algorithms.thompson_sampling import ThompsonSampling
from ..bandits.algorithms.tsallis_sgb import TsallisSGB
from ..bandits.algorithms.two_phase_entropy_sgb import TwoPhaseEntropySGB
from ..bandits.algorithms.ucb1 import UCB1
from ..theory.constants import PRINTED
from ..theory.theorems import Setting, sample_complexity
from .instances import HALF_WIDTH, Instance

Prescription = Callable[[float, Instance, int], Rule]

STEP = 0.1  # of the paper's experiments, the larger of its two
WORST_CASE_STEP = 10.0  # the theorem's own factor, 4e-7 on the easy instance, asks for 2e13 pulls at epsilon = 0.2


def first_theorem(epsilon: float, instance: Instance, horizon: int) -> Rule:
    """alpha and eta of the convergence-rate theorem, with c* what it is at the start."""
    setting = Setting(instance.n_arms, instance.minimum_gap, instance.r_max)
    wanted = sample_complexity(setting, epsilon=epsilon, c_star=instance.start_c_star, constants=PRINTED)
    return LogBarrierSGB(learning_rate=wanted.learning_rate, eta=wanted.eta)


def temperature(epsilon: float, instance: Instance) -> float:
    """tau = epsilon/(2 log K): the bonus, at most tau log K, costs at most epsilon/2."""
    return epsilon / (2.0 * math.log(instance.n_arms))


def window_for(horizon: int) -> int:
    """2 sqrt(T log T), for rewards in an interval of length 1 and one change within T pulls."""
    return round(2.0 * math.sqrt(horizon * math.log(horizon)))


def half_cost(epsilon: float, instance: Instance) -> float:
    """eta = 2K/epsilon: the barrier costs at most epsilon/2."""
    return 2.0 * instance.n_arms / epsilon


PRESCRIPTIONS: dict[str, Prescription] = {
    "sgb": lambda epsilon, instance, horizon: SGB(learning_rate=STEP),
    "theory-sgb": lambda epsilon, instance, horizon: TheorySGB(minimum_gap=instance.minimum_gap, r_max=instance.r_max),
    "decaying-sgb": lambda epsilon, instance, horizon: DecayingSGB(horizon=horizon),
    "staged-sgb": lambda epsilon, instance, horizon: StagedSGB(),
    "npg": lambda epsilon, instance, horizon: NPG(learning_rate=STEP),
    "baseline-npg": lambda epsilon, instance, horizon: BaselineNPG(learning_rate=1.0, schedule="mei", r_max=instance.r_max),
    "log-barrier-sgb": lambda epsilon, instance, horizon: LogBarrierSGB(learning_rate=STEP, eta=half_cost(epsilon, instance)),
    "log-barrier-sgb-theorem-1": first_theorem,
    "log-barrier-sgb-theorem-2": lambda epsilon, instance, horizon: LogBarrierSGB(
        learning_rate=WORST_CASE_STEP * epsilon**2, eta=half_cost(epsilon, instance)
    ),
    "adaptive-log-barrier-sgb": lambda epsilon, instance, horizon: AdaptiveLogBarrierSGB(learning_rate=STEP),
    "auto-log-barrier": lambda epsilon, instance, horizon: AutoLogBarrier(),
    "clipped-log-barrier-sgb": lambda epsilon, instance, horizon: ClippedLogBarrierSGB(),
    "mini-batch-log-barrier-sgb": lambda epsilon, instance, horizon: MiniBatchLogBarrierSGB(
        learning_rate=1.0, weight=epsilon / 2.0, batch=16
    ),
    "momentum-log-barrier-sgb": lambda epsilon, instance, horizon: MomentumLogBarrierSGB(weight=epsilon / 2.0),
    "entropy-sgb": lambda epsilon, instance, horizon: EntropySGB(learning_rate=STEP, tau=temperature(epsilon, instance)),
    "decaying-entropy-sgb": lambda epsilon, instance, horizon: DecayingEntropySGB(
        horizon=horizon, tau=temperature(epsilon, instance)
    ),
    "two-phase-entropy-sgb": lambda epsilon, instance, horizon: TwoPhaseEntropySGB(tau=temperature(epsilon, instance)),
    "entropy-npg": lambda epsilon, instance, horizon: EntropyNPG(learning_rate=STEP, tau=temperature(epsilon, instance)),
    "tsallis-sgb": lambda epsilon, instance, horizon: TsallisSGB(learning_rate=STEP, weight=epsilon / 4.0),
    "exact-pg": lambda epsilon, instance, horizon: ExactPG(),
    "exact-entropy-pg": lambda epsilon, instance, horizon: ExactEntropyPG(tau=temperature(epsilon, instance)),
    "exact-log-barrier-pg": lambda epsilon, instance, horizon: ExactLogBarrierPG(weight=epsilon / 2.0),
    "ucb1": lambda epsilon, instance, horizon: UCB1(c=math.sqrt(2.0)),
    "thompson-sampling": lambda epsilon, instance, horizon: ThompsonSampling(scale=HALF_WIDTH),
    "beta-thompson-sampling": lambda epsilon, instance, horizon: BetaThompsonSampling(),
    "discounted-thompson-sampling": lambda epsilon, instance, horizon: DiscountedThompsonSampling(
        scale=HALF_WIDTH, discount=0.999
    ),
    "sliding-window-ucb": lambda epsilon, instance, horizon: SlidingWindowUCB(c=math.sqrt(2.0), window=window_for(horizon)),
    "epsilon-greedy": lambda epsilon, instance, horizon: EpsilonGreedy(),
    "inverse-gap-weighting": lambda epsilon, instance, horizon: InverseGapWeighting(),
    "exp3": lambda epsilon, instance, horizon: EXP3(learning_rate=epsilon / (4.0 * instance.n_arms), mixing=epsilon / 4.0),
}
