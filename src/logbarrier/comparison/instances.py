"""The instances on which pulls are counted: three arms, bounded rewards, starts that range from fair to hopeless.

Step sizes of the theory shrink with K^(3/2) and with the square of the smallest gap, and hold for rewards within [-R, R]. Three
arms half a unit apart, with uniform noise, are about the largest instance on which such steps get anywhere within a million
pulls; every policy-gradient system here sees the same one. The near tie divides the smallest gap by five.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..bandits.algorithms.rule import Rule
from ..bandits.problems import UniformBandit
from ..bandits.softmax import softmax
from ..bandits.starts import OptimalArmAt, Uniform

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
