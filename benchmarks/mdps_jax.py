"""The actor-critics of benchmarks/mdps.py in JAX, float64: by episode and by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from logbarrier import mdps

ALPHA, TRACE, CRITIC_RATE, GAMMA, LENGTH = 0.5, 0.9, 0.1, 0.99, 200
ENVIRONMENT, MAP = "FrozenLake-v1", "8x8"


def lake_tables() -> tuple[Any, Any, Any, int]:
    """For JAX: successors (S K, ways + 1), their cumulative probabilities, rewards (S K,), the first state."""
    import jax
    import jax.numpy as jnp

    config: Any = jax.config
    config.update("jax_enable_x64", True)
    lake = mdps.from_gymnasium(ENVIRONMENT, map_name=MAP)
    ways, S, K = int(np.diff(lake.offsets).max()), lake.n_states, lake.n_actions
    successors, cumulative = np.full((S * K, ways + 1), -1), np.ones((S * K, ways + 1))
    for row in range(S * K):
        first, last = lake.offsets[row], lake.offsets[row + 1]
        successors[row, : last - first] = lake.successors[first:last]
        cumulative[row, : last - first] = np.cumsum(lake.probabilities[first:last])
    return jnp.asarray(successors), jnp.asarray(cumulative), jnp.asarray(lake.R), int(lake.rho.argmax())


def jax_scan(steps: int, copies: int) -> Callable[[], Any]:
    """By episode: jax.lax.scan over batches of 200 steps with restarts inside them, vmapped over `copies`, compiled."""
    import jax
    import jax.numpy as jnp

    wait: Any = jax.block_until_ready
    to, upto, paid, start = lake_tables()
    S, K = paid.shape

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
            paid[state, action],
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


def jax_scan_of_steps(steps: int, drawn_before: bool) -> Callable[[], Any]:
    """By step: one jax.lax.scan that learns in every step.

    Its random numbers are drawn as the manual shows, a key split in every step, or all before the scan.
    """
    import jax
    import jax.numpy as jnp

    wait: Any = jax.block_until_ready
    to, upto, paid, start = lake_tables()
    S, K = paid.shape

    def learn(carry: Any, u: Any) -> Any:
        theta, value, state, key, position = carry
        if not drawn_before:
            key, now = jax.random.split(key)
            u = jax.random.uniform(now, (2,), dtype=jnp.float64)
        p = jax.nn.softmax(theta[state])
        action = jnp.minimum((jnp.cumsum(p) < u[0]).sum(), K - 1)
        row = state * K + action
        after = to[row, (upto[row] < u[1]).sum()]
        ended = after < 0
        delta = paid[state, action] + GAMMA * jnp.where(ended, 0.0, value[after]) - value[state]
        over = ended | (position == LENGTH - 1)
        theta = theta.at[state].add(ALPHA * delta * (jax.nn.one_hot(action, K) - p))
        value = value.at[state].add(CRITIC_RATE * delta)
        return (theta, value, jnp.where(over, start, after), key, jnp.where(over, 0, position + 1)), None

    def one(key: Any) -> Any:
        uniforms = jax.random.uniform(key, (steps, 2), dtype=jnp.float64) if drawn_before else None
        carry = jnp.zeros((S, K)), jnp.zeros(S), start, key, 0
        return jax.lax.scan(learn, carry, uniforms, length=steps)[0][:2]

    single = jax.jit(one)
    return lambda: wait(single(jax.random.key(0)))
