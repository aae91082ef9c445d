"""The systems of systems.toml, their hyper-parameters for an accuracy epsilon, and the instances on which pulls are counted.

Step sizes of the theory shrink with K^(3/2) and with the square of the smallest gap, and hold for rewards within [-R, R]. Three
arms half a unit apart, with uniform noise, are about the largest instance on which such steps get anywhere within a million
pulls. Every policy-gradient system here sees the same one. The near tie divides the smallest gap by five.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from ..bandits.algorithms import make_rule
from ..bandits.algorithms.rule import Rule
from ..bandits.problems import UniformBandit
from ..bandits.softmax import softmax
from ..bandits.starts import OptimalArmAt, Uniform
from ..base.validate import did_you_mean
from ..theory.constants import PRINTED
from ..theory.theorems import ProblemClass, sample_complexity

STEP = 0.1  # of the paper's experiments, the larger of its two
WORST_CASE_STEP = 10.0  # the theorem's own factor, 4e-7 on the easy instance, asks for 2e13 pulls at epsilon = 0.2
HALF_WIDTH = 0.5


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A problem and where the policy starts on it.

    bad_start     the optimal arm's probability at the start; None is the uniform start
    from_uniform  for a bad start, the same problem from the uniform one: what systems without preferences face
    """

    name: str
    problem: UniformBandit
    bad_start: float | None = None
    from_uniform: Instance | None = None

    @property
    def n_arms(self) -> int:
        """K."""
        return self.problem.n_arms

    @property
    def minimum_gap(self) -> float:
        """Delta, the smallest difference between two means."""
        return self.problem.minimum_gap

    @property
    def r_max(self) -> float:
        """R, which no sampled reward exceeds in size."""
        means, half_widths = self.problem.parameters
        return float((np.abs(means) + half_widths).max())

    @property
    def start(self) -> np.ndarray:
        """The policy (K,) at the start."""
        start = Uniform() if self.bad_start is None else OptimalArmAt(self.bad_start)
        return softmax(start.theta(self.problem.means))

    @property
    def start_suboptimality(self) -> float:
        """r(a*) - J at the start."""
        return float(self.problem.optimal_reward - self.start @ self.problem.means)

    @property
    def start_c_star(self) -> float:
        """1/p(a*)^2 at the start: the least that c* can be."""
        return float(self.start[self.problem.optimal_arm] ** -2)

    def faced_by(self, rule: Rule) -> Instance:
        """This one, or the same problem from the rule's own start where it has no preferences to set."""
        return self if rule.has_preferences or self.from_uniform is None else self.from_uniform


_SPREAD = UniformBandit(means=[0.5, 0.0, -0.5], half_width=HALF_WIDTH)
EASY = Instance(name="easy", problem=_SPREAD)
BAD_START = Instance(name="bad start 1e-3", problem=_SPREAD, bad_start=1e-3, from_uniform=EASY)
WORSE_START = Instance(name="bad start 1e-5", problem=_SPREAD, bad_start=1e-5, from_uniform=EASY)
NEAR_TIE = Instance(name="near tie", problem=UniformBandit(means=[0.5, 0.4, -0.5], half_width=HALF_WIDTH))
INSTANCES = (EASY, BAD_START, WORSE_START, NEAR_TIE)


def prescribed(epsilon: float, instance: Instance, horizon: int) -> dict[str, dict[str, Any]]:
    """System -> the hyper-parameters that its authors prescribe for an accuracy; a system not listed has its defaults."""
    n_arms, r_max, minimum_gap = instance.n_arms, instance.r_max, instance.minimum_gap
    eta = 2.0 * n_arms / epsilon  # the barrier costs at most epsilon/2
    tau = epsilon / (2.0 * math.log(n_arms))  # the entropy bonus, at most tau log K, costs at most epsilon/2
    window = round(2.0 * math.sqrt(horizon * math.log(horizon)))  # for one change and an interval of length 1
    problem = ProblemClass(n_arms, minimum_gap, r_max)
    first = sample_complexity(problem, epsilon=epsilon, c_star=instance.start_c_star, constants=PRINTED)
    return {
        "sgb": {"learning_rate": STEP},
        "theory-sgb": {"minimum_gap": minimum_gap, "r_max": r_max},
        "decaying-sgb": {"horizon": horizon},
        "npg": {"learning_rate": STEP},
        "baseline-npg": {"learning_rate": 1.0, "schedule": "mei", "r_max": r_max},
        "log-barrier-sgb": {"learning_rate": STEP, "eta": eta},
        "log-barrier-sgb-theorem-1": {"learning_rate": first.learning_rate, "eta": first.eta},
        "log-barrier-sgb-theorem-2": {"learning_rate": WORST_CASE_STEP * epsilon**2, "eta": eta},
        "adaptive-log-barrier-sgb": {"learning_rate": STEP},
        "mini-batch-log-barrier-sgb": {"learning_rate": 1.0, "weight": epsilon / 2.0, "batch": 16},
        "momentum-log-barrier-sgb": {"weight": epsilon / 2.0},
        "entropy-sgb": {"learning_rate": STEP, "tau": tau},
        "decaying-entropy-sgb": {"horizon": horizon, "tau": tau},
        "two-phase-entropy-sgb": {"tau": tau},
        "entropy-npg": {"learning_rate": STEP, "tau": tau},
        "tsallis-sgb": {"learning_rate": STEP, "weight": epsilon / 4.0},
        "exact-entropy-pg": {"tau": tau},
        "exact-log-barrier-pg": {"weight": epsilon / 2.0},
        "ucb1": {"c": math.sqrt(2.0)},
        "thompson-sampling": {"scale": HALF_WIDTH},
        "discounted-thompson-sampling": {"scale": HALF_WIDTH, "discount": 0.999},
        "sliding-window-ucb": {"c": math.sqrt(2.0), "window": window},
        "exp3": {"learning_rate": epsilon / (4.0 * n_arms), "mixing": epsilon / 4.0},
    }


class Family(Enum):
    """What systems are drawn together; the value is the pane's title."""

    GRADIENT = "no regulariser"
    BARRIER = "log barrier"
    ENTROPY = "other regularisers"
    EXACT = "exact gradients"
    OUTSIDER = "outside the paper"


@dataclass(frozen=True, kw_only=True)
class System:
    """A rule for every accuracy epsilon, and what is claimed for it.

    name        what `--system` selects by
    family      whom it is drawn with
    reference   whose algorithm it is
    place       where the paper has it: "Tables 1 and 2", "Algorithm 2", "outside the paper", ...
    update      its update in a line; alpha, eta, tau, K as everywhere, p the policy, R the reward of arm a
    parameters  its hyper-parameters in a line
    rate        x of the pulls O(epsilon^-x) that the paper's tables state, None if they state nothing
    assumption  under which they state it
    reading     where the cited paper left us a choice, and what we chose
    of          the rule it runs, where that has another name
    """

    name: str
    family: Family
    reference: str
    place: str
    update: str
    parameters: str
    rate: float | None = None
    assumption: str = ""
    reading: str
    of: str | None = None

    def rule(self, epsilon: float, instance: Instance, horizon: int) -> Rule:
        """The rule to run for an accuracy; where epsilon changes nothing, one simulation serves all."""
        return make_rule(self.of or self.name, prescribed(epsilon, instance, horizon).get(self.name, {}))


_TABLES = tomllib.loads((Path(__file__).parent / "systems.toml").read_text(encoding="utf-8"))
SYSTEMS: tuple[System, ...] = tuple(
    System(name=name, **{**claims, "family": Family[claims["family"]]}) for name, claims in _TABLES.items()
)


def systems_named(names: Sequence[str]) -> list[System]:
    """The systems of these names in the catalogue's order; all for no names."""
    known = [system.name for system in SYSTEMS]
    for name in names:
        if name not in known:
            raise ValueError(f"complexity: system must be one of {', '.join(known)}, got {name!r}{did_you_mean(name, known)}")
    return [system for system in SYSTEMS if not names or system.name in names]
