"""The JAX functions against the torch ones."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from logbarrier import deep
from logbarrier.deep import jax as deep_jax

BONUSES = ["log_barrier", "symmetric_kl"]


@pytest.mark.parametrize("name", BONUSES)
@pytest.mark.parametrize("spread", [1.0, 100.0, 1000.0])
def test_values_and_gradients_are_those_of_torch(name, spread):
    rng = np.random.default_rng(0)
    logits = (spread * rng.standard_normal((4, 6))).astype(np.float32)
    mask = rng.random((4, 6)) < 0.7
    mask[0] = False
    ours = getattr(deep_jax, name)
    given = torch.tensor(logits, requires_grad=True)
    theirs = getattr(deep, name)(given, torch.tensor(mask))
    theirs.sum().backward()
    assert np.allclose(ours(jnp.array(logits), jnp.array(mask)), theirs.detach().numpy(), rtol=1e-5, atol=1e-5)
    gradient = jax.grad(lambda x: ours(x, jnp.array(mask)).sum())(jnp.array(logits))
    assert np.allclose(gradient, given.grad.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16, jnp.float32], ids=str)
def test_the_gradient_does_not_fade_at_a_gap_of_a_thousand_in_any_precision(dtype):
    gradient = jax.grad(deep_jax.log_barrier)(jnp.array([1000.0, 0.0, 0.0, 0.0], dtype))
    assert gradient.tolist() == [-0.75, 0.25, 0.25, 0.25]
