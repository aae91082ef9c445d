"""MDPs at which the statements are tried: drawn at random, or steered by an optimiser through free coordinates.

Everything is computed for all points at once with plain linear solves, independently of the code in `exact`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

ARRAYS = ("P", "R", "rho", "gamma", "eta", "theta", "other", "direction", "multipliers")


@dataclass(frozen=True)
class Chain:
    """A policy on each of n MDPs: pi (n, S, K), d (n, S), mu (n, S, K), and the matrix I - gamma P_pi (n, S, S)."""

    policy: np.ndarray
    occupancy: np.ndarray
    flow: np.ndarray

    @property
    def mu(self) -> np.ndarray:
        """d pi (n, S, K)."""
        return np.asarray(self.occupancy[..., None] * self.policy)

    @property
    def slope(self) -> np.ndarray:
        """grad h = 1/mu - 1/d (n, S, K)."""
        return np.asarray(1.0 / self.mu - 1.0 / self.occupancy[..., None])

    @property
    def barrier(self) -> np.ndarray:
        """h = sum_s [sum_a log mu - log d] (n,), which is G - S log K."""
        return np.asarray(np.log(self.mu).sum(axis=(1, 2)) - np.log(self.occupancy).sum(axis=1))


@dataclass(frozen=True)
class MDPInstances:
    """n MDPs of S states and K actions, with two policies on each.

    P            (n, S, K, S), R (n, S, K), rho (n, S), gamma (n,) up to .99: the MDP, some of whose episodes end
    eta          (n,), 0.01 to 1e6
    theta, other (n, S, K) within +-6
    direction    (n, S, K), any
    multipliers  (n, S), of the order of 1/eta
    """

    P: np.ndarray
    R: np.ndarray
    rho: np.ndarray
    gamma: np.ndarray
    eta: np.ndarray
    theta: np.ndarray
    other: np.ndarray
    direction: np.ndarray
    multipliers: np.ndarray

    @cached_property
    def here(self) -> Chain:
        """The policy of theta."""
        return self.chain(self.theta)

    @cached_property
    def there(self) -> Chain:
        """The policy of `other`."""
        return self.chain(self.other)

    def chain(self, theta: np.ndarray) -> Chain:
        """The softmax policy of theta (n, S, K), which may be complex."""
        weights = np.exp(theta - theta.real.max(axis=2, keepdims=True))
        policy = weights / weights.sum(axis=2, keepdims=True)
        flow = np.eye(theta.shape[1]) - self.gamma[:, None, None] * np.einsum("nsa,nsat->nst", policy, self.P)
        start = (1.0 - self.gamma)[:, None] * self.rho
        occupancy = np.linalg.solve(np.swapaxes(flow, 1, 2), start[..., None])[..., 0]
        return Chain(policy, occupancy, flow)

    def next_values(self, values: np.ndarray) -> np.ndarray:
        """gamma P V (n, S, K)."""
        return np.asarray(self.gamma[:, None, None] * np.einsum("nsat,nt->nsa", self.P, values))

    def advantage(self, chain: Chain, reward: np.ndarray) -> np.ndarray:
        """A (n, S, K) of a reward (n, S, K), not normalised."""
        value = np.linalg.solve(chain.flow, (chain.policy * reward).sum(axis=2)[..., None])[..., 0]
        return np.asarray(reward + self.next_values(value) - value[..., None])

    @cached_property
    def reward_of_maximum(self) -> np.ndarray:
        """R (n, S, K) for which theta maximises J + G/eta: lambda - gamma P lambda - (1/mu - 1/d)/eta.

        Every MDP is reached this way, each from its own maximum: so statements about maxima need no optimiser.
        """
        bare = self.multipliers[..., None] - self.next_values(self.multipliers)
        return np.asarray(bare - self.here.slope / self.eta[:, None, None])

    def describe(self, index: int) -> dict[str, Any]:
        """One point as plain JSON values: enough to evaluate the statement there again."""
        return {name: getattr(self, name)[index].tolist() for name in ARRAYS}


@dataclass(frozen=True)
class MDPPoints:
    """Random and searched points of given sizes (S, K)."""

    RANDOM_SIZES: tuple[tuple[int, int], ...]
    SEARCHED_SIZES: tuple[tuple[int, int], ...]

    def draw(self, generator: np.random.Generator, count: int, size: tuple[int, int], /) -> np.ndarray:
        """Free coordinates (count, D): from near-uniform to near-deterministic policies and transitions."""
        S, K = size
        free = generator.normal(size=(count, 5 * S * K + 2 * S + S * K * S + 2))
        free[:, : 2 * S * K] *= generator.choice([0.1, 1.0, 4.0, 12.0], size=(count, 1))
        free[:, 4 * S * K : 5 * S * K + S * K * S] *= generator.choice([0.1, 1.0, 5.0], size=(count, 1))
        return np.asarray(free)

    def decode(self, free: np.ndarray, size: tuple[int, int], /) -> MDPInstances:
        """Free coordinates (n, D) as points; every real vector is a valid point, which suits an optimiser."""
        S, K = size
        n, pairs = len(free), S * K
        cuts = np.cumsum([pairs, pairs, pairs, pairs, pairs * (S + 1), S, S, 1])
        theta, other, direction, reward, moves, first, multipliers, gamma, eta = np.split(free, cuts, axis=1)
        strength = 10.0 ** (2.0 + 4.0 * np.tanh(eta[:, 0]))
        return MDPInstances(
            P=_softmax(10.0 * np.tanh(moves.reshape(n, S, K, S + 1) / 10.0))[..., :S],
            R=reward.reshape(n, S, K),
            rho=_softmax(5.0 * np.tanh(first / 5.0)),
            gamma=0.495 * (1.0 + np.tanh(gamma[:, 0])),
            eta=strength,
            theta=6.0 * np.tanh(theta.reshape(n, S, K) / 6.0),
            other=6.0 * np.tanh(other.reshape(n, S, K) / 6.0),
            direction=direction.reshape(n, S, K),
            multipliers=10.0 * multipliers / strength[:, None],
        )


ANY_SIZE = MDPPoints(((1, 2), (1, 6), (2, 2), (3, 2), (2, 4), (5, 3)), ((1, 3), (2, 2), (3, 2), (2, 3)))
ONE_STATE = MDPPoints(((1, 2), (1, 3), (1, 6), (1, 12)), ((1, 2), (1, 4)))


def _softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
