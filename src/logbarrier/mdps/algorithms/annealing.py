"""How `SpectralPG()` finds its scale and reduces exploration by itself, without knowing the scale of rewards or S.

There are two advantages, of the rewards and of the visitation reward u(s) = 1/(S d(s)). Each is divided by its running root
mean square. They are mixed with a weight beta that falls from BOLD towards 0 as evidence comes in:

    theta(s_t) += alpha/(1 + beta) [(A_t/|A| + beta B_t/|B|) (e_a - pi) + (beta/|B|) u(s_t) (1 - K pi)/(K - 1)]
    beta = BOLD/(1 + (BOLD - 1) (n/ENOUGH)^2),    n^-2 = mean over found states of n(s)^-2

A is the advantage of rewards, B that of u, S the states found so far and d(s) the share n(s)/N of all visits. The terms in
beta are the gradient of G/(S (K - 1)) with every visit weighing the same. n is a mean of the visits that the least visited
states dominate: a state that is newly found pulls it down, and exploration comes back. beta is 1 at n = ENOUGH.
"""

from __future__ import annotations

import math

import numpy as np

from ...engine.compiled import compiled
from ..episode import FOUND, NOVELTY, RARENESS, REWARD, STEPS, VISITS, Learned, climb, estimate, learn_values, level
from ..exact.point import Point
from ..problem import FiniteMDP

BOLD = 10.0  # beta before there is any evidence: next to nothing but exploration
ENOUGH = 120.0  # visits of a state, in the mean n, at which rewards and exploration weigh the same
CEILING = 100.0  # u is at most this
FORGETTING = 0.01  # of the mean squares, per episode
MEMORY = (
    "reward_squares",  # a running mean over episodes of the sum of A_t^2
    "reward_steps",  # of the number of steps, with the same weights
    "novelty_squares",  # of the sum of B_t^2
    "novelty_steps",  # as reward_steps
)


@compiled
def boldness(tally):
    """beta, from the tally of visits."""
    evidence = tally[FOUND] / tally[RARENESS] if tally[FOUND] > 0.0 else 0.0  # n^2
    return BOLD / (1.0 + (BOLD - 1.0) * evidence / (ENOUGH * ENOUGH))


@compiled
def squares_of(advantages, count):
    """The sum of squares over an episode."""
    squares = 0.0
    for t in range(count):
        squares += advantages[t] * advantages[t]
    return squares


@compiled
def typical_size(squares, steps, advantages, count):
    """The root mean square of an advantage over earlier episodes, or over this one where there is none."""
    return math.sqrt(squares / steps if squares > 0.0 else squares_of(advantages, count) / count)


@compiled
def learn(episode, count, states, tally, memory, hyper):
    """One episode of the rule above."""
    visited, signals = episode[0], episode[4]
    fair_share = tally[STEPS] / max(tally[FOUND], 1.0)
    for t in range(count):
        visits = states[visited[t], VISITS]
        signals[1, t] = min(fair_share / visits, CEILING) if visits > 0.0 else CEILING  # 1/(S d)
    follow_mixture(boldness(tally), 0.0, episode, count, states, memory, hyper)


@compiled
def follow_mixture(beta, mean, episode, count, states, memory, hyper):
    """Policy gradient of rewards and of u - mean, mixed with beta; signals[1] is u, hyper begins with that of `ActorCritic`."""
    trace, critic_rate, gamma, alpha = hyper[0], hyper[1], hyper[2], hyper[3]
    visited, actions, rewards, policies, signals, estimates = episode
    estimate(rewards, REWARD, 0, episode, count, states, gamma, trace)
    for t in range(count):
        signals[0, t] = signals[1, t] - mean
    estimate(signals[0], NOVELTY, 2, episode, count, states, gamma, trace)
    reward_size = typical_size(memory.reward_squares, memory.reward_steps, estimates[0], count)
    novelty_size = typical_size(memory.novelty_squares, memory.novelty_steps, estimates[2], count)
    step = alpha / (1.0 + beta)
    for_reward = step / reward_size if reward_size > 0.0 else 0.0
    for_novelty = step * beta / novelty_size if novelty_size > 0.0 else 0.0
    for_level = for_novelty / max(policies.shape[1] - 1.0, 1.0)  # a single action has nothing to level
    for t in range(count):
        climb(states, visited[t], actions[t], policies[t], for_reward * estimates[0, t] + for_novelty * estimates[2, t])
        level(states, visited[t], policies[t], for_level * signals[1, t])
    learn_values(REWARD, 0, critic_rate, episode, count, states)
    learn_values(NOVELTY, 2, critic_rate, episode, count, states)
    memory.reward_squares += FORGETTING * (squares_of(estimates[0], count) - memory.reward_squares)
    memory.reward_steps += FORGETTING * (count - memory.reward_steps)
    memory.novelty_squares += FORGETTING * (squares_of(estimates[2], count) - memory.novelty_squares)
    memory.novelty_steps += FORGETTING * (count - memory.novelty_steps)


def expected_update(mdp: FiniteMDP, learned: Learned, learning_rate: float) -> np.ndarray:
    """E[change of theta] of `learn`."""
    u = np.minimum(learned.tally[STEPS] / (learned.tally[FOUND] * learned.visits), CEILING)[:, None]
    return expected_mixture(mdp, learned, learning_rate, u, boldness(learned.tally))


def expected_mixture(
    mdp: FiniteMDP, learned: Learned, learning_rate: float, u: np.ndarray, beta: float, mean: float = 0.0
) -> np.ndarray:
    """E[change of theta] for u (S, 1) in an episode that the MDP ends: critics are right, earlier episodes set the sizes."""
    once = FiniteMDP(P=mdp.rows, R=mdp.R, rho=mdp.rho, gamma=1.0)  # every visit of an episode weighs the same
    point, visited = Point(mdp, learned.theta), Point(once, learned.theta).occupancy[:, None]
    memory = learned.memory
    reward_size = math.sqrt(memory.reward_squares / memory.reward_steps)
    novelty_size = math.sqrt(memory.novelty_squares / memory.novelty_steps)
    mixture = point.advantage(mdp.R) / reward_size + beta / novelty_size * point.advantage((u - mean) * np.ones_like(mdp.R))
    barrier = beta / novelty_size * u * (1.0 - mdp.n_actions * point.policy) / max(mdp.n_actions - 1, 1)
    return np.asarray(learning_rate / (1.0 + beta) * visited * (point.policy * mixture + barrier))
