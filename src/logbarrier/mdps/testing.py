"""What every rule must satisfy, as one call for testing a user-defined rule.

>>> from logbarrier import mdps
>>> mdps.testing.check_rule(mdps.PG(learning_rate=0.5)).passed
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

import numpy as np

from ..base import validate
from ..base.conformance import Conformance, carry_out
from ..engine.compiled import from_python
from ..engine.random import stream_key
from .algorithms import Rule
from .algorithms.rule import ActorCritic
from .episode import (
    ENDED,
    EPISODES,
    FOUND,
    NOVELTY,
    OCCUPANCY,
    RARENESS,
    REWARD,
    STEPS,
    VISITS,
    Episode,
    Learned,
    new_episode,
    nothing_at_once,
    nothing_learned,
)  # fmt: skip
from .exact.point import Point
from .measure import Evaluator
from .problem import FiniteMDP
from .simulator import MDPRun, simulate

UPDATE_ERROR, DRAW_ERROR, HEALTH_ERROR = 1e-9, 1e-3, 1e-9  # the largest that are allowed
LONGEST = 8  # steps of an enumerated episode: in `looping_mdp` one in 10^13 is longer


def check_rule(rule: Rule, *, seed: int = 0, show: Callable[[str], object] | None = None, raises: bool = True) -> Conformance:
    """Check that a rule does what every rule must do; return what was checked.

    show    is given the outcome of every check as it ends, such as print
    raises  AssertionError with the sentence of every failed check; False leaves them to `Conformance.failures`
    """
    validate.instance("check_rule", "rule", rule, Rule, "a rule such as mdps.SpectralPG()")
    checks = (check_expected_update, check_draws, check_scheduling, check_health)
    return carry_out(rule, checks, show=show, raises=raises, seed=seed)


def check_expected_update(rule: Rule, *, seed: int = 0) -> None:
    """The mean update over all episodes of tiny MDPs, enumerated, is the one the rule claims."""
    rng = np.random.default_rng(seed)
    for mdp in (layered_mdp(rng, 2), layered_mdp(rng, 3), looping_mdp(rng)):
        error = update_error(rule, mdp, rng)
        assert error <= UPDATE_ERROR, f"{rule.name}: E[update] differs from the claimed one by {error:.1e} of its size"


def check_draws(rule: Rule, *, seed: int = 0) -> None:
    """Actions are drawn from the policy."""
    error = draw_error(rule, _one_mdp(seed), seed)
    assert error <= DRAW_ERROR, f"{rule.name}: actions are drawn with probabilities that differ from the policy by {error:.1e}"


def check_scheduling(rule: Rule, *, seed: int = 0) -> None:
    """Threads, chunks and splitting the runs over calls change no bit."""
    same = scheduling_error(rule, _one_mdp(seed), seed) == 0.0
    assert same, f"{rule.name}: threads, chunks or splitting the runs over calls give different bits"


def check_health(rule: Rule, *, seed: int = 0) -> None:
    """Rewards of a million leave a policy whose values are possible."""
    error = health_error(rule, _one_mdp(seed), seed)
    assert error <= HEALTH_ERROR, f"{rule.name}: rewards of a million lead to a score above 1 by {error:.1e}, or to no number"


def _one_mdp(seed: int) -> FiniteMDP:
    return layered_mdp(np.random.default_rng(seed), 2)


def layered_mdp(rng: np.random.Generator, n_actions: int) -> FiniteMDP:
    """Two states, then two others, then one: every episode ends after three steps or before."""
    P = np.zeros((5, n_actions, 5))
    for state, after in ((0, [2, 3]), (1, [2, 3]), (2, [4]), (3, [4])):
        P[state][:, after] = rng.dirichlet(np.ones(len(after) + 1), size=n_actions)[:, : len(after)]
    rho = np.array([0.4, 0.6, 0.0, 0.0, 0.0])
    return FiniteMDP(P=P, R=rng.normal(size=(5, n_actions)), rho=rho, gamma=0.9, episode_length=3)


def looping_mdp(rng: np.random.Generator) -> FiniteMDP:
    """Two states that lead to themselves and to each other with probability 1/50: a state may come several times."""
    P = np.zeros((2, 2, 2))
    P[:, 0, 0] = P[:, 1, 1] = 0.02
    return FiniteMDP(P=P, R=rng.normal(size=(2, 2)), rho=[0.5, 0.5], gamma=0.95, episode_length=LONGEST)


def update_error(rule: Rule, mdp: FiniteMDP, rng: np.random.Generator) -> float:
    """The largest difference between the mean update and the claimed one, relative to the largest entry of the latter."""
    learned = _situation(rule, mdp, rng)
    claimed = rule.expected_update(mdp, learned)
    found = mean_update(rule, mdp, learned)
    return float(np.abs(found - claimed).max() / np.abs(claimed).max())


def mean_update(rule: Rule, mdp: FiniteMDP, learned: Learned) -> np.ndarray:
    """E[change of theta (S, K)] in one episode, by going through all of them; rules that learn at once have one step."""
    length = mdp.episode_length if rule.at_once is nothing_at_once else 1
    at_once, learn, hyper = from_python(rule.at_once), from_python(rule.learn), rule.hyper(mdp)
    update = np.zeros(mdp.R.shape)
    for probability, episode, count in enumerate_episodes(mdp, rule.policy(learned.theta), length):
        states = learned.states.copy()
        for t in range(count):
            at_once(states, episode[0][t], episode[1][t], episode[2][t], episode[0][t + 1], hyper)
        learn(episode, count, states, learned.tally.copy(), copy(learned.memory), hyper)
        update += probability * (Learned(states, learned.tally, learned.memory).theta - learned.theta)
    return update


def enumerate_episodes(mdp: FiniteMDP, policy: np.ndarray, length: int) -> Iterator[tuple[float, Episode, int]]:
    """(probability, episode, number of steps) of every episode of up to `length` steps."""
    episode = new_episode(length, mdp.n_actions)
    visited, actions, rewards, policies = episode[:4]

    def go_on(state: int, t: int, probability: float) -> Iterator[tuple[float, Episode, int]]:
        visited[t] = state
        if state == ENDED or t == length:
            yield probability, episode, t
            return
        for action in range(mdp.n_actions):
            likely = probability * policy[state, action]
            ways = [*enumerate(mdp.P[state, action]), (ENDED, mdp.missing[state, action])]
            for successor, chance in ways:
                if likely * chance > 0.0:
                    visited[t], actions[t], rewards[t], policies[t] = state, action, mdp.R[state, action], policy[state]
                    yield from go_on(successor, t + 1, likely * chance)

    for state in np.flatnonzero(mdp.rho):
        yield from go_on(int(state), 0, float(mdp.rho[state]))


def _situation(rule: Rule, mdp: FiniteMDP, rng: np.random.Generator) -> Learned:
    """A thousand episodes of a random policy: its exact occupancy, other visits at random, and critics that are right."""
    learned = nothing_learned(mdp.n_states, mdp.n_actions, 0.0, rule.memory, rule.new_memory(mdp))
    states, tally = learned.states, learned.tally
    learned.theta[:] = rng.normal(size=mdp.R.shape)
    states[:, VISITS] = rng.integers(20, 500, size=mdp.n_states)
    states[:, OCCUPANCY] = Point(mdp, learned.theta).occupancy * 1000 / mdp.normaliser
    tally[EPISODES], tally[FOUND], tally[STEPS] = 1000, mdp.n_states, states[:, VISITS].sum()
    tally[RARENESS] = (states[:, VISITS] ** -2.0).sum()
    for name in (name for name in rule.memory if not name.startswith("*")):
        setattr(learned.memory, name, rng.uniform(1.0, 2.0))
    if isinstance(rule, ActorCritic) and rule.critic_rate > 0.0:
        states[:, [REWARD, NOVELTY]] = _right_values(rule, mdp, learned)
    return learned


def _right_values(rule: ActorCritic, mdp: FiniteMDP, learned: Learned) -> np.ndarray:
    """(S, 2) what the critics should say: the mean of the returns that follow a visit, of rewards and of novelty."""
    learn, sums, weights = from_python(rule.learn), np.zeros((mdp.n_states, 2)), np.zeros((mdp.n_states, 1))
    hyper = (1.0, *rule.hyper(mdp)[1:])  # with trace 1 and critics at 0 an advantage is the return
    for probability, episode, count in enumerate_episodes(mdp, rule.policy(learned.theta), mdp.episode_length):
        learn(episode, count, learned.states.copy(), learned.tally.copy(), copy(learned.memory), hyper)
        np.add.at(sums, episode[0][:count], probability * episode[5][[1, 3], :count].T)
        np.add.at(weights, episode[0][:count], probability)
    return sums / weights


def draw_error(rule: Rule, mdp: FiniteMDP, seed: int) -> float:
    """After some episodes, how far the shares of actions are from the policy when the uniform number runs in even steps."""
    current, n_draws = MDPRun(rule, Evaluator(mdp), stream_key(seed), 0), 2000
    current.advance(300)
    act, buffer, worst = from_python(rule.act), np.zeros((1, mdp.n_actions)), 0.0
    policy = rule.policy(current.learned.theta)
    for state in range(mdp.n_states):
        actions = [act(current.learned.states, state, (i + 0.5) / n_draws, buffer, 0) for i in range(n_draws)]
        shares = np.bincount(actions, minlength=mdp.n_actions) / n_draws
        worst = max(worst, float(np.abs(shares - policy[state]).max()))
    return worst


def scheduling_error(rule: Rule, mdp: FiniteMDP, seed: int) -> float:
    """The largest difference between runs together and the same ones on two threads, in small chunks, or split over calls."""
    runs: dict[str, Any] = {"seed": seed, "horizon": 700, "checkpoints": [5, 333]}
    whole = simulate(rule, mdp, runs=5, threads=1, **runs)
    parts = [simulate(rule, mdp, runs=2, **runs), simulate(rule, mdp, runs=3, first_run=2, **runs)]
    worst = 0.0
    for name in whole.metrics:
        for other in (
            simulate(rule, mdp, runs=5, threads=2, **runs)[name],
            simulate(rule, mdp, runs=5, chunk=7, **runs)[name],
            np.vstack([part[name] for part in parts]),
        ):
            worst = max(worst, 0.0 if np.array_equal(whole[name], other) else 1.0)
    return worst


def health_error(rule: Rule, mdp: FiniteMDP, seed: int) -> float:
    """How far the policy's values are from being possible after rewards of a million: J beyond the rewards, d not a number."""
    wild = FiniteMDP(P=mdp.P, R=1e6 * mdp.R, rho=mdp.rho, gamma=mdp.gamma, episode_length=mdp.episode_length)
    record = simulate(rule, wild, horizon=3000, runs=2, seed=seed, checkpoints=4)
    finite = all(np.isfinite(record[name]).all() for name in record.metrics)
    return float(max(record["score"].max() - 1.0, 0.0)) if finite else np.inf
