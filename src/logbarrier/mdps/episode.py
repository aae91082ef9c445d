"""What a rule learns from: one episode, the table of states, and the few compiled steps that rules are made of.

An episode is a tuple of buffers filled by the loop, `count` steps long:

    visited (L + 1,)      the states; visited[count] is where it was cut, or ENDED
    actions (L,)          what was done
    rewards (L,)          what was paid
    policies (L, K)       the probabilities the action was drawn with
    signals (2, L)        room for what is to be maximised, rewards and novelty, where a rule changes or makes them
    estimates (4, L)      room for advantages and returns, of rewards (rows 0 and 1) and of novelty (2 and 3)

The table of states has one row per state, so that a visit touches one piece of memory: VISITS, how often it was visited in
earlier episodes; OCCUPANCY, the same with gamma^t for each visit; REWARD and NOVELTY, the values of two critics; and from
FIRST on one preference per action. The tally counts EPISODES, states FOUND and all STEPS, and RARENESS is the sum of
1/VISITS^2 over the found states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..engine.compiled import compiled, inlined
from ..engine.elementary import exp

VISITS, OCCUPANCY, REWARD, NOVELTY, FIRST = 0, 1, 2, 3, 4
EPISODES, FOUND, STEPS, RARENESS = 0, 1, 2, 3
ENDED = -1

Episode = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Learned:
    """All that a rule has learnt: the table of states (S, FIRST + K), the tally, and a memory of its own."""

    states: np.ndarray
    tally: np.ndarray
    memory: np.ndarray

    @property
    def theta(self) -> np.ndarray:
        """The preferences (S, K)."""
        return self.states[:, FIRST:]

    @property
    def visits(self) -> np.ndarray:
        """How often each state was visited in the episodes that are over, (S,)."""
        return self.states[:, VISITS]


def nothing_learned(n_states: int, n_actions: int, preference: float, memory_size: int) -> Learned:
    """Before the first step: every preference the same, everything else 0."""
    states = np.zeros((n_states, FIRST + n_actions))
    states[:, FIRST:] = preference
    return Learned(states, np.zeros(4), np.zeros(max(memory_size, 1)))


def new_episode(length: int, n_actions: int) -> Episode:
    """Buffers for up to `length` steps."""
    whole, real = np.int64, np.float64
    return (
        np.zeros(length + 1, whole), np.zeros(length, whole), np.zeros(length, real),
        np.zeros((length, n_actions), real), np.zeros((2, length), real), np.zeros((4, length), real),
    )  # fmt: skip


@inlined
def softmax_action(states, state, u, policies, t):
    """Draw an action from softmax of the state's preferences by the uniform u; policies[t] keeps the probabilities."""
    row, policy = states[state], policies[t]
    n_actions = policy.shape[0]
    top = row[FIRST]
    for a in range(1, n_actions):
        top = max(top, row[FIRST + a])
    total = 0.0
    for a in range(n_actions):
        policy[a] = exp(row[FIRST + a] - top)
        total += policy[a]
    share, left, action = 1.0 / total, u, n_actions - 1
    for a in range(n_actions):
        policy[a] *= share
    for a in range(n_actions - 1):
        left -= policy[a]
        if left < 0.0:
            action = a
            break
    return action


@inlined
def greedy_action(states, state, u, policies, t):
    """The action of the greatest preference, the first of equals."""
    row = states[state]
    action = 0
    for a in range(1, row.shape[0] - FIRST):
        if row[FIRST + a] > row[FIRST + action]:
            action = a
    return action


@inlined
def nothing_at_once(states, state, action, reward, successor, hyper):
    """For the rules that learn only when an episode is over."""


@inlined
def estimate(signal, critic, row, episode, count, states, gamma, trace):
    """Generalised advantages of a signal (L,): A_t = delta_t + gamma trace A_{t+1}, delta_t = x_t + gamma v(s') - v(s).

    v is the column `critic` of the table. They are left in estimates[row], the returns A_t + v(s_t) in the row after it. A
    cut episode goes on with v, an ended one with 0.
    """
    visited, estimates = episode[0], episode[5]
    following = states[visited[count], critic] if visited[count] != ENDED else 0.0
    ahead = 0.0
    for back in range(count):
        t = count - 1 - back
        value = states[visited[t], critic]
        ahead = signal[t] + gamma * following - value + gamma * trace * ahead
        estimates[row, t], estimates[row + 1, t] = ahead, ahead + value
        following = value


@inlined
def learn_values(critic, row, rate, episode, count, states):
    """v(s_t) <- v(s_t) + rate (return - v(s_t)), one visit after the other, so that many visits of a state stay stable."""
    visited, returns = episode[0], episode[5][row + 1]
    for t in range(count):
        states[visited[t], critic] += rate * (returns[t] - states[visited[t], critic])


@inlined
def rarity(states, state, tally, normaliser, ceiling):
    """1/d(s), d(s) = normaliser x visits weighted by gamma^t per episode so far; at most `ceiling` times the found states."""
    weighted, most = states[state, OCCUPANCY], ceiling * max(tally[FOUND], 1.0)
    return min(tally[EPISODES] / (normaliser * weighted), most) if weighted > 0.0 else most


@inlined
def follow(signal, critic, row, step, hyper, episode, count, states):
    """Policy gradient of a signal with its critic: theta += step gamma^t A_t grad log pi(a_t|s_t), then the critic learns.

    hyper begins with trace, critic_rate and gamma. Its mean is step/(1 - gamma) times the gradient of the signal's J where the
    critic is right, or has no say: trace 1 and critic_rate 0 is REINFORCE.
    """
    trace, critic_rate, gamma = hyper[0], hyper[1], hyper[2]
    visited, actions, policies, estimates = episode[0], episode[1], episode[3], episode[5]
    estimate(signal, critic, row, episode, count, states, gamma, trace)
    for t in range(count):
        climb(states, visited[t], actions[t], policies[t], step * estimates[row, t])
        step *= gamma
    learn_values(critic, row, critic_rate, episode, count, states)


@inlined
def climb(states, state, action, policy, step):
    """theta(s) <- theta(s) + step (e_a - pi(s)): along grad log pi(a|s)."""
    row = states[state]
    for a in range(policy.shape[0]):
        row[FIRST + a] -= step * policy[a]
    row[FIRST + action] += step


@inlined
def level(states, state, policy, step):
    """theta(s) <- theta(s) + step (1 - K pi(s)): along the gradient of sum_a log pi(a|s)."""
    row = states[state]
    for a in range(policy.shape[0]):
        row[FIRST + a] += step * (1.0 - policy.shape[0] * policy[a])


@compiled
def count_visits(episode, count, states, tally, gamma):
    """Put an episode's visits into the table and the tally."""
    visited, weight = episode[0], 1.0
    for t in range(count):
        row = states[visited[t]]
        if row[VISITS] == 0.0:
            tally[FOUND] += 1.0
        else:
            tally[RARENESS] -= 1.0 / (row[VISITS] * row[VISITS])
        row[VISITS] += 1.0
        tally[RARENESS] += 1.0 / (row[VISITS] * row[VISITS])
        row[OCCUPANCY] += weight
        weight *= gamma
    tally[STEPS] += count
    tally[EPISODES] += 1.0
