"""An MDP from counts: what a Gymnasium environment did after every state and action."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...base import validate
from ..problem import FiniteMDP
from .finite_environment import FiniteEnvironment, name_of

RARELY = 10  # visits below which a state is named in the warning


class EstimatedMDP(FiniteMDP):
    """The counted model of an environment: `visits` (S, K) says how often each action was tried in each state.

    Its states are those that were seen; `states` holds their numbers in the environment.
    """

    visits: np.ndarray

    def resampled(self, seed: int) -> FiniteMDP:
        """Return the MDP of other counts: as many visits, drawn from this model.

        Many of them give intervals: 95 % of their `optimal_performance` lie in one of the optimal performance.
        """
        rng = np.random.default_rng(validate.integer("EstimatedMDP.resampled", "seed", seed, 0))
        probabilities = self.probabilities.copy()
        for row, (begin, end) in enumerate(zip(self.offsets[:-1], self.offsets[1:], strict=True)):
            count = int(self.visits.ravel()[row])
            if count:
                chances = np.append(self.probabilities[begin:end], self.missing.ravel()[row])
                probabilities[begin:end] = rng.multinomial(count, chances / chances.sum())[:-1] / count
        rows = {"offsets": self.offsets, "successors": self.successors, "probabilities": probabilities}
        return FiniteMDP(P=rows, R=self.R, rho=self.rho, gamma=self.gamma, episode_length=self.episode_length, name=self.name)


def estimate(
    environment: Any,
    *,
    episodes: int,
    gamma: float = 0.99,
    seed: int = 0,
    episode_length: int | None = None,
    **options: Any,
) -> EstimatedMDP:
    """Return the MDP that an environment seems to be after so many episodes, for spaces that are finite.

    environment     an id, a spec or an instance of Gymnasium; options go to `gymnasium.make`
    episode_length  episodes are cut after this many steps: the environment's own limit by default, 200 if it has none

    Every state takes the action that it has tried least, so the counts of its actions differ by at most 1. An action that
    was never tried stays where it is and pays the least reward that was seen. States that were hardly seen give a warning.

    >>> from logbarrier import mdps
    >>> lake = mdps.estimate("FrozenLake-v1", episodes=2000, gamma=0.95)
    >>> lake, lake.visits.shape
    (FrozenLake-v1 estimated(11 states, 4 actions, gamma=0.95), (11, 4))
    """
    episodes = validate.integer("estimate", "episodes", episodes, 1)
    seed = validate.integer("estimate", "seed", seed, 0)
    env = FiniteEnvironment("estimate", environment, options)
    length = validate.integer("estimate", "episode_length", episode_length or env.longest or 200, 1)
    counted = _Counts(env.n_actions)
    rng = np.random.default_rng(seed)
    for episode in range(episodes):
        state = counted.started(env.reset(seed if episode == 0 else None))
        for _ in range(length):
            action = counted.least_tried(state, rng)
            successor, reward, ended, cut = env.step(action)
            state = counted.moved(state, action, reward, None if ended else successor)
            if ended or cut:
                break
    mdp = counted.mdp(gamma, f"{name_of(environment, options)} estimated", length)
    seldom = int((mdp.visits.sum(axis=1) < RARELY).sum())
    if seldom or mdp.visits.min() == 0:
        untried = int((mdp.visits == 0).sum())
        warnings.warn(
            f"estimate: {seldom} of {mdp.n_states} states were visited less than {RARELY} times and {untried} actions never "
            f"tried in {episodes} episodes; raise episodes",
            stacklevel=2,
        )
    return mdp


class _Counts:
    """What was seen, by the numbers of the environment."""

    def __init__(self, n_actions: int) -> None:
        self._n_actions, self._first = n_actions, dict[int, int]()
        self._tried = dict[int, np.ndarray]()  # state -> (K,)
        self._paid = dict[int, np.ndarray]()
        self._moves = dict[tuple[int, int, int], int]()
        self._least = np.inf

    def started(self, state: int) -> int:
        self._first[state] = self._first.get(state, 0) + 1
        return self._seen(state)

    def _seen(self, state: int) -> int:
        if state not in self._tried:
            self._tried[state], self._paid[state] = np.zeros(self._n_actions), np.zeros(self._n_actions)
        return state

    def least_tried(self, state: int, rng: np.random.Generator) -> int:
        tried = self._tried[state]
        return int(rng.choice(np.flatnonzero(tried == tried.min())))

    def moved(self, state: int, action: int, reward: float, successor: int | None) -> int:
        self._tried[state][action] += 1
        self._paid[state][action] += reward
        self._least = min(self._least, reward)
        if successor is None:
            return state
        self._moves[state, action, successor] = self._moves.get((state, action, successor), 0) + 1
        return self._seen(successor)

    def mdp(self, gamma: float, name: str, length: int) -> EstimatedMDP:
        states = np.array(sorted(self._tried))
        place = {state: i for i, state in enumerate(states.tolist())}
        visits, paid = (np.array([table[state] for state in states.tolist()]) for table in (self._tried, self._paid))
        R = np.where(visits > 0, paid / np.maximum(visits, 1), self._least)
        moves = [(place[s], a, place[t], count / visits[place[s], a]) for (s, a, t), count in self._moves.items()]
        moves += [(s, a, s, 1.0) for s, a in np.argwhere(visits == 0).tolist()]
        rho = np.array([self._first.get(state, 0) for state in states.tolist()], dtype=np.float64)
        mdp = EstimatedMDP.from_transitions(
            moves, R=R, rho=rho / rho.sum(), gamma=gamma, name=name, episode_length=length, states=states
        )
        assert isinstance(mdp, EstimatedMDP)
        mdp.visits = visits.astype(np.int64)
        return mdp
