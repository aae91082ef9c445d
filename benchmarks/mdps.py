"""Tabular actor-critics on FrozenLake 8x8: this package against what one would otherwise run, timed in one go.

By episode: policy gradient with generalised advantages (trace .9, critic rate .1), learnt from when an episode is over or
after 200 steps. By step: the one-step actor-critic, which learns from every step before the next,

    delta = r + gamma v(s') - v(s),    v(s) += .1 delta,    theta(s) += alpha delta (e_a - pi(s)).

Each is timed after a warm-up, best of three. Printed are wall and CPU nanoseconds per environment step that was learnt from,
and how many times as many as this package, on one thread with the same update, a peer takes. JAX and Gymnasium are optional:
pip install 'logbarrier[bench,mdp]'.

    python benchmarks/mdps.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from logbarrier import mdps
from logbarrier.engine.compiled import compiled, inlined
from logbarrier.engine.elementary import exp
from logbarrier.mdps.episode import ENDED, FIRST, REWARD, nothing_to_renew
from mdps_jax import ALPHA, CRITIC_RATE, ENVIRONMENT, GAMMA, LENGTH, MAP, TRACE, jax_scan, jax_scan_of_steps

PARALLEL = 256
Peers = dict[str, tuple[Callable[[], Callable[[], Any]], int]]


@inlined
def learn_from_a_step(states, state, action, reward, successor, hyper):  # type: ignore[no-untyped-def]
    """The one-step actor-critic, and the new probabilities of the state."""
    gamma, alpha, critic_rate = hyper
    row = states[state]
    n_actions = (row.shape[0] - FIRST) // 2
    ahead = states[successor, REWARD] if successor != ENDED else 0.0
    delta = reward + gamma * ahead - row[REWARD]
    row[REWARD] += critic_rate * delta
    top, total = -np.inf, 0.0
    for a in range(n_actions):
        row[FIRST + a] += alpha * delta * ((1.0 if a == action else 0.0) - row[FIRST + n_actions + a])
        top = max(top, row[FIRST + a])
    for a in range(n_actions):
        row[FIRST + n_actions + a] = exp(row[FIRST + a] - top)
        total += row[FIRST + n_actions + a]
    for a in range(n_actions):
        row[FIRST + n_actions + a] /= total


@compiled
def nothing_more(episode, count, states, tally, memory, hyper):  # type: ignore[no-untyped-def]
    """All was learnt at once."""


@dataclass(frozen=True, kw_only=True)
class OneStep(mdps.Rule):
    """The one-step actor-critic as a rule of this package."""

    name = "one-step"
    at_once = staticmethod(learn_from_a_step)
    learn = staticmethod(nothing_more)
    renew = staticmethod(nothing_to_renew)

    def hyper(self, mdp: mdps.FiniteMDP) -> tuple[float, ...]:
        return mdp.gamma, ALPHA, CRITIC_RATE


def this_package(steps: int, rule: mdps.Rule) -> Callable[[], Any]:
    """mdps.simulate."""
    lake = mdps.from_gymnasium(ENVIRONMENT, map_name=MAP)
    return lambda: mdps.simulate(rule, lake, horizon=steps, runs=1, threads=1, checkpoints=2)


def gymnasium_loop(steps: int) -> Callable[[], Any]:
    """env.step and NumPy, as one would first write it."""
    import gymnasium

    env: Any = gymnasium.make(ENVIRONMENT, map_name=MAP)
    n_states, n_actions = int(env.observation_space.n), int(env.action_space.n)

    def episode(rng: np.random.Generator, theta: np.ndarray, value: np.ndarray, seed: int) -> int:
        state, _ = env.reset(seed=seed)
        path: list[tuple[int, int, float, np.ndarray]] = []
        ended = False
        while not ended and len(path) < LENGTH:
            p = np.exp(theta[state] - theta[state].max())
            p /= p.sum()
            action = int(rng.choice(n_actions, p=p))
            after, reward, ended, cut, _ = env.step(action)
            path.append((state, action, float(reward), p))
            state = after
            if cut:
                break
        ahead, following, weight = 0.0, 0.0 if ended else value[state], 1.0
        advantages = np.zeros(len(path))
        for t in range(len(path) - 1, -1, -1):
            here, _, reward, _ = path[t]
            ahead = reward + GAMMA * following - value[here] + GAMMA * TRACE * ahead
            advantages[t], following = ahead, value[here]
        targets = advantages + np.array([value[here] for here, *_ in path])
        for t, (here, action, _, p) in enumerate(path):
            step = ALPHA * weight * advantages[t]
            theta[here] -= step * p
            theta[here, action] += step
            value[here] += CRITIC_RATE * (targets[t] - value[here])
            weight *= GAMMA
        return len(path)

    def run() -> np.ndarray:
        rng, theta, value = np.random.default_rng(0), np.zeros((n_states, n_actions)), np.zeros(n_states)
        done = 0
        while done < steps:
            done += episode(rng, theta, value, done)
        return theta

    return run


def best(run: Callable[[], Any]) -> tuple[float, float]:
    """Wall and CPU seconds (of all threads), the least of three each, after a warm-up."""
    run()
    times = []
    for _ in range(3):
        wall, cpu = time.perf_counter(), time.process_time()
        run()
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(wall for wall, _ in times), min(cpu for _, cpu in times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    by_episode = mdps.PG(learning_rate=ALPHA, trace=TRACE, critic_rate=CRITIC_RATE)
    groups: dict[str, Peers] = {
        "by episode": {
            "this package": (lambda: this_package(2_000_000, by_episode), 2_000_000),
            "Gymnasium and NumPy": (lambda: gymnasium_loop(20_000), 20_000),
            "JAX, one environment": (lambda: jax_scan(200_000, 1), 200_000),
            f"JAX, {PARALLEL} environments": (lambda: jax_scan(2_000, PARALLEL), 2_000 * PARALLEL),
        },
        "by step": {
            "this package": (lambda: this_package(2_000_000, OneStep()), 2_000_000),
            "JAX, a key split per step": (lambda: jax_scan_of_steps(200_000, False), 200_000),
            "JAX, drawn before": (lambda: jax_scan_of_steps(200_000, True), 200_000),
        },
    }
    found = {update: compare(update, peers) for update, peers in groups.items()}
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")


def compare(update: str, peers: Peers) -> dict[str, list[float]]:
    """Wall and CPU nanoseconds per step of each peer, printed as well."""
    found: dict[str, list[float]] = {}
    for name, (prepare, steps) in peers.items():
        try:
            found[name] = [1e9 * seconds / steps for seconds in best(prepare())]
        except ImportError as error:
            print(f"{update}, {name:<28} left out: {error}", file=sys.stderr)
            continue
        (wall, cpu), ours = found[name], found["this package"]
        times = f"wall {wall:>9,.0f} ns a step {wall / ours[0]:>8.1f} x, CPU {cpu:>9,.0f} ns {cpu / ours[1]:>8.1f} x"
        print(f"{update:<12}{name:<28}{times}", flush=True)
    return found


if __name__ == "__main__":
    main()
