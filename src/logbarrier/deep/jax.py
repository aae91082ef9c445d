"""The same two bonuses in JAX: logits (..., K) and a boolean mask of that shape in, shape (...) out; see `functions`."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def log_barrier(logits: jax.Array, mask: jax.Array | None = None) -> jax.Array:
    """-KL(uniform || pi): 0 for the uniform policy; its gradient is 1/K - pi."""
    log_pi, allowed, count = _log_policy(logits, mask)
    return jnp.where(allowed, log_pi, 0.0).sum(-1) / count + jnp.log(count)


def symmetric_kl(logits: jax.Array, mask: jax.Array | None = None) -> jax.Array:
    """Half barrier, half entropy, as a bonus: -(KL(uniform || pi) + KL(pi || uniform)) / 2, at most 0."""
    log_pi, allowed, count = _log_policy(logits, mask)
    entropy = -jnp.where(allowed, jnp.exp(log_pi) * log_pi, 0.0).sum(-1)
    return 0.5 * (log_barrier(logits, mask) + entropy - jnp.log(count))


def _log_policy(logits: jax.Array, mask: jax.Array | None) -> tuple[jax.Array, jax.Array, jax.Array]:
    wide = logits.astype(jnp.promote_types(logits.dtype, jnp.float32))
    allowed = jnp.ones(logits.shape, bool) if mask is None else mask
    log_pi = jax.nn.log_softmax(jnp.where(allowed, wide, jnp.finfo(wide.dtype).min), -1)
    return log_pi, allowed, jnp.maximum(allowed.sum(-1), 1).astype(wide.dtype)
