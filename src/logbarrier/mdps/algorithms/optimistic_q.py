"""Q-learning from optimistic values: no policy gradient at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base import validate
from ...engine.compiled import compiled, inlined
from ..episode import ENDED, FIRST, Learned, greedy_action, nothing_to_renew
from ..problem import FiniteMDP
from .rule import Rule


@inlined
def learn_at_once(states, state, action, reward, successor, hyper):
    """Q(s, a) += rate [r + gamma max_b Q(s', b) - Q(s, a)]."""
    rate, gamma = hyper
    ahead = 0.0
    if successor != ENDED:
        row = states[successor]
        ahead = row[FIRST]
        for a in range(FIRST + 1, (FIRST + row.shape[0]) // 2):
            ahead = max(ahead, row[a])
    states[state, FIRST + action] += rate * (reward + gamma * ahead - states[state, FIRST + action])


@compiled
def learn(episode, count, states, tally, memory, hyper):
    """Nothing is left to learn when the episode is over."""


@dataclass(frozen=True, kw_only=True)
class OptimisticQ(Rule):
    """Q-learning (Watkins 1989) that always takes the action with the highest value and starts from values that are too high.

        Q(s, a) <- Q(s, a) + learning_rate [r + gamma max_b Q(s', b) - Q(s, a)]

    initial: the value of every action at the start. It must be above what can be reached for the rule to explore, so the
    rule is given the scale of returns. Without it (0, rewards positive) it fails like policy gradient.

    >>> from logbarrier import mdps
    >>> rule = mdps.OptimisticQ(learning_rate=0.1, initial=10.0)
    >>> record = mdps.simulate(rule, mdps.RiverSwim(4), horizon=1000, runs=2, seed=0)
    """

    name = "optimistic-q"
    learn = staticmethod(learn)
    act = staticmethod(greedy_action)
    at_once = staticmethod(learn_at_once)
    renew = staticmethod(nothing_to_renew)

    learning_rate: float
    initial: float

    def __post_init__(self) -> None:
        validate.positive_up_to("OptimisticQ", "learning_rate", self.learning_rate, 1.0)
        validate.number("OptimisticQ", "initial", self.initial)

    @property
    def first_preference(self) -> float:
        return float(self.initial)

    def hyper(self, mdp: FiniteMDP) -> tuple[float, ...]:
        return float(self.learning_rate), mdp.gamma

    def policy(self, preferences: np.ndarray) -> np.ndarray:
        """1 for the action of the greatest value, the first of equals."""
        return np.asarray(np.eye(preferences.shape[1])[preferences.argmax(axis=1)])

    def expected_update(self, mdp: FiniteMDP, learned: Learned) -> np.ndarray:
        """In an episode of one step: rho(s) pi(a|s) learning_rate [R + gamma P max Q - Q]."""
        theta = learned.theta
        aims = mdp.R + mdp.expected_next(theta.max(axis=1)) - theta
        return np.asarray(self.learning_rate * mdp.rho[:, None] * self.policy(theta) * aims)
