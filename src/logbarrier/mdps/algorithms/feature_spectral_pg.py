"""Policy gradient with an elliptical bonus: the spectral barrier with features, from samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.parameters import Positive, Share
from ...engine.compiled import compiled
from ..checks import finite_array
from ..episode import STEPS, Learned
from ..problem import FiniteMDP
from .annealing import BOLD, CEILING, MEMORY, expected_mixture, follow_mixture
from .covariance import add_covariance, packed_roots, refresh, spread_of
from .rule import ActorCritic

STALE = 0.5  # the inverse of G + I is computed afresh once log det (G + I) may have grown by this
ENOUGH = 1000.0  # observations of a direction, in their mean, at which rewards and exploration weigh the same


@compiled
def learn(episode, count, states, tally, memory, hyper):
    """One episode of `annealing` with u(s) from the covariance of features; then G and, now and then, its inverse."""
    m, places, values = hyper[4:]
    visited, signals = episode[0], episode[4]
    share = max(tally[STEPS], 1.0) / m
    for t in range(count):
        spread = spread_of(memory.square, m, places[visited[t]], values[visited[t]])
        signals[1, t] = min(share * spread, CEILING)
        memory.growth += spread
    beta = BOLD / (1.0 + (BOLD - 1.0) * memory.evidence / (ENOUGH * ENOUGH))
    follow_mixture(beta, 1.0, episode, count, states, memory, hyper)
    for t in range(count):
        add_covariance(memory.square, m, places[visited[t]], values[visited[t]])
    if memory.growth > STALE:
        memory.evidence = refresh(memory.square, m)
        memory.growth = 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureSpectralPG(ActorCritic):
    """Policy gradient with the spectral barrier on features: `SpectralPG()` with an elliptical bonus in place of counts.

        u(s) = (N/m) tr[C(s) (G + I)^-1],   C(s) = Cov of phi(s, .) under uniform actions,   G = sum of C over the N visits

    takes the place of 1/(S d(s)) in `annealing`, and nothing is known of rewards. A direction of the features counts as
    new, not a state. What the features cannot distinguish, the rule misses. Smooth features of coordinates, such as products of
    cosines or Legendre polynomials, extrapolate: they direct exploration to the border of what was seen.

    The advantage B is that of u - 1: the gradient of log det (G/N), the covariance per visit. u has mean 1 over the visits, so
    the critic's first value, 0, is neutral for a new state. C does not depend on the policy: with the covariance of the present
    policy, states whose actions are settled would never count as seen.

    features       (S, K, m); None: row and column of the state's cell for every action, or the table where there is no grid
    learning_rate  alpha, in units of theta

    >>> from logbarrier import mdps
    >>> record = mdps.simulate(mdps.FeatureSpectralPG(), mdps.DeepSea(6), horizon=20_000, runs=2, seed=0)
    >>> record.mean("score")[-1] > 0.9
    np.True_
    """

    name = "feature-spectral-pg"
    memory = (*MEMORY, "evidence", "growth", "*square")
    learn = staticmethod(learn)

    features: Any = None
    learning_rate: Positive = 0.1
    trace: Share = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.features is None:
            return
        given = finite_array("FeatureSpectralPG", "features", self.features)
        if given.ndim != 3:
            raise ValueError(f"FeatureSpectralPG: features must have shape (S, K, m), got {given.shape}")
        given.setflags(write=False)
        object.__setattr__(self, "features", given)

    def features_of(self, mdp: FiniteMDP) -> np.ndarray:
        """phi (S, K, m) for an MDP, scaled so that the trace of C is 1 in the mean."""
        phi = _cells(mdp) if self.features is None else self.features
        if phi.shape[:2] != mdp.R.shape:
            S, K = mdp.R.shape
            raise ValueError(f"FeatureSpectralPG: features must have shape ({S}, {K}, m) for {mdp.name}, got {phi.shape}")
        size = np.sqrt(((phi - phi.mean(axis=1, keepdims=True)) ** 2).sum(axis=2).mean())
        return np.asarray(phi / size if size > 0.0 else phi)

    def hyper(self, mdp: FiniteMDP) -> tuple[Any, ...]:
        phi = self.features_of(mdp)
        return (*super().hyper(mdp), phi.shape[2], *packed_roots(phi))

    def new_memory(self, mdp: FiniteMDP) -> np.ndarray:
        """Zeros, and the inverse of G + I, which is I."""
        m, n_names = self.features_of(mdp).shape[2], len(self.memory) - 1
        return np.concatenate([np.zeros(n_names + m * m), np.eye(m).ravel()])

    def expected_update(self, mdp: FiniteMDP, learned: Learned) -> np.ndarray:
        """The mixture of the two gradients of `annealing`, with the present inverse."""
        memory, phi = learned.memory, self.features_of(mdp)
        m = phi.shape[2]
        centred = phi - phi.mean(axis=1, keepdims=True)
        spread = np.einsum("sam,mn,san->sa", centred, memory.square[m * m :].reshape(m, m), centred).mean(axis=1)
        u = np.minimum(learned.tally[STEPS] / m * spread, CEILING)[:, None]
        beta = BOLD / (1.0 + (BOLD - 1.0) * memory.evidence / ENOUGH**2)
        return expected_mixture(mdp, learned, self.learning_rate, u, beta, mean=1.0)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        plain: dict[str, Any] = {"rule": self.name}
        if self.features is not None:
            plain["features"] = self.features.tolist()
        return {**plain, **{name: float(getattr(self, name)) for name in ("learning_rate", "trace", "critic_rate")}}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FeatureSpectralPG) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.learning_rate, self.trace, self.critic_rate))


def _cells(mdp: FiniteMDP) -> np.ndarray:
    """(S, K, m): for every action but the last, row and column of the state's cell; the table where there is no grid."""
    S, K = mdp.R.shape
    if mdp.shape is None:
        z = np.eye(S)
    else:
        rows, columns = np.divmod(mdp.states, mdp.shape[1])
        z = np.concatenate([np.eye(mdp.shape[0])[rows], np.eye(mdp.shape[1])[columns]], axis=1)
    return np.asarray(np.einsum("sp,ab->sabp", z, np.eye(K)[:, : max(K - 1, 1)]).reshape(S, K, -1))
