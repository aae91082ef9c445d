"""A finite Markov decision process with known transitions and rewards."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from ..base import validate
from . import checks
from .elimination import MOST_DENSE, Elimination, LargeChain
from .optimum import optimal_actions

MOST_SMALL = 50  # states; above, transitions are used as a sparse matrix


class FiniteMDP:
    """S states, K actions, discount gamma: from state s, action a pays R[s, a] and leads to s' with probability P[s, a, s'].

    Rows of P sum to at most 1: what is missing ends the episode. A policy is an array (S, K) whose rows are probabilities.
    With x_t the state at time t,

        d(s) = (1 - gamma) sum_t gamma^t P(x_t = s)        occupancy, normalised (sums to 1 where no episode ends)
        J    = sum_s d(s) sum_a pi(a|s) R[s, a]            performance

    and with gamma = 1, which needs episodes that end, d counts visits and J is the return of an episode.

    P               (S, K, S), or sparse with one row per (s, a): shape (S K, S), row s K + a
                    (a scipy array, or its three vectors by name: offsets, successors, probabilities)
    R               (S, K) rewards, finite
    rho             (S,) the law of the first state, sums to 1
    gamma           between 0 and 1
    episode_length  sampled episodes are cut after this many steps (100 where none is given)
    shape, states   for pictures: rows and columns of the grid, and the cell of each state (row-major)
    action_names    for pictures: 'left', 'right', 'up', 'down' are drawn as arrows

    >>> import numpy as np
    >>> from logbarrier import mdps
    >>> P = np.array([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]])       # action 0 leads to state 0, 1 to 1
    >>> mdp = mdps.FiniteMDP(P=P, R=[[0.1, 0.0], [0.0, 1.0]], rho=[1.0, 0.0], gamma=0.9)
    >>> mdp.occupancy(mdp.uniform_policy).round(3).tolist()
    [0.55, 0.45]
    >>> mdp.optimal_policy.tolist(), round(mdp.optimal_performance, 3)
    ([[0.0, 1.0], [0.0, 1.0]], 0.9)
    """

    def __init__(
        self,
        *,
        P: Any,
        R: Any,
        rho: Any,
        gamma: float,
        name: str = "FiniteMDP",
        episode_length: int | None = None,
        shape: tuple[int, int] | None = None,
        states: Any = None,
        action_names: tuple[str, ...] | None = None,
    ) -> None:
        owner = name
        self.R = checks.rewards(owner, R)
        self.n_states, self.n_actions = (int(size) for size in self.R.shape)
        rows = checks.transitions(owner, P, self.n_states, self.n_actions)
        self.offsets = rows.indptr.astype(np.int64)  # (S K + 1,) where the successors of row s K + a begin
        self.successors = rows.indices.astype(np.int64)  # (nnz,)
        self.probabilities = rows.data.astype(np.float64)  # (nnz,)
        self.rho = checks.distribution(owner, "rho", rho, self.n_states)
        self.gamma = validate.between_zero_and_one(owner, "gamma", gamma)
        self.name = name
        self.episode_length = 100 if episode_length is None else validate.integer(owner, "episode_length", episode_length, 1)
        self.shape: tuple[int, int] | None = shape
        self.action_names: tuple[str, ...] | None = action_names
        self.states = np.arange(self.n_states) if states is None else np.asarray(states, dtype=np.int64)
        for array in (self.R, self.rho, self.offsets, self.successors, self.probabilities, self.states):
            array.setflags(write=False)
        if self.gamma == 1.0:
            checks.every_episode_ends(owner, self.rows, self.missing)

    @classmethod
    def from_transitions(
        cls, transitions: Iterable[tuple[int, int, int, float]], *, R: Any, rho: Any, gamma: float, **further: Any
    ) -> FiniteMDP:
        """From a list of (state, action, next state, probability); what is not listed has probability 0, repeats add up.

        >>> from logbarrier import mdps
        >>> mdps.FiniteMDP.from_transitions([(0, 0, 1, 0.5), (0, 1, 1, 1.0)], R=[[0, 0], [1, 1]], rho=[1, 0], gamma=0.9)
        FiniteMDP(2 states, 2 actions, gamma=0.9)
        """
        n_states, n_actions = checks.rewards("FiniteMDP", R).shape
        rows = checks.listed_transitions("FiniteMDP", transitions, n_states, n_actions)
        return cls(P=rows, R=R, rho=rho, gamma=gamma, **further)

    @classmethod
    def load(cls, path: str | Path) -> FiniteMDP:
        """Read an MDP from an .npz file: P, or offsets, successors and probabilities; R, rho and gamma; see `save`."""
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {key: file[key] for key in file.files}
        except (OSError, ValueError, EOFError) as error:
            raise ValueError(f"FiniteMDP.load: {path} must be an .npz file of arrays, got {error}") from None
        rows = {key: arrays.pop(key) for key in ("offsets", "successors", "probabilities") if key in arrays}
        missing = {"R", "rho", "gamma"} - arrays.keys() | ({"P"} - arrays.keys() if len(rows) < 3 else set())
        further = arrays.keys() - {"P", "R", "rho", "gamma", "name", "episode_length"}
        if missing or further:
            raise ValueError(f"FiniteMDP.load: {path} must hold P, R, rho and gamma, got {', '.join([*arrays, *rows])}")
        single = {key: arrays.pop(key).item() for key in ("gamma", "name", "episode_length") if key in arrays}
        return cls(**{"name": Path(path).stem, "P": rows, **arrays, **single})

    def save(self, path: str | Path) -> None:
        """Write the MDP to an .npz file that `load` and study files read."""
        rows = {key: getattr(self, key) for key in ("offsets", "successors", "probabilities")}
        described: dict[str, Any] = {"gamma": self.gamma, "name": self.name, "episode_length": self.episode_length}
        np.savez_compressed(path, **rows, R=self.R, rho=self.rho, **described)

    @cached_property
    def P(self) -> np.ndarray:  # noqa: N802
        """Transition probabilities (S, K, S), dense; made on first use."""
        dense = self.rows.toarray().reshape(self.n_states, self.n_actions, self.n_states)
        dense.setflags(write=False)
        return np.asarray(dense)

    @cached_property
    def missing(self) -> np.ndarray:
        """(S, K) the probability that the episode ends after (s, a); rounding of rows that sum to 1 is not an end."""
        left = 1.0 - np.asarray(self.rows.sum(axis=1)).reshape(self.n_states, self.n_actions)
        return np.where(left > checks.ROUNDING, left, 0.0)

    @cached_property
    def rows(self) -> csr_array:
        """P as a sparse matrix (S K, S): row s K + a is P[s, a]."""
        return csr_array(
            (self.probabilities, self.successors, self.offsets), shape=(self.n_states * self.n_actions, self.n_states)
        )

    @property
    def normaliser(self) -> float:
        """1 - gamma, or 1 where gamma is 1: J is this times the discounted return."""
        return 1.0 if self.gamma == 1.0 else 1.0 - self.gamma

    @property
    def uniform_policy(self) -> np.ndarray:
        """(S, K) all 1/K."""
        return np.full((self.n_states, self.n_actions), 1.0 / self.n_actions)

    def chain(self, policy: Any) -> Elimination | LargeChain:
        """The discounted chain of a policy, factored: M = gamma P_pi."""
        pi = checks.policy("FiniteMDP.chain", policy, self.n_states, self.n_actions)
        exits = (1.0 - self.gamma) + self.gamma * (pi * self.missing).sum(axis=1)
        if self.n_states <= MOST_SMALL:
            return Elimination(self.gamma * np.einsum("sa,sat->st", pi, self.P), exits)
        moves = self.gamma * self.moves(pi)
        if self.n_states > MOST_DENSE:
            return LargeChain(moves)
        return Elimination(moves.toarray(), exits)

    def moves(self, policy: np.ndarray) -> csr_array:
        """P_pi (S, S), sparse: the probabilities of the next state under a policy (S, K)."""
        pairs = np.flatnonzero(policy)
        weights = (policy.ravel()[pairs], (pairs // self.n_actions, pairs))
        return csr_array(csr_array(weights, shape=(self.n_states, policy.size)) @ self.rows)

    def occupancy(self, policy: Any) -> np.ndarray:
        """d (S,), every entry to full relative precision up to 1500 states."""
        return self.chain(policy).visits(self.normaliser * self.rho)

    def performance(self, policy: Any) -> float:
        """J = sum_s d(s) sum_a pi(a|s) R[s, a]."""
        return float((self.occupancy(policy)[:, None] * np.asarray(policy) * self.R).sum())

    def value(self, policy: Any) -> np.ndarray:
        """V (S,): expected discounted return from each state, not normalised."""
        return self.chain(policy).values((np.asarray(policy) * self.R).sum(axis=1))

    def action_value(self, value: np.ndarray) -> np.ndarray:
        """Q (S, K) = R + gamma P V for values V (S,)."""
        return np.asarray(self.R + self.expected_next(value))

    def expected_next(self, value: np.ndarray) -> np.ndarray:
        """gamma P V (S, K) for values V (S,): what the next state is worth, seen from (s, a)."""
        return np.asarray(self.gamma * (self.rows @ value).reshape(self.n_states, self.n_actions))

    def arriving(self, weights: np.ndarray) -> np.ndarray:
        """gamma P' w (S,) for weights w (S, K) of states and actions: what arrives in each state."""
        return np.asarray(self.gamma * (self.rows.T @ weights.ravel()))

    def advantage(self, policy: Any) -> np.ndarray:
        """A (S, K) = Q - V, not normalised; sum_a pi(a|s) A[s, a] = 0."""
        value = self.value(policy)
        return np.asarray(self.action_value(value) - value[:, None])

    @cached_property
    def optimal_policy(self) -> np.ndarray:
        """(S, K) a deterministic policy no other does better than, by policy iteration."""
        policy: np.ndarray = np.eye(self.n_actions)[optimal_actions(self)]
        policy.setflags(write=False)
        return policy

    @cached_property
    def optimal_performance(self) -> float:
        """J* = J of the optimal policy."""
        return self.performance(self.optimal_policy)

    @cached_property
    def reachable(self) -> np.ndarray:
        """(S,) whether some policy ever visits the state."""
        targets = coo_array(self.rows)
        joined = csr_array(
            (np.ones(targets.nnz), (targets.row // self.n_actions, targets.col)), shape=(self.n_states, self.n_states)
        )
        seen, frontier = self.rho > 0.0, self.rho > 0.0
        while frontier.any():
            frontier = (joined.T @ frontier.astype(np.float64) > 0.0) & ~seen
            seen = seen | frontier
        return np.asarray(seen)

    @cached_property
    def terminal(self) -> np.ndarray:
        """(S,) whether nothing happens any more: no reward, and every action stays or ends the episode."""
        rows = coo_array(self.rows)
        leaves = np.zeros(self.n_states, dtype=bool)
        leaves[rows.row[rows.row // self.n_actions != rows.col] // self.n_actions] = True
        return np.asarray(~leaves & (self.R == 0.0).all(axis=1))

    def pruned(self) -> FiniteMDP:
        """Without the states that cannot be reached and the terminal ones; moves into the latter end the episode.

        J is unchanged: `states` of the result holds what the states that stay were called.
        """
        keep = self.reachable & ~self.terminal
        if keep.all():
            return self
        if not keep.any() or not self.rho[keep].any():
            raise ValueError(f"{self.name}: some state must be reachable and not terminal, got {self.n_states} that are not")
        if not np.isclose(self.rho[keep].sum(), 1.0):
            raise ValueError(f"{self.name}: episodes must not begin in a terminal state, got rho {self.rho[~keep].sum()} there")
        rows = self.rows[np.repeat(keep, self.n_actions)][:, keep]
        return FiniteMDP(
            P=rows, R=self.R[keep], rho=self.rho[keep] / self.rho[keep].sum(), gamma=self.gamma, name=self.name,
            episode_length=self.episode_length, shape=self.shape, states=self.states[keep], action_names=self.action_names,
        )  # fmt: skip

    def instance(self, key: np.ndarray, run: int) -> FiniteMDP:
        """The MDP that run number `run` faces: this one, whatever the run."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values that describe it."""
        rows = {name: getattr(self, name).tolist() for name in ("offsets", "successors", "probabilities")}
        described = {"P": rows, "R": self.R.tolist(), "rho": self.rho.tolist(), "gamma": self.gamma}
        return {"problem": "FiniteMDP", **described, "name": self.name, "episode_length": self.episode_length}

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments that make it again, as plain JSON values."""
        return {key: value for key, value in self.to_dict().items() if key != "problem"}

    def __repr__(self) -> str:
        return f"{self.name}({self.n_states} states, {self.n_actions} actions, gamma={self.gamma:g})"
