"""Tabular actor-critic on FrozenLake 8x8: this package against what one would otherwise run, timed in one go.

Each peer runs the same algorithm, policy gradient with generalised advantages (trace .9, critic rate .1, batches of 200
steps), and is timed after a warm-up, best of three. Printed are wall and CPU nanoseconds per environment step that was learnt
from, and how many times as many as this package, on one thread, a peer takes. Then what a step costs with 10 and 10 000 states.
JAX and Gymnasium are optional: pip install 'logbarrier[bench,mdp]'.

    python benchmarks/mdps.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from logbarrier import mdps

ALPHA, TRACE, CRITIC_RATE, GAMMA, LENGTH = 0.5, 0.9, 0.1, 0.99, 200
PARALLEL = 256
WORLD, MAP = "FrozenLake-v1", "8x8"


def this_package(steps: int, threads: int = 1) -> Callable[[], Any]:
    """mdps.simulate."""
    rule, lake = mdps.PG(learning_rate=ALPHA, trace=TRACE, critic_rate=CRITIC_RATE), mdps.from_gymnasium(WORLD, map_name=MAP)
    return lambda: mdps.simulate(rule, lake, steps=steps, runs=threads, threads=threads, checkpoints=2)


def gymnasium_loop(steps: int) -> Callable[[], Any]:
    """env.step and NumPy, as one would first write it."""
    import gymnasium

    env: Any = gymnasium.make(WORLD, map_name=MAP)
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


def jax_scan(steps: int, copies: int) -> Callable[[], Any]:
    """jax.lax.scan over batches of 200 steps with restarts inside them, vmapped over `copies`, float64, compiled."""
    import jax
    import jax.numpy as jnp

    config: Any = jax.config
    wait: Any = jax.block_until_ready
    config.update("jax_enable_x64", True)
    lake = mdps.from_gymnasium(WORLD, map_name=MAP)
    ways, S, K = int(np.diff(lake.offsets).max()), lake.n_states, lake.n_actions
    successors, cumulative = np.full((S * K, ways + 1), -1), np.ones((S * K, ways + 1))
    for row in range(S * K):
        first, last = lake.offsets[row], lake.offsets[row + 1]
        successors[row, : last - first] = lake.successors[first:last]
        cumulative[row, : last - first] = np.cumsum(lake.probabilities[first:last])
    to, upto, paid, start = (
        jnp.asarray(successors),
        jnp.asarray(cumulative),
        jnp.asarray(lake.R.ravel()),
        int(lake.rho.argmax()),
    )

    def act(carry: Any, u: Any) -> Any:
        theta, state, weight = carry
        p = jax.nn.softmax(theta[state])
        action = jnp.minimum((jnp.cumsum(p) < u[0]).sum(), K - 1)
        row = state * K + action
        after = to[row, (upto[row] < u[1]).sum()]
        ended = after < 0
        following = jnp.where(ended, start, after)
        return (theta, following, jnp.where(ended, 1.0, weight * GAMMA)), (
            state,
            action,
            paid[row],
            p,
            following,
            ended,
            weight,
        )

    def batch(carry: Any, key: Any) -> Any:
        theta, value = carry
        uniforms = jax.random.uniform(key, (LENGTH, 2), dtype=jnp.float64)
        _, (states, actions, rewards, ps, following, ended, weights) = jax.lax.scan(act, (theta, start, 1.0), uniforms)
        goes_on = 1.0 - ended
        deltas = rewards + GAMMA * goes_on * value[following] - value[states]

        def backwards(ahead: Any, now: Any) -> Any:
            ahead = now[0] + GAMMA * TRACE * now[1] * ahead
            return ahead, ahead

        _, advantages = jax.lax.scan(backwards, 0.0, (deltas, goes_on), reverse=True)
        moves = (ALPHA * weights * advantages)[:, None] * (jax.nn.one_hot(actions, K) - ps)
        visits = jnp.zeros(S).at[states].add(1.0)  # many visits of a state in a batch: the mean return, to stay stable
        errors = jnp.zeros(S).at[states].add(advantages) / jnp.maximum(visits, 1.0)
        return (theta.at[states].add(moves), value + (1.0 - (1.0 - CRITIC_RATE) ** visits) * errors), None

    def one(key: Any) -> Any:
        keys = jax.random.split(key, steps // LENGTH)
        return jax.lax.scan(batch, (jnp.zeros((S, K)), jnp.zeros(S)), keys)[0]

    if copies == 1:
        single = jax.jit(one)
        return lambda: wait(single(jax.random.key(0)))
    many = jax.jit(jax.vmap(one))
    return lambda: wait(many(jax.random.split(jax.random.key(0), copies)))


def random_world(n_states: int, n_actions: int = 2, ways: int = 3) -> mdps.FiniteMDP:
    """Every action leads to three random states: all of them are visited."""
    rng = np.random.default_rng(0)
    pairs = n_states * n_actions
    entries = np.column_stack([
        np.repeat(np.arange(pairs) // n_actions, ways), np.repeat(np.arange(pairs) % n_actions, ways),
        rng.integers(n_states, size=pairs * ways), rng.dirichlet(np.ones(ways), size=pairs).ravel(),
    ])  # fmt: skip
    reward = rng.uniform(size=(n_states, n_actions))
    return mdps.FiniteMDP.from_transitions(entries, R=reward, rho=np.full(n_states, 1 / n_states), gamma=0.95)


def step_cost(rule: mdps.Rule, world: mdps.FiniteMDP, steps: int) -> float:
    """CPU nanoseconds per step on one thread: what twice the steps take longer, so that measuring the policy does not count."""

    def seconds(count: int) -> float:
        return best(lambda: mdps.simulate(rule, world, steps=count, threads=1, checkpoints=2))[1]

    return 1e9 * (seconds(2 * steps) - seconds(steps)) / steps


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
    peers: dict[str, tuple[Callable[[], Callable[[], Any]], int]] = {
        "this package": (lambda: this_package(2_000_000), 2_000_000),
        "Gymnasium and NumPy": (lambda: gymnasium_loop(20_000), 20_000),
        "JAX, one environment": (lambda: jax_scan(20_000, 1), 20_000),
        f"JAX, {PARALLEL} environments": (lambda: jax_scan(2_000, PARALLEL), 2_000 * PARALLEL),
    }
    found: dict[str, Any] = {}
    for name, (prepare, steps) in peers.items():
        try:
            found[name] = [1e9 * seconds / steps for seconds in best(prepare())]
        except ImportError as error:
            print(f"{name:<28} left out: {error}", file=sys.stderr)
    ours = found["this package"]
    for name, (wall, cpu) in found.items():
        print(f"{name:<28}wall {wall:>9,.0f} ns a step {wall / ours[0]:>8.1f} x, CPU {cpu:>9,.0f} ns {cpu / ours[1]:>8.1f} x")
    for rule in (mdps.PG(learning_rate=0.1), mdps.SpectralPG()):
        small, large = (step_cost(rule, random_world(size), 2_000_000) for size in (10, 10_000))
        print(f"{rule.name:<28}CPU {small:,.0f} ns a step with 10 states, {large:,.0f} with 10 000: {large / small:.2f} x")
        found[f"{rule.name}, growth"] = large / small
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
