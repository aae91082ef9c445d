"""What a rule learns from: one episode, the table of states, and the few compiled steps that rules are made of.

An episode is a tuple of buffers filled by the loop, `count` steps long:

    visited (L + 1,)      the states; visited[count] is where it was cut, or ENDED
    actions (L,)          what was done
    rewards (L,)          what was paid
    policies (L, K)       the probabilities the action was drawn with
    signals (2, L)        room for what is to be maximised, rewards and novelty, where a rule changes or makes them
    estimates (4, L)      room for advantages and returns, of rewards (rows 0 and 1) and of novelty (2 and 3)

The table of states has one row per state, so that a visit touches one piece of memory:

    VISITS            how often it was visited in earlier episodes
    OCCUPANCY         the same with gamma^t for each visit
    REWARD, NOVELTY   the values of two critics
    from FIRST on     one preference per action, then one probability per action, which `renew` updates

 The tally counts EPISODES, states FOUND and all STEPS; RARENESS is the sum of 1/VISITS^2 over the found states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import uint64

from ..engine.codegen.fields import Fields
from ..engine.compiled import compiled, inlined
from ..engine.elementary import exp

VISITS, OCCUPANCY, REWARD, NOVELTY, FIRST = 0, 1, 2, 3, 4
EPISODES, FOUND, STEPS, RARENESS = 0, 1, 2, 3
ENDED = -1  # in place of a state
STALE = -1.0  # in place of a probability
LINE = 64  # bytes that the processor loads at once

Episode = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Learned:
    """All that a rule has learnt: the table of states (S, FIRST + 2 K), the tally, and its memory, with names."""

    states: np.ndarray
    tally: np.ndarray
    memory: Fields

    @property
    def theta(self) -> np.ndarray:
        """The preferences (S, K)."""
        return self.states[:, FIRST : (FIRST + self.states.shape[1]) // 2]

    @property
    def policy(self) -> np.ndarray:
        """The probabilities (S, K) that `softmax_action` draws from."""
        return self.states[:, (FIRST + self.states.shape[1]) // 2 :]

    @property
    def visits(self) -> np.ndarray:
        """How often each state was visited in the episodes that are over, (S,)."""
        return self.states[:, VISITS]


def aligned(n_rows: int, width: int) -> np.ndarray:
    """float64 zeros (n_rows, width) that begin with a line of the processor's cache: rows of one line lie in one."""
    buffer = np.zeros(n_rows * width + LINE // 8)
    begin = -buffer.ctypes.data % LINE // 8
    return buffer[begin : begin + n_rows * width].reshape(n_rows, width)


def nothing_learned(
    n_states: int, n_actions: int, preference: float, memory: tuple[str, ...], numbers: np.ndarray | None = None
) -> Learned:
    """Before the first step: every preference the same, every probability 1/K, everything else 0, or the memory's numbers."""
    given = np.zeros(len(memory)) if numbers is None else numbers
    learned = Learned(aligned(n_states, FIRST + 2 * n_actions), np.zeros(4), Fields(memory, given))
    learned.theta[:], learned.policy[:] = preference, 1.0 / n_actions
    return learned


def new_episode(length: int, n_actions: int) -> Episode:
    """Buffers for up to `length` steps."""
    whole, real = np.int64, np.float64
    return (
        np.zeros(length + 1, whole), np.zeros(length, whole), np.zeros(length, real),
        np.zeros((length, n_actions), real), np.zeros((2, length), real), np.zeros((4, length), real),
    )  # fmt: skip


@inlined
def softmax_action(states, state, u, policies, t):
    """Draw an action from the state's probabilities by the uniform u; policies[t] keeps them."""
    row, policy = states[state], policies[t]
    n_actions = policy.shape[0]
    left, action = u, 0
    for a in range(n_actions - 1):
        policy[a] = row[FIRST + n_actions + a]
        left -= policy[a]
        action += 0 if left < 0.0 else 1  # without a branch, which nobody could foresee
    policy[n_actions - 1] = row[FIRST + 2 * n_actions - 1]
    return action


@inlined
def renew(episode, count, states):
    """Softmax of the preferences of an episode's states, once for each."""
    n_actions = episode[3].shape[1]
    if n_actions == 2:
        renew_of(episode, count, states, 2)  # loops over a number that the compiler knows
    else:
        renew_of(episode, count, states, n_actions)


@inlined
def renew_of(episode, count, states, n_actions):
    """The same; the actions and policies of the episode, which are no longer needed, give room for the work."""
    visited, found, flat = episode[0], episode[1], episode[3].reshape(episode[3].size)
    first, n_found = FIRST + n_actions, 0
    for t in range(count):
        states[uint64(visited[t]), first] = STALE
    for t in range(count):
        row = states[uint64(visited[t])]
        if row[first] == STALE:
            row[first] = 0.0
            top = row[FIRST]
            for a in range(1, n_actions):
                top = max(top, row[FIRST + a])
            for a in range(n_actions):
                flat[uint64(n_found * n_actions + a)] = row[FIRST + a] - top
            found[uint64(n_found)] = visited[t]
            n_found += 1
    for i in range(n_found * n_actions):  # in vector registers
        flat[i] = exp(flat[i])
    for i in range(n_found):
        row, total = states[uint64(found[i])], 0.0
        for a in range(n_actions):
            total += flat[uint64(i * n_actions + a)]
        share = 1.0 / total
        for a in range(n_actions):
            row[first + a] = flat[uint64(i * n_actions + a)] * share


@compiled
def softmax_rows(preferences, policy):
    """policy (S, K) <- softmax of every row of the preferences (S, K), to the same bits on every machine."""
    n_states, n_actions = preferences.shape
    for state in range(n_states):
        top, total = preferences[state, 0], 0.0
        for a in range(1, n_actions):
            top = max(top, preferences[state, a])
        for a in range(n_actions):
            policy[state, a] = exp(preferences[state, a] - top)
            total += policy[state, a]
        for a in range(n_actions):
            policy[state, a] /= total


@inlined
def greedy_action(states, state, u, policies, t):
    """The action of the greatest preference, the first of equals."""
    row = states[state]
    action = 0
    for a in range(1, policies.shape[1]):
        if row[FIRST + a] > row[FIRST + action]:
            action = a
    return action


@inlined
def nothing_to_renew(episode, count, states):
    """For the rules that do not draw their actions, or renew probabilities at once."""


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
        value = states[uint64(visited[t]), critic]
        ahead = signal[t] + gamma * following - value + gamma * trace * ahead
        estimates[row, t], estimates[row + 1, t] = ahead, ahead + value
        following = value


@inlined
def learn_values(critic, row, rate, episode, count, states):
    """v(s_t) <- v(s_t) + rate (return - v(s_t)), one visit after the other, so that many visits of a state stay stable."""
    visited, returns = episode[0], episode[5][row + 1]
    for t in range(count):
        row = states[uint64(visited[t])]
        row[critic] += rate * (returns[t] - row[critic])


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
    row = states[uint64(state)]
    for a in range(policy.shape[0]):
        row[FIRST + a] -= step * policy[a]
    row[uint64(FIRST + action)] += step


@inlined
def level(states, state, policy, step):
    """theta(s) <- theta(s) + step (1 - K pi(s)): along the gradient of sum_a log pi(a|s)."""
    row = states[uint64(state)]
    for a in range(policy.shape[0]):
        row[FIRST + a] += step * (1.0 - policy.shape[0] * policy[a])


@compiled
def count_visits(episode, count, states, tally, gamma):
    """Put an episode's visits into the table and the tally."""
    visited, weight, found, rareness = episode[0], 1.0, tally[FOUND], tally[RARENESS]
    for t in range(count):
        row = states[uint64(visited[t])]
        visits = row[VISITS]
        if visits == 0.0:
            found += 1.0
        else:
            rareness -= 1.0 / (visits * visits)
        visits += 1.0
        rareness += 1.0 / (visits * visits)
        row[VISITS] = visits
        row[OCCUPANCY] += weight
        weight *= gamma
    tally[FOUND], tally[RARENESS] = found, rareness
    tally[STEPS] += count
    tally[EPISODES] += 1.0
