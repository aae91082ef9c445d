"""A file of user-defined rules and a problem, as text to be edited by the tests in this folder."""

TEXT = '''
from dataclasses import dataclass

import numpy as np

import logbarrier as lb
from logbarrier.bandits.problems import Bandit, uniform_noise
from logbarrier.engine.compiled import compiled

FACTOR = 1.0
UNUSED = 3.0
WEIGHTS = np.array([1.0, 2.0])


@compiled
def clipped(reward, bound):
    return min(max(reward, -bound), bound)


@compiled
def lift_and_drain(reward, probability, t, memory, hyper):
    """The update."""
    alpha, bound = hyper
    step = FACTOR * alpha * clipped(reward, bound) * WEIGHTS[0]
    return step, step


@dataclass(frozen=True, kw_only=True)
class Clipped(lb.TwoScalarRule):
    name = "clipped"
    place = "mine"
    lift_and_drain = staticmethod(lift_and_drain)

    learning_rate: float
    bound: float = 5.0

    def hyper(self, n_arms):
        return scaled(self.learning_rate), float(self.bound)


def scaled(rate):
    return 1.0 * float(rate)


@compiled
def plain_step(reward, probability, t, memory, hyper):
    return 0.1 * reward, 0.1 * reward


@dataclass(frozen=True, kw_only=True)
class Plain(lb.TwoScalarRule):
    name = "plain"
    place = "mine"
    lift_and_drain = staticmethod(plain_step)

    def hyper(self, n_arms):
        return ()


@compiled
def lottery_reward(noise, parameters, arm, stream):
    return 10.0 * parameters[0, arm] if noise < 0.1 else 0.0


class Lottery(Bandit):
    noise = staticmethod(uniform_noise)
    reward_of = staticmethod(lottery_reward)


class Forgetful(Bandit):
    noise = staticmethod(uniform_noise)
    reward_of = staticmethod(lottery_reward)

    def __init__(self, means, shift=0.0):
        super().__init__([mean + shift for mean in means])
'''

STUDY = """
horizon = 60
runs = 4
runs_per_cell = 2
checkpoints = 5
engine = "dense"

[[problems]]
problem = "GapInstances"
n_arms = 3

[[rules]]
rule = "mine.py:Clipped"
learning_rate = [0.1, 0.2]

[[rules]]
rule = "mine.py:Plain"

[[rules]]
rule = "sgb"
learning_rate = 0.1
"""
