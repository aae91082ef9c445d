"""Bandit problems: reward distributions with known means, and families that draw a fresh instance for every run.

A distribution is one small class: its parameters, row 0 of which are the means, and two compiled functions,
    noise(u)                                    the randomness of a step from a uniform u in (0, 1), before the arm is known
    reward_of(noise, parameters, arm, stream)   the reward of an arm; `stream` gives further uniforms where one is not enough
"""

from __future__ import annotations

from .bandit import Bandit, ProblemSource
from .bounded import BernoulliBandit, BetaBandit, UniformBandit, bernoulli_reward, uniform_noise
from .clicks import ClickInstances
from .counts import CountInstances, PoissonBandit
from .family import Family
from .gap_instances import BernoulliGapInstances, GapInstances, StudentInstances, UnequalNoiseInstances
from .gaussian import GaussianBandit, gaussian_reward
from .linear import FeatureInstances, LinearBandit
from .needle import NeedleInstances
from .revenue import CostBandit, CostInstances, RevenueBandit, RevenueInstances
from .student import StudentBandit

__all__ = [
    "Bandit",
    "BernoulliBandit",
    "BernoulliGapInstances",
    "BetaBandit",
    "ClickInstances",
    "CostBandit",
    "CostInstances",
    "CountInstances",
    "Family",
    "FeatureInstances",
    "GapInstances",
    "GaussianBandit",
    "LinearBandit",
    "NeedleInstances",
    "PoissonBandit",
    "ProblemSource",
    "RevenueBandit",
    "RevenueInstances",
    "StudentBandit",
    "StudentInstances",
    "UnequalNoiseInstances",
    "UniformBandit",
    "bernoulli_reward",
    "gaussian_reward",
    "uniform_noise",
]
