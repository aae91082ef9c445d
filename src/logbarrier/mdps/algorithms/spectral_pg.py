"""Policy gradient on the log pseudo-determinant of the Fisher matrix: a barrier on actions and on visits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base import validate
from ...base.parameters import Positive, Share
from ...engine.compiled import compiled
from ..episode import NOVELTY, REWARD, Learned, follow, level, rarity
from ..exact import Spectral, gradient
from ..problem import FiniteMDP
from . import annealing
from .rule import ActorCritic

CEILING = 100.0  # 1/d is taken to be at most this times the states found


@compiled
def learn(episode, count, states, tally, memory, hyper):
    """Policy gradient of r + (K - 1)/(eta d(s)), and theta(s_t) += (alpha/eta) gamma^t (1 - K pi(s_t))/d(s_t)."""
    visited, policies, signals = episode[0], episode[3], episode[4]
    gamma, alpha, eta, normaliser = hyper[2], hyper[3], hyper[4], hyper[5]
    for t in range(count):
        signals[1, t] = rarity(states, visited[t], tally, normaliser, CEILING)
    follow(episode[2], REWARD, 0, alpha, hyper, episode, count, states)
    follow(signals[1], NOVELTY, 2, (policies.shape[1] - 1) * alpha / eta, hyper, episode, count, states)
    step = alpha / eta
    for t in range(count):
        level(states, visited[t], policies[t], step * signals[1, t])
        step *= gamma


@dataclass(frozen=True, kw_only=True)
class SpectralPG(ActorCritic):
    """Policy gradient with a barrier on actions and on state visits: log pdet of the Fisher matrix F of the MDP.

        G = log pdet F = (K - 1) sum_s log d(s) + sum_{s,a} log pi(a|s) + S log K

    With `eta` it ascends the fixed objective J + G/eta, whose maximum is unique and loses at most S (K - 1)/eta of J. Without,
    it finds the scale of rewards by itself and anneals the barrier as evidence comes in: see `annealing`. It then knows
    nothing but gamma, states, actions and rewards. d is estimated from the visits of earlier episodes.

    learning_rate: alpha; without eta it is in units of theta, and the default serves every MDP we tried.

    >>> from logbarrier import mdps
    >>> record = mdps.simulate(mdps.SpectralPG(), mdps.RiverSwim(6), horizon=20_000, runs=2, seed=0)
    >>> record.mean("score")[-1] > 0.9
    np.True_
    """

    name = "spectral-pg"
    memory = annealing.MEMORY

    learning_rate: Positive = 0.1
    trace: Share = 0.8
    eta: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.eta is not None:
            validate.positive("SpectralPG", "eta", self.eta)

    @property
    def learn(self) -> Any:
        return annealing.learn if self.eta is None else learn

    def hyper(self, mdp: FiniteMDP) -> tuple[float, ...]:
        shared = super().hyper(mdp)
        return shared if self.eta is None else (*shared, float(self.eta), mdp.normaliser)

    def expected_update(self, mdp: FiniteMDP, learned: Learned) -> np.ndarray:
        """alpha/(1 - gamma) grad (J + G/eta); without eta, the mixture of the two gradients that `annealing` states."""
        if self.eta is None:
            return annealing.expected_update(mdp, learned, self.learning_rate)
        return np.asarray(self.learning_rate / mdp.normaliser * gradient(mdp, learned.theta, Spectral(eta=self.eta)))
